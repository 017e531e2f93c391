"""The OpenAI client against a real server on loopback."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from codeplan.budget import Budget
from codeplan.episode.meter import Meter
from codeplan.errors import BudgetExceeded, ModelError, UsageError
from codeplan.llm.endpoint_errors import EndpointError, parse_retry_after
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.retries import RetryPolicy
from codeplan.protocols import LLM
from codeplan.runner.models import connect
from codeplan.types.model import Message, Usage

KEY = "sk-very-secret-0123456789"
HELLO: list[Message] = [{"role": "user", "content": "Say hello."}]


class Endpoint(ThreadingHTTPServer):
    """Answers each request with the next of its answers (the last one again and again), and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, Any, dict[str, str]]] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.paths: list[str] = []
        self.wait = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, body: Any, status: int = 200, **headers: str) -> Endpoint:
        self.answers.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))
        return self

    def model(self, **settings: Any) -> OpenAIModel:
        return OpenAIModel("tiny", base_url=self.url, **{"api_key": KEY, "max_retries": 0, **settings})

    def failure(self, **settings: Any) -> str:
        with pytest.raises(ModelError) as caught:
            self.model(**settings).complete(HELLO, purpose="ask")
        said = str(caught.value)
        assert self.url in said
        assert KEY not in said
        assert "\n" not in said
        return said

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up (the time-out's test) is no news."""


class Handler(BaseHTTPRequestHandler):
    @property
    def endpoint(self) -> Endpoint:
        assert isinstance(self.server, Endpoint)
        return self.server

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.endpoint.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer()

    def _answer(self) -> None:
        self.endpoint.keys.append(self.headers["Authorization"])
        self.endpoint.paths.append(self.path)
        time.sleep(self.endpoint.wait)
        answers = self.endpoint.answers
        status, body, headers = answers.pop(0) if len(answers) > 1 else answers[0]
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def reply(content: str | None = "Hello.", finish_reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny-2",
        "choices": [choice],
        "usage": usage,
    } | more


# ------------------------------------------------------------------ whole answers


def test_an_answer_comes_with_its_tokens_and_what_answered(endpoint: Endpoint) -> None:
    endpoint.answer(reply(system_fingerprint="fp_1"))
    answer = endpoint.model().complete(HELLO, purpose="plan")
    assert answer.text == "Hello."
    assert answer.usage == Usage(9, 3, 4)
    assert (answer.model, answer.fingerprint, answer.finish_reason, answer.retries) == ("tiny-2", "fp_1", "stop", 0)
    assert endpoint.asked == [{"model": "tiny", "messages": HELLO}]
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_settings_and_limits_are_sent_and_what_is_none_is_left_out(endpoint: Endpoint) -> None:
    endpoint.answer(reply())
    model = endpoint.model(
        temperature=0.0, model_seed=7, max_tokens=50, max_tokens_field="max_completion_tokens", extra_body={"top_k": 3}
    )
    model.complete(HELLO, purpose="ask", stop=["\n"])
    model.complete(HELLO, purpose="ask", max_tokens=5)
    first, second = endpoint.asked
    assert first == {
        "model": "tiny",
        "messages": HELLO,
        "temperature": 0.0,
        "seed": 7,
        "max_completion_tokens": 50,
        "stop": ["\n"],
        "top_k": 3,
    }
    assert second["max_completion_tokens"] == 5
    assert "stop" not in second


def test_usage_that_is_missing_is_unknown_and_never_guessed(endpoint: Endpoint) -> None:
    body = reply()
    del body["usage"]
    assert endpoint.answer(body).model().complete(HELLO, purpose="ask").usage == Usage(None, None)


@pytest.mark.parametrize(
    "usage", [5, "many", [9, 3], {"prompt_tokens": True, "completion_tokens": -3}, {"prompt_tokens": 10**400}]
)
def test_usage_that_is_none_is_unknown_and_the_answer_stands(endpoint: Endpoint, usage: Any) -> None:
    answer = endpoint.answer(reply(usage=usage)).model().complete(HELLO, purpose="ask")
    assert (answer.text, answer.usage) == ("Hello.", Usage(None, None))


@pytest.mark.parametrize("end", ["eos", "eos_token", "end_turn", "STOP", None])
def test_the_end_of_a_whole_reply_has_one_word_whatever_the_endpoint_calls_it(endpoint: Endpoint, end: Any) -> None:
    assert endpoint.answer(reply(finish_reason=end)).model().complete(HELLO, purpose="ask").finish_reason == "stop"


def test_reasoning_is_no_part_of_the_answer(endpoint: Endpoint) -> None:
    endpoint.answer(reply(message={"reasoning": "hm", "reasoning_content": "hm"}))
    assert endpoint.model().complete(HELLO, purpose="ask").text == "Hello."


def test_a_bare_reply_of_a_small_server_is_enough(endpoint: Endpoint) -> None:
    endpoint.answer({"choices": [{"message": {"content": "Hi."}}]})
    answer = endpoint.model().complete(HELLO, purpose="ask")
    assert (answer.text, answer.model, answer.finish_reason) == ("Hi.", "tiny", "stop")


def test_a_rate_limit_that_passes_is_retried_and_counted(endpoint: Endpoint) -> None:
    endpoint.answer({"error": {"message": "slow down"}}, 429, Retry_After="0.01").answer(reply())
    answer = endpoint.model(max_retries=2).complete(HELLO, purpose="ask")
    assert (answer.text, answer.retries, len(endpoint.asked)) == ("Hello.", 1, 2)


def test_text_that_json_cannot_carry_is_replaced_before_it_is_sent(endpoint: Endpoint) -> None:
    endpoint.answer(reply())
    endpoint.model().complete([{"role": "user", "content": "a\ud800b"}], purpose="ask")
    assert endpoint.asked[0]["messages"][0]["content"] == "a?b"


def test_a_local_server_needs_no_key(endpoint: Endpoint) -> None:
    endpoint.answer(reply())
    assert endpoint.model(api_key=None).complete(HELLO, purpose="ask").text == "Hello."


def test_key_and_address_come_from_the_environment(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + "\n")
    monkeypatch.setenv("OPENAI_API_BASE", endpoint.url)
    endpoint.answer(reply())
    assert connect("tiny").complete(HELLO, purpose="ask").text == "Hello."
    assert endpoint.keys == [f"Bearer {KEY}"]


# ------------------------------------------------------------------ no whole answer


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (reply(content=None), "no text"),
        (reply(content=None, finish_reason="tool_calls"), "'tool_calls'"),
        (reply(content="Hel", finish_reason="length"), "cut off"),
        (reply(content="", finish_reason="content_filter"), "withheld"),
        (reply(content="Hel", finish_reason="MAX_TOKENS"), "cut off"),
        (reply(content="Hel", finish_reason="safety"), "withheld"),
        (reply(content="", finish_reason="tool_calls"), "'tool_calls'"),
        (reply(content="Hel", finish_reason="abort"), "no whole reply of 'tiny' (it ended with 'abort')"),
        (reply(content=None, message={"refusal": "I would rather not."}), "I would rather not"),
        (reply(choices=[]), "no text"),
        ({"error": {"message": "out of memory", "code": 500}}, "out of memory"),
        ({"choices": "many"}, "not a reply"),
        (b"<html>Welcome to the router</html>", "not a reply"),
        (b'{"choices": [', "not a reply"),
        (b"\xff\xfe", "not a reply"),
        (b"[" * 100_000, "not a reply"),
    ],
)
def test_a_reply_that_is_no_whole_answer_is_an_error(endpoint: Endpoint, body: Any, said: str) -> None:
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
def test_a_refusal_of_the_endpoint_says_what_to_do(endpoint: Endpoint, status: int, said: str) -> None:
    endpoint.answer({"error": {"message": "temperature is not supported"}}, status)
    assert said in endpoint.failure()


