"""What is not a whole answer is an error of one sentence, without the key."""

from __future__ import annotations

import base64
import socket

import pytest
from support.reply_server import HELLO, KEY, reply

from codeplan.errors import ModelError
from codeplan.llm.openai_client import OpenAIModel


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (reply(content=None), "no text"),
        (reply(content=None, finish_reason="tool_calls"), "'tool_calls'"),
        (reply(content="Hel", finish_reason="length"), "cut off"),
        (reply(content="", finish_reason="content_filter"), "withheld"),
        (reply(content="Hel", finish_reason="abort"), "no whole reply of 'tiny' (it ended with 'abort')"),
        (reply(content=None, message={"refusal": "I would rather not."}), "I would rather not"),
        (reply(choices=[]), "no text"),
        ({"error": {"message": "out of memory", "code": 500}}, "out of memory"),
        ({"choices": "many"}, "not a reply"),
    ],
)
def test_an_incomplete_reply_is_an_error(endpoint, body, said):
    assert said in endpoint.answer(body).failure()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "refused the request (400): temperature is not supported"),
        (401, "refused the key (401); set OPENAI_API_KEY"),
        (403, "forbids this key the model 'tiny'"),
        (404, "knows no model 'tiny' (404): temperature is not supported"),
        (429, "limits the rate (429)"),
        (500, "failed (500)"),
        (503, "failed (503)"),
    ],
)
def test_a_refusal_of_the_endpoint_says_what_to_do(endpoint, status, said):
    endpoint.answer({"error": {"message": "temperature is not supported"}}, status)
    assert said in endpoint.failure()


def test_an_endpoint_that_quotes_the_key_does_not_make_us_quote_it(endpoint):
    endpoint.answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)
    endpoint.failure()
    endpoint.answers.clear()
    endpoint.answer({"error": {"message": f"bad header Bearer {KEY}\x1b[31m\nnow"}}, 400)
    assert "bad header Bearer ***[31m now" in endpoint.failure()
    endpoint.answers.clear()
    endpoint.answer({"error": {"message": f"bad key {KEY[:9]}\u200b{KEY[9:]}"}}, 400)
    assert "bad key ***" in endpoint.failure()


def test_a_key_quoted_in_a_reply_does_not_reach_a_trace(endpoint):
    endpoint.answer(reply(f"You sent {KEY}.", model=f"tiny {KEY}", system_fingerprint=KEY))
    answer = endpoint.model().complete(HELLO, purpose="ask")
    assert (answer.text, answer.model, answer.fingerprint) == ("You sent ***.", "tiny ***", "***")
    endpoint.answers.clear()
    endpoint.answer(reply(finish_reason=f"Bearer {KEY}")).failure()


def test_an_endpoint_that_wants_a_key_says_so(endpoint):
    endpoint.answer({"error": "no"}, 401)
    assert "wants a key" in endpoint.failure(api_key=None)


def test_an_unreachable_endpoint_is_named_with_its_address(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = OpenAIModel("tiny", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
    with pytest.raises(ModelError, match=rf"127\.0\.0\.1:{port}/v1 cannot be reached .*refused.*check the base URL"):
        model.complete(HELLO, purpose="ask")


def test_a_ping_accepts_any_answer_except_a_refused_key(endpoint):
    endpoint.answer({"data": []}).answer({"error": "no such page"}, 404).answer({"error": "no"}, 401)
    endpoint.model().ping()
    endpoint.model().ping()
    with pytest.raises(ModelError, match="refused the key"):
        endpoint.model().ping()


@pytest.mark.parametrize("login", ["me:hunter-22", "hunter-22"])
def test_an_endpoint_that_quotes_the_login_does_not_make_us_quote_it(endpoint, login):
    sent = base64.b64encode(login.encode()).decode()
    endpoint.answer({"error": {"message": f"no {sent} here, hunter-22"}}, 400)
    with pytest.raises(ModelError, match=r"no \*\*\* here, \*\*\*"):
        OpenAIModel("tiny", base_url=endpoint.url.replace("//", f"//{login}@")).complete(HELLO, purpose="ask")


@pytest.mark.parametrize("proxy", ["http://me:hunter2@localhost:9x9", "http://me:hunter2/@localhost:1"])
def test_the_error_about_an_invalid_proxy_does_not_show_its_password(monkeypatch, proxy):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ModelError, match="a proxy in the environment") as caught:
        OpenAIModel("tiny", base_url="http://localhost:1/v1", api_key=proxy[-4:]).complete(HELLO, purpose="ask")
    assert "hunter2" not in str(caught.value)
