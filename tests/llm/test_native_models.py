"""Models at Anthropic's and Google's own APIs, against a server that speaks their wire formats."""

from __future__ import annotations

from typing import Any

import pytest
from support.reply_server import KEY, Endpoint

from codeplan.errors import ModelError, UsageError
from codeplan.llm.endpoint_errors import EndpointError
from codeplan.llm.native_models import DEFAULT_MAX_TOKENS, NativeModel
from codeplan.runner.models import connect
from codeplan.types import Completion, Message, Usage

CHAT: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Go\ud800 on."},
]
ANTHROPIC: dict[str, Any] = {
    "type": "message",
    "role": "assistant",
    "model": "tiny-2",
    "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, {"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 5},
}
GOOGLE: dict[str, Any] = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Hello."}]},
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 9,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 4,
        "totalTokenCount": 14,
    },
    "modelVersion": "tiny-2",
}
BODIES = {"anthropic": ANTHROPIC, "google": GOOGLE}
PATHS = {"anthropic": "/v1/messages", "google": "/v1beta/models/tiny:generateContent"}
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}
BOTH = pytest.mark.parametrize("api", ["anthropic", "google"])


@pytest.fixture(autouse=True)
def no_keys_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def model(endpoint: Endpoint, api: str, **settings: Any) -> Any:
    url = endpoint.url.removesuffix("/v1")
    return connect(f"{api}:tiny", **{"base_url": url, "api_key": KEY, "max_retries": 0, **settings})


def complete(endpoint: Endpoint, api: str, **settings: Any) -> Completion:
    answer: Completion = model(endpoint, api, **settings).complete(CHAT, purpose="ask")
    return answer


@BOTH
def test_a_reply_has_its_text_its_reasoning_and_its_usage(endpoint: Endpoint, api: str) -> None:
    answer = complete(endpoint.answer(BODIES[api]), api)
    usage = Usage(9, 5, 4, 0 if api == "anthropic" else 2)
    assert answer == Completion("Hello.", usage, "stop", "tiny-2", reasoning="Hm.")
    assert answer.usage.cached_share == 4 / 9
    assert endpoint.paths == [PATHS[api]]


def test_anthropic_gets_a_request_of_its_messages_api(endpoint: Endpoint) -> None:
    settings = {
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["END", "\n"],
        "extra_body": {"thinking": {"type": "adaptive"}},
    }
    complete(endpoint.answer(ANTHROPIC), "anthropic", **settings)
    assert endpoint.asked == [
        {
            "model": "tiny",
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "Hello?"},
                {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "Go? on."},
            ],
            "max_tokens": DEFAULT_MAX_TOKENS,
            "temperature": 0.5,
            "top_p": 0.9,
            "stop_sequences": ["END"],
            "thinking": {"type": "adaptive"},
        }
    ]


def test_google_gets_a_request_of_its_gemini_api(endpoint: Endpoint) -> None:
    extra = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
    complete(endpoint.answer(GOOGLE), "google", temperature=0, max_tokens=70, stop=["END"], extra_body=extra)
    (asked,) = endpoint.asked
    assert [(c["role"], c["parts"]) for c in asked["contents"]] == [
        ("user", [{"text": "Hello?"}]),
        ("model", [{"text": "Yes."}]),
        ("user", [{"text": "Go? on."}]),
    ]
    assert asked["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert asked["generationConfig"] == {
        "temperature": 0,
        "maxOutputTokens": 70,
        "stopSequences": ["END"],
        "thinkingConfig": {"includeThoughts": True},
    }


@BOTH
def test_a_reply_is_cut_at_stop_sequences_whoever_knows_them(endpoint: Endpoint, api: str) -> None:
    answer = model(endpoint.answer(BODIES[api]), api).complete(CHAT[:1], purpose="act", stop=["lo"])
    assert answer.text == "Hel"
    assert "lo" not in str(endpoint.asked)
    assert "Be brief." in str(endpoint.asked)


@BOTH
def test_only_the_key_goes_along(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway: secret-of-a-gateway")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret-token-of-somebody")
    monkeypatch.setenv(KEYS[api], KEY)
    complete(endpoint.answer(BODIES[api]), api, api_key=None)
    sent = str(endpoint.headers)
    assert KEY in sent
    assert "secret-of" not in sent
    assert "secret-token" not in sent