def test_an_endpoint_that_quotes_the_key_does_not_make_us_quote_it(endpoint: Endpoint) -> None:
    endpoint.answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)
    endpoint.failure()
    endpoint.answers.clear()
    endpoint.answer({"error": {"message": f"bad header Bearer {KEY}\x1b[31m\nnow"}}, 400)
    assert "bad header Bearer ***[31m now" in endpoint.failure()
    endpoint.answers.clear()
    endpoint.answer({"error": {"message": f"bad key {KEY[:9]}\u200b{KEY[9:]}"}}, 400)
    assert "bad key ***" in endpoint.failure()


def test_a_key_that_comes_back_in_a_reply_goes_into_no_trace(endpoint: Endpoint) -> None:
    endpoint.answer(reply(f"You sent {KEY}.", model=f"tiny {KEY}", system_fingerprint=KEY))
    answer = endpoint.model().complete(HELLO, purpose="ask")
    assert (answer.text, answer.model, answer.fingerprint) == ("You sent ***.", "tiny ***", "***")
    endpoint.answers.clear()
    endpoint.answer(reply(finish_reason=f"Bearer {KEY}")).failure()


def test_an_endpoint_that_wants_a_key_says_so(endpoint: Endpoint) -> None:
    endpoint.answer({"error": "no"}, 401)
    assert "wants a key" in endpoint.failure(api_key=None)


