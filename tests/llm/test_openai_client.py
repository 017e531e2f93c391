"""OpenAIModel against a real server on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.reply_server import HELLO, KEY, Endpoint, reply

from codeplan.llm.openai_client import OpenAIModel
from codeplan.runner.models import connect
from codeplan.types import Usage


def test_an_answer_has_its_tokens_and_the_answering_model(endpoint: Endpoint) -> None:
    endpoint.answer(reply(system_fingerprint="fp_1"))
    answer = endpoint.model().complete(HELLO, purpose="plan")
    assert answer.text == "Hello."
    assert answer.usage == Usage(9, 3, 4)
    assert (answer.model, answer.fingerprint, answer.finish_reason, answer.retries) == ("tiny-2", "fp_1", "stop", 0)
    assert endpoint.asked == [{"model": "tiny", "messages": HELLO}]
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_settings_are_sent_unless_they_are_none(endpoint: Endpoint) -> None:
    endpoint.answer(reply())
    model = endpoint.model(
        temperature=0.0,
        top_p=0.9,
        model_seed=7,
        max_tokens=50,
        max_tokens_field="max_completion_tokens",
        extra_body={"top_k": 3},
        stop=["END"],
    )
    model.complete(HELLO, purpose="ask", stop=["\n"])
    model.complete(HELLO, purpose="ask", max_tokens=5)
    first, second = endpoint.asked
    assert first == {
        "model": "tiny",
        "messages": HELLO,
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 7,
        "max_completion_tokens": 50,
        "stop": ["END"],
        "top_k": 3,
    }
    assert second["max_completion_tokens"] == 5
    assert second["stop"] == ["END"]


def test_usage_that_is_missing_is_unknown_and_never_guessed(endpoint: Endpoint) -> None:
    body = reply()
    del body["usage"]
    assert endpoint.answer(body).model().complete(HELLO, purpose="ask").usage == Usage(None, None)


@pytest.mark.parametrize(
    "usage",
    [
        5,
        "many",
        [9, 3],
        {"prompt_tokens": True, "completion_tokens": -3},
        {"prompt_tokens": 10**400},
        {"prompt_tokens": 2**60},
        {"prompt_tokens": "12"},
    ],
)
def test_invalid_usage_is_unknown_and_the_answer_counts(endpoint: Endpoint, usage: Any) -> None:
    answer = endpoint.answer(reply(usage=usage)).model().complete(HELLO, purpose="ask")
    assert (answer.text, answer.usage) == ("Hello.", Usage(None, None))


@pytest.mark.parametrize("end", ["eos", "eos_token", "end_turn", "STOP", None])
def test_finish_reasons_of_whole_replies_are_normalised(endpoint: Endpoint, end: Any) -> None:
    assert endpoint.answer(reply(finish_reason=end)).model().complete(HELLO, purpose="ask").finish_reason == "stop"


def test_a_minimal_reply_is_enough(endpoint: Endpoint) -> None:
    endpoint.answer({"choices": [{"message": {"content": "Hi."}}]})
    answer = endpoint.model().complete(HELLO, purpose="ask")
    assert (answer.text, answer.model, answer.finish_reason) == ("Hi.", "tiny", "stop")


def test_text_that_json_cannot_carry_is_replaced_before_it_is_sent(endpoint: Endpoint) -> None:
    endpoint.answer(reply())
    endpoint.model().complete([{"role": "user", "content": "a\ud800b"}], purpose="ask")
    assert endpoint.asked[0]["messages"][0]["content"] == "a?b"


def test_key_and_address_come_from_the_environment(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + "\n")
    monkeypatch.setenv("OPENAI_API_BASE", endpoint.url)
    endpoint.answer(reply())
    assert connect("tiny").complete(HELLO, purpose="ask").text == "Hello."
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_a_login_in_the_address_goes_into_a_header(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    endpoint.answer(reply())
    model = OpenAIModel("tiny", base_url=endpoint.url.replace("//", "//me:hunter2@"))
    assert model.complete(HELLO, purpose="ask").text == "Hello."
    assert endpoint.keys == ["Basic bWU6aHVudGVyMg=="]
    assert "hunter2" not in caplog.text


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


def test_openai_gets_the_token_limit_under_the_name_its_reasoning_models_need() -> None:
    assert OpenAIModel("o3", api_key=KEY, max_tokens=5).settings["max_completion_tokens"] == 5
    assert OpenAIModel("o3", base_url="http://localhost/v1", max_tokens=5).settings["max_tokens"] == 5