ERRORS: dict[str, tuple[str, int, Any, str, int]] = {
    "a wrong key": (
        "anthropic",
        401,
        {"type": "error", "error": {"type": "authentication_error", "message": f"invalid x-api-key {KEY}"}},
        "refused the key (401); set ANTHROPIC_API_KEY",
        1,
    ),
    "a wrong key for Google": (
        "google",
        400,
        {"error": {"code": 400, "message": "API key not valid. Please pass one.", "status": "INVALID_ARGUMENT"}},
        "refused the key (400); set GEMINI_API_KEY",
        1,
    ),
    "an unknown model": (
        "anthropic",
        404,
        {"type": "error", "error": {"type": "not_found_error", "message": "model: tiny"}},
        "knows no model 'tiny' (404): model: tiny",
        1,
    ),
    "an unknown model of Google": (
        "google",
        404,
        {"error": {"code": 404, "message": "models/tiny is not found for API version v1beta", "status": "NOT_FOUND"}},
        "knows no model 'tiny' (404)",
        1,
    ),
    "another service": (
        "google",
        404,
        b"<html><title>Error 404</title></html>",
        "has no such path (404) with an HTML page",
        1,
    ),
    "too much load": (
        "anthropic",
        529,
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "failed (529): Overloaded; try again later; 2 attempts",
        2,
    ),
    "too much load at Google": (
        "google",
        503,
        {"error": {"code": 503, "message": "busy"}},
        "busy; try again later; 2",
        2,
    ),
    "too many requests": ("google", 429, {"error": {"code": 429, "message": "slow down"}}, "limits the rate (429)", 2),
    "no money": (
        "anthropic",
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}},
        "the quota is used up (400)",
        1,
    ),
    "no reply": ("anthropic", 200, {"ok": True}, "not a reply of its API", 2),
    "no reply of Google": ("google", 200, {"ok": True}, "not a reply of its API", 2),
    "a page": ("anthropic", 200, b"<html><title>Hi</title></html>", "an HTML page ('Hi')", 1),
    "a refusal": ("anthropic", 200, ANTHROPIC | {"stop_reason": "refusal"}, "passed on a refusal", 1),
    "a filter": ("google", 200, {"promptFeedback": {"blockReason": "SAFETY"}}, "content filter", 1),
    "a filter of the reply": ("google", 200, {"candidates": [{"finishReason": "RECITATION"}]}, "content filter", 1),
    "a cut reply": ("anthropic", 200, ANTHROPIC | {"stop_reason": "max_tokens"}, "cut off the reply", 1),
    "thoughts alone": (
        "google",
        200,
        {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}]}, "finishReason": "MAX_TOKENS"}]},
        "its reasoning took all tokens",
        1,
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_told_as_those_of_other_endpoints(endpoint: Endpoint, name: str) -> None:
    api, status, body, said, attempts = ERRORS[name]
    endpoint.answer(body, status, Retry_After="0.001")
    with pytest.raises(ModelError) as caught:
        complete(endpoint, api, max_retries=1)
    assert said in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(endpoint.asked) == attempts


FULL = [
    ("anthropic", 200, ANTHROPIC | {"stop_reason": "model_context_window_exceeded"}),
    ("anthropic", 400, {"type": "error", "error": {"message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
    (
        "google",
        400,
        {"error": {"message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}},
    ),
]


@pytest.mark.parametrize(("api", "status", "body"), FULL)
def test_a_full_context_is_known_as_such(endpoint: Endpoint, api: str, status: int, body: Any) -> None:
    with pytest.raises(EndpointError) as caught:
        complete(endpoint.answer(body, status), api)
    assert caught.value.prompt_too_long


@BOTH
def test_an_address_without_a_server_is_told(api: str) -> None:
    with pytest.raises(ModelError, match="cannot be reached .*refused"):
        connect(f"{api}:tiny", base_url="http://127.0.0.1:9", api_key="x", max_retries=0).complete(CHAT, purpose="ask")


@BOTH
def test_an_attempt_ends_at_its_limit_of_time(endpoint: Endpoint, api: str) -> None:
    endpoint.answer(BODIES[api]).wait = 1.0
    with pytest.raises(ModelError, match="gave no answer within 0.2 s"):
        complete(endpoint, api, timeout=0.2)


@BOTH
def test_a_missing_key_is_named(api: str) -> None:
    with pytest.raises(UsageError, match=f"no key for the model: set {KEYS[api]}"):
        connect(f"{api}:tiny")


@BOTH
def test_a_price_is_found_by_the_models_own_name(endpoint: Endpoint, tmp_path: Any, api: str) -> None:
    (tmp_path / "prices.toml").write_text("[models.tiny]\ninput = 1e6\noutput = 0\ncached = 0\n")
    answer = complete(endpoint.answer(BODIES[api]), api, prices=tmp_path / "prices.toml")
    assert answer.usage.money == 5.0


@pytest.mark.parametrize(
    ("setting", "value"), [("timeout", 0.0), ("max_retries", -1), ("top_p", 2.0), ("extra_body", {"x": float("nan")})]
)
def test_a_value_that_no_request_can_have_is_refused(setting: str, value: Any) -> None:
    with pytest.raises(UsageError, match=setting):
        connect("google:tiny", api_key="x", **{setting: value})


def test_a_setting_that_these_apis_do_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="has no setting 'json_schema'"):
        connect("anthropic:tiny", json_schema=True)


@BOTH
def test_a_model_at_another_address_gets_only_its_own_key(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    monkeypatch.setenv("CODEPLAN_ASK_API_KEY", "key-of-the-answerer-only")
    url = endpoint.answer(BODIES[api]).url.removesuffix("/v1")
    both = connect("gpt", base_url="http://127.0.0.1:9", api_key=KEY, ask_model=f"{api}:tiny@{url}", json_schema=True)
    assert both.complete(CHAT, purpose="ask", stop=(), max_tokens=None).text == "Hello."
    assert "key-of-the-answerer-only" in str(endpoint.headers)
    assert KEY not in str(endpoint.headers)
    assert both.settings["routes"]["ask"]["model"] == f"{api}:tiny"  # type: ignore[attr-defined]
    assert isinstance(both._routes["ask"], NativeModel)  # type: ignore[attr-defined]