def test_a_page_of_html_is_not_quoted(endpoint: Endpoint) -> None:
    assert "html" not in endpoint.answer(b"<html><h1>Bad gateway</h1></html>", 502).failure()


def test_a_slow_endpoint_runs_into_the_time_out(endpoint: Endpoint) -> None:
    endpoint.wait = 0.5
    assert "no answer within 0.1 s" in endpoint.answer(reply()).failure(timeout=0.1)


def test_an_endpoint_that_is_not_there_says_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = OpenAIModel("tiny", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
    with pytest.raises(ModelError, match=rf"127\.0\.0\.1:{port}/v1 cannot be reached .*refused.*check the base URL"):
        model.complete(HELLO, purpose="ask")


def test_a_ping_is_content_with_any_answer_but_a_refusal_of_the_key(endpoint: Endpoint) -> None:
    endpoint.answer({"data": []}).answer({"error": "no such page"}, 404).answer({"error": "no"}, 401)
    endpoint.model().ping()
    endpoint.model().ping()
    with pytest.raises(ModelError, match="refused the key"):
        endpoint.model().ping()


# ------------------------------------------------------------------ bad settings


def test_without_key_and_address_the_error_names_both_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=r"OPENAI_API_KEY.*--base-url.*--model scripted"):
        connect("gpt-4.1-mini")


