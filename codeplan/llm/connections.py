"""Each endpoint's HTTP clients and rate limiter, shared by all models and episodes of the process."""

from __future__ import annotations

import asyncio
import os
import threading
import zlib
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import cache, partial
from http.cookiejar import CookieJar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

import msgspec

from codeplan.errors import ModelError
from codeplan.llm import endpoint
from codeplan.llm.endpoint import Headers, Secret
from codeplan.llm.endpoint_errors import ErrorFactory, ForeignRedirectError, UnacceptableBodyError
from codeplan.llm.openai_protocol import API_PATHS, EMBEDDINGS_PATH
from codeplan.untrusted.json_values import has_more_values, may_have_more_values
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    import openai


_WINDOW = 60.0


class AdmittedRequest(msgspec.Struct, eq=False):
    """When a request was admitted, and its tokens: an estimate until the answer reports them."""

    time: float
    tokens: int


class RateLimiter:
    """Admits requests in order of arrival within both limits (None: no limit). For the background loop only."""

    def __init__(self, requests: int | None, tokens: int | None, window: float = _WINDOW) -> None:
        self._requests, self._tokens, self._window = requests, tokens, window
        self._admitted: deque[AdmittedRequest] = deque()
        self._queue_lock = asyncio.Lock()

    async def admit(self, tokens: int) -> AdmittedRequest:
        """Wait until a request of about this many tokens fits. The caller then corrects the result's ``tokens``."""
        async with self._queue_lock:
            while (wait := self._seconds_to_wait(tokens)) > 0:
                await asyncio.sleep(wait)
            request = AdmittedRequest(asyncio.get_running_loop().time(), tokens)
            self._admitted.append(request)
            return request

    def _seconds_to_wait(self, tokens: int) -> float:
        """Seconds to wait before trying again; a request above the limit needs an empty window."""
        now = asyncio.get_running_loop().time()
        while self._admitted and self._admitted[0].time <= now - self._window:
            self._admitted.popleft()
        if not self._admitted or self._fits(tokens):
            return 0.0
        return self._admitted[0].time + self._window - now

    def _fits(self, tokens: int) -> bool:
        if self._requests is not None and len(self._admitted) >= self._requests:
            return False
        return self._tokens is None or sum(s.tokens for s in self._admitted) + tokens <= self._tokens


MAX_REDIRECTS: Final = 5

MAX_LOCATION_CHARS: Final = 2_000
"""Maximum length of an address that is followed, in characters."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


async def follow_within_origin(response: Any) -> None:
    """A response hook for the HTTP library. A redirection has the request's scheme, host and port afterwards.

    Raises: ForeignRedirectError: it leads elsewhere, or to what is not an address.
    """
    if not response.has_redirect_location:
        return
    here, location = urlsplit(str(response.request.url)), response.headers["location"]
    try:
        there = urlsplit(urljoin(here.geturl(), location[: MAX_LOCATION_CHARS + 1]))
        origin = _origin(there)
    except ValueError:
        raise ForeignRedirectError("") from None
    if origin != _origin(here):
        raise ForeignRedirectError(_base_url(there))
    if len(location) > MAX_LOCATION_CHARS:
        raise ForeignRedirectError("")
    # the library reads addresses in its own way: put together here, this one has no other host for it either
    response.headers["location"] = urlunsplit((here.scheme, here.netloc, f"/{there.path[1:]}", there.query, ""))


def _origin(url: SplitResult) -> tuple[str, str, int | None]:
    """Scheme, host and port. Raises: ValueError: the port is not one."""
    port = _DEFAULT_PORTS.get(url.scheme) if url.port is None else url.port
    return url.scheme, url.hostname or "", port


def _base_url(url: SplitResult) -> str:
    """What a user can give as base URL to get to this address; empty if it is not one of the web."""
    if url.scheme not in _DEFAULT_PORTS or not url.hostname:
        return ""
    path = next((url.path.removesuffix(end) for end in API_PATHS if url.path.endswith(end)), url.path)
    return urlunsplit((url.scheme, url.netloc.rpartition("@")[2], path, "", ""))


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


_PLACEHOLDER_KEY = "no-key"  # local servers need no key, but the client insists on sending one
_MAX_CALLS_PER_CLIENT = 8


class _NoCookies(CookieJar):
    """Keeps no cookie: an endpoint could send thousands, and all later requests would carry them."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Ignore the cookies of a response."""


