"""Bounds what an endpoint may send: each body is decompressed piece by piece, and reading ends at a maximum size.

Of the headers, only those that codeplan uses stay.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Final

from codeplan.llm.requests import EMBEDDINGS_PATH
from codeplan.untrusted.json_sizes import has_more_values, may_have_more_values
from codeplan.untrusted.values import in_quotes

MAX_BODY_BYTES: Final = 8 << 20
"""Maximum decompressed size of a body. The longest reply that is used (``MAX_REPLY_CHARS``) takes a fifth of it, even
with every character escaped."""

MAX_EMBEDDINGS_BYTES: Final = 32 << 20
"""Maximum decompressed size of a body with embeddings: 256 vectors of 4096 numbers take some 23 MB."""

MAX_BODY_VALUES: Final = 1_500_000
"""Maximum number of JSON values of a body. Parsed, so many take some 60 MB. A reply has dozens; the rest is room for
the probabilities of its tokens, which ``extra_body`` can ask for: 8 MiB have space for 1.2 million such values.
"""

MAX_EMBEDDINGS_VALUES: Final = 2_500_000
"""Maximum number of JSON values of a body with embeddings: 256 vectors of 8192 numbers hold 2.1 million."""

MAX_ERROR_BYTES: Final = 64 << 10
"""Maximum number of bytes that are read of the body of an error or a redirection. The status suffices, so the rest is
not read.
"""

MAX_PIECES: Final = 100_000
"""Maximum number of chunks of a body. Each takes time, even if it holds a single byte."""

ACCEPTED_ENCODINGS: Final = "gzip, deflate"
"""The encodings that requests accept. Others would need further decompressors with their own bounds."""

_PIECE = 64 << 10
_ADVICE = "which is not read; ask for less at a time, or check that the base URL is that of an API for models"

_USED_HEADERS: Final = ("location", "retry-after", "retry-after-ms")

_OWN_HEADERS: Final = {"content-type": "application/json; charset=utf-8"}
"""In place of what the endpoint says. The HTTP library reads parameters in quadratic time, and decodes errors with the
character set that they name, which may be any codec of Python, such as bz2.
"""


class UnacceptableBodyError(Exception):
    """The endpoint sent a body that codeplan refuses to read. The text completes the sentence "the model endpoint
    …".
    """


def bound_body(stream_class: type[Any]) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """A response hook for the HTTP library whose class of byte streams is ``stream_class``.

    From then on, reading the response raises UnacceptableBodyError if its body is too large or cannot be decompressed.
    Headers that codeplan does not use are gone, and text is read as UTF-8.
    """
    bounded = _bounded_stream_class(stream_class)

    async def hook(response: Any) -> None:
        sent = response.headers
        encoding = sent.get("content-encoding", "").strip().lower()
        used = {name: sent[name] for name in _USED_HEADERS if name in sent}
        response.headers = type(sent)({**used, **_OWN_HEADERS}, encoding=sent.encoding)
        if response.is_success:
            is_embeddings = response.request.url.path.endswith(EMBEDDINGS_PATH)
            pieces = _read_reply(response.stream, encoding, MAX_EMBEDDINGS_BYTES if is_embeddings else MAX_BODY_BYTES)
        else:
            pieces = _read_error(response.stream, encoding)
        response.stream = bounded(response.stream, pieces)

    return hook


def excess_of_values(path: str, body: bytes) -> str:
    """That the reply to this path of the API holds too many JSON values to be parsed, in words that follow the
    endpoint's name; empty if it does not.
    """
    is_embeddings = path == EMBEDDINGS_PATH
    most = MAX_EMBEDDINGS_VALUES if is_embeddings else MAX_BODY_VALUES
    # leaving out strings takes seconds for 32 MiB, and holds the event loop; those of embeddings hold hardly any signs
    has_more = may_have_more_values if is_embeddings else has_more_values
    return f"sent a body of more than {most:,} JSON values, {_ADVICE}" if has_more(body, most) else ""


def _bounded_stream_class(stream_class: type[Any]) -> type[Any]:
    class BoundedStream(stream_class):  # type: ignore[misc]
        def __init__(self, stream: Any, pieces: AsyncIterator[bytes]) -> None:
            self._stream, self._pieces = stream, pieces

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._pieces

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedStream


async def _read_reply(stream: AsyncIterable[bytes], encoding: str, max_bytes: int) -> AsyncIterator[bytes]:
    """The decompressed body in small pieces. Compressed bytes count as well: many of them can decompress to nothing."""
    received_left = left = max_bytes
    decode = _decoder(encoding)
    count = 0
    async for received in stream:
        received_left -= len(received)
        count += 1
        if count > MAX_PIECES:
            raise UnacceptableBodyError(f"sent a body in more than {MAX_PIECES:,} pieces, which is not read")
        for piece in decode(received):
            left -= len(piece)
            if left < 0:
                break
            yield piece
        if left < 0 or received_left < 0:
            raise UnacceptableBodyError(f"sent a body of more than {max_bytes >> 20} MiB, {_ADVICE}")


async def _read_error(stream: AsyncIterable[bytes], encoding: str) -> AsyncIterator[bytes]:
    """The start of the decompressed body; empty if it cannot be decompressed."""
    received_left = left = MAX_ERROR_BYTES
    try:
        decode = _decoder(encoding)
        async for received in stream:
            received_left -= len(received)
            if received_left < -_PIECE:
                return
            for piece in decode(received):
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return
    except UnacceptableBodyError:
        return


def _decoder(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    if encoding in ("", "identity"):
        return lambda received: iter((received,))
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Inflater().decode
    raise UnacceptableBodyError(
        f"sent a body with the encoding {in_quotes(encoding, 40)}, though requests accept only {ACCEPTED_ENCODINGS}; "
        "check the proxies before it"
    )


class _Inflater:
    """Decompresses gzip (with any number of members) and zlib, at most ``_PIECE`` bytes at a time."""

    def __init__(self) -> None:
        self._inflate = _new_inflate()

    def decode(self, received: bytes) -> Iterator[bytes]:
        """The pieces that can be decompressed with what was received so far."""
        while received:
            if self._inflate.eof:
                self._inflate = _new_inflate()
            try:
                piece = self._inflate.decompress(received, _PIECE)
            except zlib.error:
                raise UnacceptableBodyError("sent a compressed body that is damaged; try again later") from None
            received = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            yield piece


def _new_inflate() -> Any:
    return zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: the header says whether it is gzip or zlib