@pytest.mark.parametrize("url", ["localhost:80/v1", "ftp://host/v1", "http://", "http://host:port/v1", "http://a b/v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="base URL"):
        OpenAIModel("tiny", base_url=url)


@pytest.mark.parametrize(
    "settings",
    [
        {"api_key": "sk-ключ"},
        {"api_key": "sk a"},
        {"timeout": 0.0},
        {"max_retries": -1},
        {"max_tokens_field": "tokens"},
        {"max_tokens": 0},
        {"api": "telepathy"},
        {"api": "responses", "model_seed": 1},
        {"deadline": 0.0},
        {"timeout": float("inf")},
        {"deadline": float("nan")},
        {"requests_per_minute": 0},
        {"tokens_per_minute": -1},
        {"prices": "no/such/table.toml"},
        {"extra_body": {"top_k": [float("nan")]}},
        {"extra_body": {"since": object()}},
        {"extra_body": {"text": "\udcff"}},
        {"reasoning_effort": "\udcff"},
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        OpenAIModel("tiny", base_url="http://localhost/v1", **settings)


def test_a_setting_that_the_model_does_not_take_is_refused_with_those_that_it_takes() -> None:
    with pytest.raises(
        UsageError,
        match="no setting 'temprature'; did you mean 'temperature'. there are: api, api_key, ask_model, base_url",
    ):
        connect("tiny", temprature=0)
    with pytest.raises(
        UsageError,
        match="'scripted' has no setting 'base_url'; there are: ask_model, .*mistakes, model_seed",
    ):
        connect("scripted", base_url="http://localhost/v1")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("tiny", {"timeout": "soon"}),
        ("tiny", {"temperature": "hot"}),
        ("tiny", {"model_seed": 1.5}),
        ("tiny", {"extra_body": 3}),
        ("tiny", {"max_tokens_field": "tokens"}),
        ("scripted", {"model_seed": "x"}),
        ("scripted", {"mistakes": 3}),
    ],
)
def test_a_setting_of_the_wrong_type_is_refused(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"setting {next(iter(settings))}=.* does not fit"):
        connect(name, **settings)


def test_a_model_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no name"):
        connect(" ", base_url="http://localhost/v1")
    with pytest.raises(UsageError, match="not text in UTF-8"):
        connect("a\udcff", base_url="http://localhost/v1")


def test_the_key_and_the_credentials_in_an_address_are_never_shown() -> None:
    model = OpenAIModel("tiny", base_url="http://me:hunter2@host:1/v1", api_key=KEY, temperature=0.5)
    shown = repr(model) + repr(model.settings)
    assert "http://host:1/v1" in shown
    assert not any(secret in shown for secret in ("hunter", KEY))
    assert model.settings == {"base_url": "http://host:1/v1", "temperature": 0.5}


def test_both_kinds_of_model_are_models() -> None:
    assert isinstance(connect("tiny", base_url="http://localhost/v1", model_seed=3), LLM)
    assert isinstance(connect("scripted", model_seed=3, mistakes="none"), LLM)


# ------------------------------------------------------------------ attempts, waits and deadlines


FAIL = ({"error": {"message": "busy"}}, 503)


def test_what_may_pass_is_tried_again_and_what_will_not_is_not(endpoint: Endpoint) -> None:
    endpoint.answer(*FAIL).answer(b"<html>").answer(reply(content=None)).answer(reply())
    answer = endpoint.model(max_retries=3).complete(HELLO, purpose="ask")
    assert (answer.text, answer.retries) == ("Hello.", 3)
    for body, status in (
        ({"error": {"message": "no such thing"}}, 400),
        ({"error": {"message": "pay", "code": "insufficient_quota"}}, 429),
        (reply(content="Hel", finish_reason="length"), 200),
        (reply(message={"refusal": "No."}), 200),
    ):
        endpoint.asked.clear()
        endpoint.answers.clear()
        endpoint.answer(body, status)
        endpoint.failure(max_retries=3)
        assert len(endpoint.asked) == 1


def test_attempts_that_all_fail_are_counted_in_the_error(endpoint: Endpoint) -> None:
    assert endpoint.answer(*FAIL, Retry_After="0").failure(max_retries=2).endswith("; 3 attempts were made")
    assert len(endpoint.asked) == 3


def test_attempts_without_number_have_pauses_all_the_same() -> None:
    faults = [EndpointError("no", is_transient=True)] * 5000
    assert 4.0 <= (RetryPolicy(1.0, 1.0, 10**6).pause_before_retry(faults) or 0.0) <= 8.0


@pytest.mark.parametrize("header", ["Retry-After", "retry-after-ms"])
def test_the_endpoint_says_how_long_to_wait(endpoint: Endpoint, header: str) -> None:
    seconds = {"Retry-After": "0.7", "retry-after-ms": "700"}[header]
    endpoint.answer(*FAIL, **{header.replace("-", "_"): seconds}).answer(reply())
    began = time.monotonic()
    endpoint.model(max_retries=1).complete(HELLO, purpose="ask")
    assert 0.7 <= time.monotonic() - began < 2


def test_a_wait_beyond_the_deadline_is_not_begun(endpoint: Endpoint) -> None:
    began = time.monotonic()
    assert "failed (503)" in endpoint.answer(*FAIL, Retry_After="3600").failure(max_retries=3, deadline=5.0)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5", "retry-after-ms": "100"}, 0.1),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_waits_are_read_however_they_are_written(headers: dict[str, str], wait: float | None) -> None:
    assert parse_retry_after(headers) == wait


def test_the_time_out_is_for_the_whole_attempt_and_not_for_each_byte() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        began = time.monotonic()
        with pytest.raises(ModelError, match=r"no answer within 0\.3 s"):
            OpenAIModel("tiny", base_url=url, timeout=0.3, max_retries=0).complete(HELLO, purpose="ask")
        assert time.monotonic() - began < 1.5
        thread.join()


def drip(server: socket.socket) -> None:
    """An answer that never stops coming, a byte at a time, until the client hangs up."""
    connection, _ = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(500):
                connection.sendall(b" ")
                time.sleep(0.02)


def test_a_call_has_a_deadline_whatever_its_attempts_do(endpoint: Endpoint) -> None:
    endpoint.wait = 0.2
    began = time.monotonic()
    assert "that the call had" in endpoint.answer(reply()).failure(timeout=10.0, deadline=0.1)
    assert time.monotonic() - began < 1.5


def test_the_seconds_of_an_episode_end_a_call_and_that_is_a_spent_budget(endpoint: Endpoint) -> None:
    endpoint.wait = 1.0
    model = endpoint.answer(reply()).model()
    meter = Meter(Budget(seconds=0.2))
    with pytest.raises(BudgetExceeded, match="seconds"), meter.call("ask"):
        model.complete(HELLO, purpose="ask")
    assert 0.2 <= meter.seconds < 0.9


def test_what_failed_attempts_spent_is_counted(endpoint: Endpoint) -> None:
    endpoint.answer(reply(content=None)).answer(reply())
    assert endpoint.model(max_retries=1).complete(HELLO, purpose="ask").usage == Usage(18, 6, 8)
    endpoint.answers.clear()
    endpoint.answer(reply(content="Hel", finish_reason="length"))
    meter = Meter()
    with pytest.raises(ModelError), meter.call("ask"):
        endpoint.model().complete(HELLO, purpose="ask")
    assert meter.usage == Usage(9, 3, 4)


# ------------------------------------------------------------------ the Responses API


def response(**more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": "Hel"}, {"type": "output_text", "text": "lo. END and more"}]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": content}]
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    return {
        "id": "r",
        "object": "response",
        "model": "tiny-2",
        "status": "completed",
        "output": output,
        "usage": usage,
    } | more


def test_the_responses_api_is_asked_where_it_is_wanted(endpoint: Endpoint) -> None:
    endpoint.answer(response())
    model = endpoint.model(api="responses", temperature=0.5, reasoning_effort="low", max_tokens=50)
    answer = model.complete(HELLO, purpose="ask", stop=["END"])
    assert (answer.text, answer.model, answer.finish_reason) == ("Hello. ", "tiny-2", "stop")
    assert answer.usage == Usage(9, 3, 4, 2)
    assert endpoint.paths == ["/v1/responses"]
    assert endpoint.asked == [
        {
            "model": "tiny",
            "input": HELLO,
            "store": False,
            "temperature": 0.5,
            "reasoning": {"effort": "low"},
            "max_output_tokens": 50,
        }
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "cut off"),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "withheld"),
        (response(status="incomplete", incomplete_details=None), "'incomplete'"),
        (response(status="incomplete", incomplete_details={"reason": "max_tool_calls"}), "'max_tool_calls'"),
        (response(status="cancelled"), "no whole reply"),
        (response(status="in_progress"), "no whole reply"),
        (response(output=[]), "no text"),
        (response(status="failed", error={"code": "server_error", "message": "out of memory"}), "out of memory"),
        (response(output=[{"type": "message", "content": [{"type": "refusal", "refusal": "I won't."}]}]), "I won't"),
        (reply(), "not a reply"),
    ],
)
def test_a_response_that_is_no_whole_answer_is_an_error(endpoint: Endpoint, body: Any, said: str) -> None:
    assert said in endpoint.answer(body).failure(api="responses")


