"""The user's organisation, project and custom headers go where the key in OPENAI_API_KEY goes, and nowhere else."""

from __future__ import annotations

import functools
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from support.reply_server import HELLO, KEY, Endpoint, reply, serve_replies

from codeplan.errors import ModelError, UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.runner.models import connect

GATEWAY = "gw-0123456789-abcdef-0123"
SENT = {"openai-organization": "org-1", "openai-project": "proj-1", "x-gateway-key": GATEWAY, "x-b": "two words"}
_READ = re.compile(r'environ(?:\.get\(|\[)\s*"(\w+)"')


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch, no_settings_of_this_machine: None) -> None:
    for name in ("OPENAI_ADMIN_KEY", "OPENAI_LOG", "CODEPLAN_ASK_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"\nX-Gateway-Key: {GATEWAY}\r\n  x-b :two words\nX-Empty:\n")


@pytest.fixture
def main(endpoint: Endpoint) -> Endpoint:
    return endpoint.answer(reply())


@pytest.fixture
def other() -> Iterator[Endpoint]:
    with serve_replies() as server:
        yield server.answer(reply())


def sent(endpoint: Endpoint, **settings: Any) -> dict[str, str]:
    """The user's headers in one request of a model with these settings."""
    OpenAIModel("tiny", base_url=endpoint.url, max_retries=0, **settings).complete(HELLO, purpose="ask")
    return headers_of(endpoint)


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    return {name: value for name, value in endpoint.headers.pop().items() if name in SENT}


@pytest.mark.parametrize("key", ["", KEY])
def test_the_main_endpoint_gets_the_users_headers(monkeypatch, main, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert sent(main) == SENT
    assert sent(main, key_variable="OPENAI_API_KEY") == SENT


@pytest.mark.parametrize("settings", [{"api_key": KEY}, {"key_variable": "CODEPLAN_ASK_API_KEY"}])
@pytest.mark.parametrize("key", ["", KEY])
def test_an_endpoint_with_another_key_gets_none_even_if_it_is_the_same(monkeypatch, main, key, settings):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("CODEPLAN_ASK_API_KEY", key)
    assert sent(main) == SENT
    assert sent(main, **settings) == {}
    assert sent(main) == SENT


def test_another_endpoint_for_a_purpose_gets_none(main, other):
    model = connect("tiny", base_url=main.url, ask_model=f"tiny@{other.url}", max_retries=0)
    model.complete(HELLO, purpose="plan")
    model.complete(HELLO, purpose="ask")
    assert (headers_of(main), headers_of(other)) == (SENT, {})


def test_another_model_at_the_main_endpoint_gets_them(main):
    connect("tiny", base_url=main.url, ask_model="small", max_retries=0).complete(HELLO, purpose="ask")
    assert main.asked[0]["model"] == "small"
    assert headers_of(main) == SENT


@functools.cache
def variables_of_the_client() -> list[str]:
    """The environment variables that the installed client reads."""
    sources = Path(openai.__file__).parent.rglob("*.py")
    found = {
        name
        for path in sources
        if not {"types", "resources"} & set(path.parts)
        for name in _READ.findall(path.read_text("utf-8"))
    }
    assert {"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"} <= found
    return sorted(found - {"OPENAI_LOG"})


def test_no_variable_that_the_client_reads_reaches_another_endpoint(monkeypatch, other):
    for name in variables_of_the_client():
        monkeypatch.setenv(name, f"X-Canary: CANARY-{name}")
    model = OpenAIModel("tiny", base_url=other.url, key_variable="CODEPLAN_ASK_API_KEY", max_retries=0)
    model.complete(HELLO, purpose="ask")
    model.ping()
    with pytest.raises(ModelError):
        model.embed(["a"], model="tiny")
    assert len(other.headers) == 3
    assert "canary" not in str(other.headers + other.paths).lower()
    assert other.keys == ["Bearer no-key"] * 3


def test_no_variable_but_the_named_ones_reaches_the_main_endpoint(monkeypatch, main):
    named = {"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS", "OPENAI_API_KEY"}
    for name in set(variables_of_the_client()) - named:
        monkeypatch.setenv(name, "CANARY")
    assert sent(main) == SENT
    OpenAIModel("tiny", base_url=main.url).ping()
    assert headers_of(main) == SENT
    assert "CANARY" not in str(main.headers + main.paths)


def whole_head(endpoint: Endpoint, url: str, custom: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", custom)
    OpenAIModel("tiny", base_url=url, max_retries=0).complete(HELLO, purpose="ask")
    return endpoint.headers.pop()


def test_a_custom_header_replaces_the_clients_own_but_not_codeplans(monkeypatch, main):
    custom = f"user-agent: mine\nAUTHORIZATION: Bearer {GATEWAY}\naccept-encoding: br\nX-a: 1\nx-A: 2"
    head = whole_head(main, main.url, custom, monkeypatch)
    assert head["user-agent"] == "mine"
    assert head["authorization"] == f"Bearer {GATEWAY}"
    assert head["accept-encoding"] == "gzip, deflate"
    assert head["x-a"] == "2"
    head = whole_head(main, main.url.replace("//", "//me:hunter2@"), custom, monkeypatch)
    assert head["authorization"] == "Basic bWU6aHVudGVyMg=="


@pytest.mark.parametrize(
    ("custom", "told", "shown"),
    [
        (f"X-Gateway-Key: {GATEWAY}", f"no credit for {GATEWAY}!", "no credit for ***!"),
        ("X-Gateway-Key: 12345678", "no credit for 12345678", "no credit for ***"),
        ("X-Gateway-Key: 1234567", "no credit for 1234567", "no credit for 1234567"),
        (f"Proxy-authorization: Token {GATEWAY}", f"no credit for {GATEWAY}!", "no credit for ***!"),
        (f"X-Name: Token {GATEWAY}", f"no Token {GATEWAY} here", "no *** here"),
        ("", "no project proj-1 of org-1", "no project proj-1 of org-1"),
    ],
)
def test_the_values_of_custom_headers_are_masked_like_keys(monkeypatch, main, custom, told, shown):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", custom)
    main.answers.clear()
    main.answer({"error": {"message": told}}, 400).answer(reply(told))
    model = OpenAIModel("tiny", base_url=main.url, max_retries=0)
    with pytest.raises(ModelError) as caught:
        model.complete(HELLO, purpose="ask")
    assert f": {shown};" in str(caught.value)
    assert model.complete(HELLO, purpose="ask").text == shown


@pytest.mark.parametrize(
    "custom", [GATEWAY, f": {GATEWAY}", f"X Y: {GATEWAY}", f"X-A: {GATEWAY}é", f"X-A: {GATEWAY}\x7f", f"Xé: {GATEWAY}"]
)
def test_a_malformed_custom_header_is_refused_and_not_shown(monkeypatch, custom):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-B: 1\n{custom}")
    with pytest.raises(UsageError, match="a line of the variable OPENAI_CUSTOM_HEADERS is not a header") as caught:
        OpenAIModel("tiny", base_url="http://localhost/v1")
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [frame for frame in shown.stack if "/codeplan/" in frame.filename]
    assert len(ours) > 2
    assert GATEWAY not in "".join(str(frame.locals) for frame in ours) + str(caught.value)
    OpenAIModel("tiny", base_url="http://localhost/v1", api_key=KEY)


@pytest.mark.parametrize("variable", ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID"])
def test_a_malformed_name_of_an_account_is_refused(monkeypatch, variable):
    monkeypatch.setenv(variable, "örg")
    with pytest.raises(UsageError, match=f"the variable {variable} has characters"):
        OpenAIModel("tiny", base_url="http://localhost/v1")
