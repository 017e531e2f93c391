"""The headers of an endpoint's replies: none can choose how a text is decoded, and no cookie is kept."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import Any

import pytest
from support.reply_server import HELLO, Endpoint, reply

from codeplan.errors import ModelError
from codeplan.llm.connections import bound_body, response_class

LIBRARY: Any = import_module(response_class().__module__.partition(".")[0])
CODECS = ["rot13", "hex", "base64", "zlib", "bz2", "quopri", "uu", "idna", "punycode", "undefined", "unicode_escape"]
ENCODINGS = ["utf-16", "utf-7", "latin-1", "utf-8", "zzz"]
OWN_TYPE = ("content-type", "application/json; charset=utf-8")


def seen(*headers: tuple[str, str], status: int = 400) -> list[tuple[str, str]]:
    """The headers that the client sees of a reply with these."""
    request = LIBRARY.Request("POST", "http://localhost/v1/chat/completions")
    sent = [(name, value.encode("latin-1")) for name, value in headers]
    response = LIBRARY.Response(status, headers=sent, request=request)
    asyncio.run(bound_body(LIBRARY.AsyncByteStream)(response))
    return list(response.headers.items())


@pytest.mark.parametrize("status", [200, 307, 400, 503])
@pytest.mark.parametrize(
    "content_type", ['text/plain; x="' + ";" * 50_000, "text/plain; charset=utf-16", "text/event-stream", "", "\xff"]
)
def test_the_client_never_sees_the_content_type_of_the_endpoint(status: int, content_type: str) -> None:
    assert seen(("Content-Type", content_type), ("content-type", "a/b"), status=status) == [OWN_TYPE]


def test_headers_that_codeplan_does_not_use_are_gone() -> None:
    used = [("location", "/v2/gr\xfcn"), ("retry-after", "3"), ("retry-after-ms", "300")]
    others = [("Link", "<"), ("content-encoding", "gzip"), ("content-disposition", "; " * 9), ("X-Request-Id", "1")]
    assert seen(*used, *others) == [*used, OWN_TYPE]


@pytest.mark.parametrize("codec", [*CODECS, *ENCODINGS])
@pytest.mark.parametrize("parameter", ["charset={}", 'CHARSET="{}"', "charset*={}''", "charset*0={}"])
def test_an_error_is_read_as_utf_8_whatever_codec_it_names(endpoint: Endpoint, codec: str, parameter: str) -> None:
    body = json.dumps({"error": {"message": "grün 6162"}}, ensure_ascii=False).encode()
    endpoint.answer(body, 400, Content_Type=f"application/json; {parameter.format(codec)}")
    assert "refused the request (400): grün 6162; change" in endpoint.failure()
    endpoint.answers.clear()
    endpoint.answer(b"gr\xfcn", 503, Content_Type=f"text/plain; {parameter.format(codec)}")
    assert "failed (503): gr\ufffdn; try" in endpoint.failure()


@pytest.mark.parametrize("codec", [*CODECS, *ENCODINGS])
def test_a_reply_is_read_as_utf_8_whatever_codec_it_names(endpoint: Endpoint, codec: str) -> None:
    body = json.dumps(reply("grün"), ensure_ascii=False).encode()
    endpoint.answer(body, Content_Type=f"application/json; charset={codec}")
    assert endpoint.model().complete(HELLO, purpose="ask").text == "grün"


@pytest.mark.parametrize("codec", CODECS)
def test_a_ping_reads_any_error(endpoint: Endpoint, codec: str) -> None:
    endpoint.answer(b"abc", 503, Content_Type=f"text/plain; charset={codec}")
    with pytest.raises(ModelError, match=r"failed \(503\): abc"):
        endpoint.model().ping()


def test_no_cookie_is_sent_back(endpoint: Endpoint) -> None:
    endpoint.answer(reply(), Set_Cookie="session=1; Path=/", Set_Cookie2="a,a")
    for _ in range(2):
        assert endpoint.model().complete(HELLO, purpose="ask").text == "Hello."
    assert len(endpoint.headers) == 2
    assert "cookie" not in endpoint.headers[1]