# ------------------------------------------------------------------ reasoning, stops, logins


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>hm\n</think>\n\nHello.", "Hello."),
        ("hm</think>Hello.", "Hello."),
        ("Hello. <think> is a tag.", "Hello. <think> is a tag."),
    ],
)
def test_reasoning_that_a_server_leaves_in_the_text_is_no_part_of_the_answer(
    endpoint: Endpoint, content: str, text: str
) -> None:
    assert endpoint.answer(reply(content)).model().complete(HELLO, purpose="ask").text == text


@pytest.mark.parametrize(
    "thought",
    [
        reply("<think>hm, and hm"),
        reply("<think>hm, and hm</think>\n"),
        reply("", message={"reasoning_content": "hm, and hm"}),
        reply("\n", message={"reasoning": "hm, and hm"}),
    ],
)
def test_reasoning_alone_is_no_answer(endpoint: Endpoint, thought: dict[str, Any]) -> None:
    assert "no text" in endpoint.answer(thought).failure()


def test_reasoning_tokens_are_counted_within_the_output(endpoint: Endpoint) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 25}}
    answer = endpoint.answer(reply(usage=usage)).model(reasoning_effort="high").complete(HELLO, purpose="ask")
    assert answer.usage == Usage(9, 30, 0, 25)
    assert endpoint.asked[0]["reasoning_effort"] == "high"


