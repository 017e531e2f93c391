"""Redirections: followed within scheme, host and port of the base URL, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from support.reply_server import HELLO, KEY, Endpoint, reply

from codeplan.errors import ModelError
from codeplan.llm.connections import follow_within_origin, response_class
from codeplan.llm.endpoint_errors import ForeignRedirectError
from codeplan.llm.openai_client import OpenAIModel

LIBRARY: Any = import_module(response_class().__module__.partition(".")[0])


@pytest.fixture
def elsewhere() -> Iterator[Endpoint]:
    """A server at another port, whose address redirections name."""
    with Endpoint() as server:
        yield server


def followed(location: str, here: str = "http://host/v1/chat/completions", status: int = 307) -> str | None:
    """Where a request from ``here`` is sent with this redirection."""
    sent = [("Location", location.encode())]
    response = LIBRARY.Response(status, headers=sent, request=LIBRARY.Request("POST", here))
    asyncio.run(follow_within_origin(response))
    return response.headers.get("location")


@pytest.mark.parametrize(
    "location",
    [
        "/v2/chat",
        "more?a=1#end",
        "http://host/v2",
        "HTTP://HOST:80/v2",
        "//host/v2",
        "http://host",
        "http://host//other",
        "",
    ],
)
@pytest.mark.parametrize("port", ["", ":80"])
def test_a_redirection_within_the_origin_is_left_alone(location, port):
    assert followed(location, f"http://host{port}/v1/chat/completions") == location


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("http://host:81/v1/responses", "http://host:81/v1"),
        ("http://other/v2/embeddings?key=1#a", "http://other/v2"),
        ("http://me:pass@other/v1/models", "http://other/v1"),
        ("//other/v1", "http://other/v1"),
        ("http://host:99999/", "http://host:99999"),
        ("http://[::1", ""),
        ("file:///etc/passwd", ""),
        ("javascript:1", ""),
    ],
)
def test_any_other_redirection_is_refused(location, address, status):
    with pytest.raises(ForeignRedirectError) as caught:
        followed(location, status=status)
    assert caught.value.address == address


def test_the_default_port_of_https_is_its_origin_too():
    assert followed("https://host:443/v2", "https://host/v1") == "https://host:443/v2"
    with pytest.raises(ForeignRedirectError, match="http://host:443/v2"):
        followed("http://host:443/v2", "https://host/v1")


@pytest.mark.parametrize("status", [200, 300, 304, 400])
def test_a_location_of_another_status_is_left_alone(status):
    assert followed("http://other/v1", status=status) == "http://other/v1"


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("place", ["/v2/chat", "{url}/again"])
def test_a_request_follows_within_its_origin_with_its_body(endpoint, place, status):
    endpoint.answer(b"", status, Location=place.format(url=endpoint.url)).answer(reply())
    assert endpoint.model().complete(HELLO, purpose="ask").text == "Hello."
    assert endpoint.asked[0] == endpoint.asked[1]
    assert endpoint.keys == [f"Bearer {KEY}"] * 2
    assert endpoint.paths[1] in ("/v2/chat", "/v1/again")


def chat(model: OpenAIModel) -> None:
    model.complete(HELLO, purpose="ask")


def embed(model: OpenAIModel) -> None:
    model.embed(["a"], model="tiny")


@pytest.mark.parametrize("use", [chat, embed, OpenAIModel.ping])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_request_goes_nowhere_else(endpoint, elsewhere, status, use):
    elsewhere.socket.setblocking(False)
    endpoint.answer(b"", status, Location=f"{elsewhere.url}/chat/completions?key={KEY}")
    with pytest.raises(ModelError) as caught:
        use(endpoint.model(max_retries=3))
    assert str(caught.value) == (
        f"the model endpoint {endpoint.url} redirects to {elsewhere.url}, and codeplan follows redirections only to "
        "the same scheme, host and port; if that address is the right one, give it as the base URL"
    )
    assert len(endpoint.paths) == 1
    with pytest.raises(BlockingIOError):  # no connection waits there
        elsewhere.socket.accept()


def test_the_address_in_the_message_is_short_printable_and_without_the_key(endpoint):
    endpoint.answer(b"", 307, Location=f"http://other.example/{KEY}/" + "x" * 5_000)
    said = endpoint.failure()
    assert "redirects to http://other.example/***/xxx" in said
    assert len(said) < 500


def test_redirections_without_an_end_end(endpoint):
    endpoint.answer(b"", 307, Location="/v1/chat/completions")
    assert "cannot be reached (Exceeded maximum allowed redirects" in endpoint.failure(max_retries=1)
    assert len(endpoint.paths) == 2 * 6