class RateLimits(msgspec.Struct, frozen=True):
    """The maximum of requests and tokens per minute; None sets no limit."""

    requests: int | None = None
    tokens: int | None = None


class Connection:
    """An endpoint's clients, for use in the background loop only. Callers ask ``limiter`` before each request.

    Raises: ModelError: no client can be made, for example because of an unusable proxy in the environment.
    """

    def __init__(self, url: str, key: Secret, headers: Headers, limits: RateLimits, errors: ErrorFactory) -> None:
        self.limiter = RateLimiter(limits.requests, limits.tokens)
        self._make = partial(_make_client, url, key, headers, errors)
        self._clients = [self._make()]
        self._busy = [0]

    @asynccontextmanager
    async def client(self) -> AsyncIterator[openai.AsyncOpenAI]:
        """A client for one request. The cost per request grows with concurrency, so each client serves only a few."""
        number = next((i for i, busy in enumerate(self._busy) if busy < _MAX_CALLS_PER_CLIENT), len(self._busy))
        if number == len(self._busy):
            self._clients.append(self._make())
            self._busy.append(0)
        self._busy[number] += 1
        try:
            yield self._clients[number]
        finally:
            self._busy[number] -= 1


def shared_connection(url: str, key: Secret, headers: Headers, limits: RateLimits, errors: ErrorFactory) -> Connection:
    """The process's connection for this address, key, headers and limits. Raises ModelError as Connection does."""
    same = url, key, frozenset(headers.items()), limits
    with _lock:
        found = _connections.get(same)
        if found is None:
            found = _connections[same] = Connection(url, key, headers, limits, errors)
        return found


def response_class() -> Any:
    """The response class of the HTTP library."""
    return _http_library().Response


@cache
def _http_library() -> Any:
    """The HTTP library of the installed client version."""
    import openai

    return import_module("httpx" if int(openai.__version__.partition(".")[0]) < 3 else "httpx2")


@cache
def _ssl_context() -> Any:
    """The shared SSL context: loading it is the slowest part of making a client."""
    return _http_library().create_ssl_context()


@cache
def _client_class() -> Callable[..., openai.AsyncOpenAI]:
    import openai

    class ChosenHeadersClient(openai.AsyncOpenAI):
        """Sends the ``chosen`` headers and its own. Its base class adds headers from the environment, whatever the
        address.
        """

        def __init__(self, chosen: Headers, **settings: Any) -> None:
            self._chosen = chosen
            super().__init__(**settings)

        @property
        def default_headers(self) -> dict[str, Any]:
            kinds = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": self.user_agent}
            own = {name.title(): value for name, value in self.platform_headers().items()}
            return {**kinds, **own, **{name: value.value for name, value in self._chosen.items()}}

    return ChosenHeadersClient


def _make_client(url: str, key: Secret, headers: Headers, errors: ErrorFactory) -> openai.AsyncOpenAI:
    import openai

    login = endpoint.basic_login(url)  # sent in a header, because logs show addresses but no headers
    given = {"Authorization": Secret(f"Basic {login}")} if login else {}
    try:
        return _client_class()(
            {**headers, **given, "Accept-Encoding": Secret(ACCEPTED_ENCODINGS)},
            api_key=key.value or _PLACEHOLDER_KEY,
            base_url=endpoint.without_credentials(url),
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                verify=_ssl_context(),
                cookies=_NoCookies(),
                max_redirects=MAX_REDIRECTS,
                event_hooks={"response": [follow_within_origin, bound_body(_http_library().AsyncByteStream)]},
            ),
        )
    except (openai.OpenAIError, ImportError, ValueError) as error:
        why = errors.sanitise(str(error))
    except _http_library().InvalidURL:  # its message may quote a password
        why = "the address of a proxy in the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY) is invalid"
    raise ModelError(str(errors.error(f"cannot be used, since no client for it can be made: {why}")))


_lock = threading.Lock()
_connections: dict[tuple[str, Secret, frozenset[tuple[str, Secret]], RateLimits], Connection] = {}


def _reset_after_fork() -> None:
    """The connections belong to the parent process."""
    global _lock
    _lock = threading.Lock()
    _connections.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