def test_a_servers_deafness_to_stop_does_no_harm(endpoint: Endpoint) -> None:
    model = endpoint.answer(reply("one\nEND two")).model(stop=["END"])
    assert model.complete(HELLO, purpose="ask", stop=["\n"]).text == "one"
    assert endpoint.asked[0]["stop"] == ["END", "\n"]


def test_a_login_in_the_address_goes_into_a_header(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    endpoint.answer(reply())
    model = OpenAIModel("tiny", base_url=endpoint.url.replace("//", "//me:hunter2@"))
    assert model.complete(HELLO, purpose="ask").text == "Hello."
    assert endpoint.keys == ["Basic bWU6aHVudGVyMg=="]
    assert "hunter2" not in caplog.text


# ------------------------------------------------------------------ money


PRICES = "[models.tiny-2]\ninput = 1.0\ncached = 0.5\noutput = 10.0\n"


def test_a_call_costs_what_the_table_says(endpoint: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    model = endpoint.answer(reply()).model(prices=str(tmp_path / "prices.toml"))
    usage = model.complete(HELLO, purpose="ask").usage
    assert usage.money == pytest.approx((5 * 1.0 + 4 * 0.5 + 3 * 10.0) / 1e6)


def test_the_built_in_prices_are_for_openais_own_endpoint() -> None:
    assert OpenAIModel("gpt-4.1", api_key=KEY).settings["price"] == {"input": 2.0, "output": 8.0, "cached": 0.5}
    assert "price" not in OpenAIModel("gpt-4.1", base_url="http://localhost/v1").settings
    assert "price" not in OpenAIModel("gpt-unheard-of", api_key=KEY).settings


def test_openai_is_told_the_limit_in_the_word_that_its_reasoning_models_take() -> None:
    assert OpenAIModel("o3", api_key=KEY, max_tokens=5).settings["max_completion_tokens"] == 5
    assert OpenAIModel("o3", base_url="http://localhost/v1", max_tokens=5).settings["max_tokens"] == 5


@pytest.mark.parametrize("end", ["?api-key=hunter2", "#hunter2", "/?"])
def test_an_address_with_a_query_is_refused_since_logs_would_show_it(end: str) -> None:
    with pytest.raises(UsageError, match="a query or a fragment") as caught:
        OpenAIModel("tiny", base_url=f"http://localhost:1/v1{end}")
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize("login", ["me:hunter2", "hunter2"])
def test_an_endpoint_that_quotes_the_login_does_not_make_us_quote_it(endpoint: Endpoint, login: str) -> None:
    sent = base64.b64encode(login.encode()).decode()
    endpoint.answer({"error": {"message": f"no {sent} here, hunter2"}}, 400)
    with pytest.raises(ModelError, match=r"no \*\*\* here, \*\*\*"):
        OpenAIModel("tiny", base_url=endpoint.url.replace("//", f"//{login}@")).complete(HELLO, purpose="ask")


@pytest.mark.parametrize("proxy", ["http://me:hunter2@localhost:9x9", "http://me:hunter2/@localhost:1"])
def test_a_proxy_whose_address_is_none_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ModelError, match="a proxy in the environment") as caught:
        OpenAIModel("tiny", base_url="http://localhost:1/v1", api_key=proxy[-4:]).complete(HELLO, purpose="ask")
    assert "hunter2" not in str(caught.value)
