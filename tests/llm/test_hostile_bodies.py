"""An endpoint may send anything: memory stays flat, and every body ends in an answer or in one sentence."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator

import pytest
from support.memory_growth import MAX_GROWTH, ask, head, whole
from support.raw_server import Answer, serve_raw
from support.reply_server import HELLO, Endpoint, reply

from codeplan.errors import ModelError
from codeplan.llm.connections import MAX_BODY_BYTES
from codeplan.llm.openai_client import OpenAIModel

pytestmark = pytest.mark.long

MEBIBYTE = 1 << 20


@functools.cache
def bomb(kind: str) -> bytes:
    """128 MiB of spaces, compressed."""
    compress = zlib.compressobj(9, wbits=31 if kind == "gzip" else 15)
    spaces = b" " * MEBIBYTE
    return b"".join(compress.compress(spaces) for _ in range(128)) + compress.flush()


def endless(piece: bytes, *headers: str, status: str = "200 OK") -> Iterator[bytes]:
    """A body without an end: 1.5 GB, unless the client hangs up."""
    yield head("Connection: close", *headers, status=status)
    yield from itertools.repeat(piece, 1_500_000_000 // len(piece))


def huge_headers() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    yield from (b"X-%d: %s\r\n" % (i, b"a" * 10_000) for i in range(100_000))


SAID = "sent a body of more than 8 MiB"
BOMBS: dict[str, tuple[Answer, str]] = {
    "gzip": (lambda: whole(bomb("gzip"), "Content-Encoding: gzip"), SAID),
    "deflate": (lambda: whole(bomb("zlib"), "Content-Encoding: deflate"), SAID),
    "brotli": (lambda: whole(b"\x00" * 1000, "Content-Encoding: br"), "with the encoding 'br'"),
    "damaged gzip": (lambda: whole(b"\x1f\x8b" + b"a" * 100, "Content-Encoding: gzip"), "is damaged"),
    "endless spaces": (lambda: endless(b" " * MEBIBYTE), SAID),
    "an endless stream of events": (lambda: endless(b"data: {}\n\n" * 5000, "Content-Type: text/event-stream"), SAID),
    "one string of 300 MB": (lambda: endless(b'{"choices": "' + b"a" * 300_000_000), SAID),
    "headers without an end": (huge_headers, "cannot be reached"),
    "a line of status without an end": (lambda: itertools.repeat(b"HTTP/1.1 200 " + b"a" * 60_000, 20_000), "cannot"),
    "an error of 1.5 GB": (lambda: endless(b"<" * MEBIBYTE, status="400 Bad Request"), "refused the request (400)"),
    "an error as a bomb": (lambda: whole(bomb("gzip"), "Content-Encoding: gzip", status="500 Oops"), "failed (500)"),
    "a refused key in an unknown encoding": (
        lambda: whole(b"\x00", "Content-Encoding: br", status="401 Unauthorized"),
        "wants a key (401)",
    ),
    "a redirection with a bomb": (
        lambda: whole(bomb("gzip"), "Content-Encoding: gzip", "Location: /v1/again", status="307 Again"),
        "cannot be reached (Exceeded maximum allowed redirects",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_body_takes_more_memory_than_its_cap_allows(name: str) -> None:
    answer, said = BOMBS[name]
    told, grown = ask(answer)
    assert said in told
    assert "\n" not in told
    assert len(told) < 700
    assert grown < MAX_GROWTH


def test_embeddings_may_be_larger_but_are_bounded_too() -> None:
    told, grown = ask(lambda: endless(b'{"data": [' + b'{"index": 0, "embedding": [0.5]},' * 30_000), "embeddings")
    assert "sent a body of more than 32 MiB" in told
    assert grown < MAX_GROWTH


def test_interim_answers_without_an_end_end_with_the_attempt() -> None:
    told, grown = ask(lambda: itertools.repeat(b"HTTP/1.1 102 Wait\r\n\r\n" * 1000), seconds=1.5)
    assert "gave no answer within 1.5 s" in told
    assert grown < MAX_GROWTH


def test_a_body_that_is_too_large_is_not_asked_for_again() -> None:
    asked = 0

    def answer() -> Iterable[bytes]:
        nonlocal asked
        asked += 1
        return endless(b" " * MEBIBYTE)

    with serve_raw(answer) as url, pytest.raises(ModelError, match="8 MiB"):
        OpenAIModel("tiny", base_url=url, max_retries=3).complete(HELLO, purpose="ask")
    assert asked == 1


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "x-gzip", "identity", ""])
def test_honest_replies_are_read_in_each_accepted_encoding(encoding: str) -> None:
    body = json.dumps(reply("Hello. " * 1000)).encode()
    packed = {"deflate": zlib.compress, "": bytes, "identity": bytes}.get(encoding, gzip.compress)(body)
    headers = [f"Content-Encoding: {encoding}"] if encoding else []
    with serve_raw(lambda: whole(packed, *headers)) as url:
        answer = OpenAIModel("tiny", base_url=url, max_retries=0).complete(HELLO, purpose="ask")
    assert answer.text == "Hello. " * 1000


@pytest.mark.parametrize(("missing", "fits"), [(0, True), (-1, False)])
def test_a_body_may_have_exactly_the_maximum_size(missing: int, fits: bool) -> None:
    body = json.dumps(reply("Hello.")).encode()
    body += b" " * (MAX_BODY_BYTES - len(body) - missing)
    with serve_raw(lambda: whole(body)) as url:
        model = OpenAIModel("tiny", base_url=url, max_retries=0)
        if fits:
            assert model.complete(HELLO, purpose="ask").text == "Hello."
        else:
            with pytest.raises(ModelError, match="8 MiB"):
                model.complete(HELLO, purpose="ask")


LIES: dict[str, list[bytes]] = {
    "a length that is too long": [head("Content-Length: 99999"), json.dumps(reply()).encode()],
    "a length that is too short": [head("Content-Length: 5"), json.dumps(reply()).encode()],
    "a negative length": [head("Content-Length: -5"), b"{}"],
    "a chunk of no size": [head("Transfer-Encoding: chunked"), b"zz\r\n{}\r\n"],
    "no protocol": [b"\x00\x01\x02\x03" * 100],
    "a status beyond all": [head("Content-Length: 0", status="999 Odd")],
    "an unknown character set": [
        head("Content-Type: text/plain; charset=zzz", "Content-Length: 3", status="400 No"),
        b"abc",
    ],
    "nothing": [],
}


@pytest.mark.parametrize("name", LIES)
def test_whatever_breaks_the_protocol_is_one_sentence(name: str) -> None:
    with serve_raw(lambda: LIES[name]) as url, pytest.raises(ModelError) as caught:
        OpenAIModel("tiny", base_url=url, max_retries=0).complete(HELLO, purpose="ask")
    assert str(caught.value).startswith(f"the model endpoint {url} ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"error":' * 900 + b"1" + b"}" * 900,
        b'{"error":' * 100_000,
        b'{"choices":[{"message":{"content":"a"},"finish_reason":"\\u001b[2J\\u0000"}]}',
        b'{"choices":[{"message":{"content":"a"},"finish_reason":"' + b"x" * 1_000_000 + b'"}]}',
        b'{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"rm"}}]},"finish_reason":"stop"}]}',
        b'{"choices":[{"message":{"content":null,"refusal":"' + b"no\\u001b " * 100_000 + b'"}}]}',
        b'{"error":{"message":["a"],"code":{"b":1}}}',
        b'{"error":"' + b"\\u202e" * 100_000 + b'"}',
        b"data: {}\n\n" * 100_000,
        b" " * 5_000_000,
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_odd_bodies_are_one_short_printable_sentence(endpoint: Endpoint, body: bytes, status: int) -> None:
    said = endpoint.answer(body, status).failure()
    assert said.isprintable()
    assert len(said) < 700


def test_what_the_endpoint_calls_its_model_is_short_and_printable(endpoint: Endpoint) -> None:
    odd = "m\x1b]0;title\x07\x00\u202e" + "x" * 100_000
    answer = endpoint.answer(reply(model=odd, system_fingerprint=odd)).model().complete(HELLO, purpose="ask")
    for name in (answer.model, answer.fingerprint):
        assert name.isprintable()
        assert len(name) < 300


def test_parts_that_exceed_the_whole_are_ignored(endpoint: Endpoint) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 10}}
    answer = endpoint.answer(reply(usage=usage)).model().complete(HELLO, purpose="ask")
    assert (answer.usage.input_tokens, answer.usage.cached_tokens) == (9, 0)
