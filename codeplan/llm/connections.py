"""Each endpoint's HTTP clients and rate limiter, and the event loop in which the models of a process wait for answers.

Episodes are synchronous and block on that loop. Unlike a blocking socket, it enforces a deadline for a whole call, and
Ctrl-C cancels the calls of every thread at once.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import signal
import threading
import zlib
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache, partial
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import msgspec

from codeplan.cancellation import LoopThread
from codeplan.errors import ModelError
from codeplan.llm import endpoint
from codeplan.llm.endpoint import Headers, Secret
from codeplan.llm.endpoint_errors import ErrorFactory, ForeignRedirectError, UnacceptableBodyError
from codeplan.llm.openai_protocol import API_PATHS, EMBEDDINGS_PATH
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    import openai

T = TypeVar("T")
N = TypeVar("N")


def run_and_wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the models' event loop and return its value, or raise its exception.

    Raises: KeyboardInterrupt: the user interrupted; the coroutine is cancelled.
    """
    if _interrupted.is_set():
        coroutine.close()
        raise KeyboardInterrupt
    try:
        return _loop.run(coroutine)
    except concurrent.futures.CancelledError:
        raise KeyboardInterrupt from None


def run_and_hear(begin: Callable[[Callable[[N], None]], Coroutine[Any, Any, T]], listen: Callable[[N], None]) -> T:
    """As ``run_and_wait``, of a coroutine that tells something meanwhile, which ``listen`` gets in this thread.

    ``begin`` makes the coroutine from the function that tells. What ``listen`` raises cancels it.
    """
    if _interrupted.is_set():
        raise KeyboardInterrupt
    try:
        return _loop.run_telling(begin, listen)
    except concurrent.futures.CancelledError:
        raise KeyboardInterrupt from None


@contextmanager
def cancel_calls_on_interrupt() -> Iterator[None]:
    """Inside this context, Ctrl-C cancels the running and later calls of all threads.

    It is for the main thread while other threads run episodes; in any other thread it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        _interrupted.set()
        _loop.cancel_calls()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _interrupted.clear()


_interrupted = threading.Event()
_loop = LoopThread()

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


# -------------------------------------------------------------- what an endpoint may do

MAX_REDIRECTS: Final = 5

MAX_BODY_BYTES: Final = 8 << 20
"""Maximum decompressed size of a body. The longest reply that is used (``MAX_REPLY_CHARS``) takes a fifth of it, even
with every character escaped."""

MAX_STREAM_BYTES: Final = 64 << 20
"""Maximum decompressed size of a reply that comes as a stream of events, each with some 300 bytes around a word; of its
text, as much is kept as of another body."""

MAX_EMBEDDINGS_BYTES: Final = 32 << 20
"""Maximum decompressed size of a body with embeddings: 256 vectors of 4096 numbers take some 23 MB."""

MAX_ERROR_BYTES: Final = 64 << 10
"""Maximum number of bytes that are read of the body of an error or a redirection."""

ACCEPTED_ENCODINGS: Final = "gzip, deflate"
"""The encodings that requests accept. Others would need further decompressors with their own bounds."""


async def follow_within_origin(response: Any) -> None:
    """A response hook for the HTTP library: a redirection elsewhere would carry the prompt and the headers along.

    Raises: ForeignRedirectError: it leads to another scheme, host or port, or to what is not an address.
    """
    if not response.has_redirect_location:
        return
    here = response.request.url
    try:
        there = here.join(response.headers["location"])
    except (ValueError, _library_of(response).InvalidURL):
        raise ForeignRedirectError("") from None
    if (there.scheme, there.host, there.port) != (here.scheme, here.host, here.port):
        raise ForeignRedirectError(_base_url(there) if there.scheme in ("http", "https") and there.host else "")


def _base_url(url: Any) -> str:
    """What a user can give as base URL to get to this address."""
    path = next((url.path.removesuffix(end) for end in API_PATHS if url.path.endswith(end)), url.path)
    return str(url.copy_with(username=None, password=None, path=path or "/", query=None, fragment=None)).rstrip("/")


async def bound_body(response: Any) -> None:
    """A response hook for the HTTP library: reading the body raises UnacceptableBodyError if it is too large or cannot
    be decompressed. Of an error it reads the start.
    """
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    is_embeddings = response.request.url.path.endswith(EMBEDDINGS_PATH)
    is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    most = MAX_EMBEDDINGS_BYTES if is_embeddings else MAX_STREAM_BYTES if is_stream else MAX_BODY_BYTES
    pieces = _decoded(response.stream, encoding, most if response.is_success else MAX_ERROR_BYTES)
    if not response.is_success:
        pieces = _readable_part(pieces)
    response.stream = _stream_class(_library_of(response))(response.stream, pieces)


async def _decoded(stream: AsyncIterable[bytes], encoding: str, most: int) -> AsyncIterator[bytes]:
    if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
        raise UnacceptableBodyError(
            f"sent a body with the encoding {in_quotes(encoding, 40)}, though requests accept only "
            f"{ACCEPTED_ENCODINGS}; check the proxies before it"
        )
    # 32: the header says whether it is gzip or zlib
    inflate = None if encoding == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
    left = most
    async for received in stream:
        try:
            piece = received if inflate is None else inflate.decompress(received, left + 1)
        except zlib.error:
            raise UnacceptableBodyError("sent a compressed body that is damaged; try again later") from None
        yield piece[:left]
        left -= len(piece)
        if left < 0:
            raise UnacceptableBodyError(
                f"sent a body of more than {most >> 20} MiB, which is not read; ask for less at a time, or check that "
                "the base URL is that of an API for models"
            )


async def _readable_part(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for piece in pieces:
            yield piece
    except UnacceptableBodyError:
        return


def _library_of(response: Any) -> Any:
    """The HTTP library of a response: the clients of different APIs may use different ones."""
    return import_module(type(response).__module__.partition(".")[0])


@cache
def _stream_class(library: Any) -> type[Any]:
    class BoundedStream(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any, pieces: AsyncIterator[bytes]) -> None:
            self._stream, self._pieces = stream, pieces

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._pieces

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedStream


# -------------------------------------------------------------- clients

_PLACEHOLDER_KEY = "no-key"  # local servers need no key, but the client insists on sending one
_MAX_CALLS_PER_CLIENT = 8


class RateLimits(msgspec.Struct, frozen=True):
    """The maximum of requests and tokens per minute; None sets no limit."""

    requests: int | None = None
    tokens: int | None = None


class Connection:
    """An endpoint's clients, for use in the background loop only. Callers ask ``limiter`` before each request.

    ``stream_modes`` are the ways to ask for replies (``reply_stream``) that the endpoint has taken after it refused
    another one, by path and model. ``has_answered``: it is an endpoint, so a page in place of a reply may pass.

    Raises: ModelError: no client can be made, for example because of an unusable proxy in the environment.
    """

    def __init__(self, url: str, key: Secret, headers: Headers, limits: RateLimits, errors: ErrorFactory) -> None:
        self.limiter = RateLimiter(limits.requests, limits.tokens)
        self.stream_modes: dict[tuple[str, str], Literal["off", "on", "bare"]] = {}
        self.has_answered = False
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


def bounded_http_client() -> Any:
    """An HTTP client for one call of an API that is not OpenAI's, with the same bounds."""
    library = import_module("httpx2")
    return library.AsyncClient(
        verify=_context_of(library),
        follow_redirects=True,
        max_redirects=MAX_REDIRECTS,
        headers={"Accept-Encoding": ACCEPTED_ENCODINGS},
        event_hooks={"response": [follow_within_origin, bound_body]},
    )


@cache
def _context_of(library: Any) -> Any:
    """The library's SSL context. Raises ModelError: the certificates that the environment names cannot be loaded."""
    try:
        return library.create_ssl_context()
    except OSError as error:  # ssl.SSLError, too
        why = one_line(str(error.strerror or error), 200)
        raise ModelError(
            f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be loaded ({why}); correct the variable"
        ) from None


def shared_limiter(url: str, key: Secret, limits: RateLimits) -> RateLimiter:
    """The process's rate limiter for this address, key and limits."""
    with _lock:
        return _limiters.setdefault((url, key, limits), RateLimiter(limits.requests, limits.tokens))


def response_class() -> Any:
    """The response class of the HTTP library."""
    return _http_library().Response


@cache
def _http_library() -> Any:
    """The HTTP library of the installed client version."""
    import openai

    return import_module("httpx" if int(openai.__version__.partition(".")[0]) < 3 else "httpx2")


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
                verify=_context_of(_http_library()),
                max_redirects=MAX_REDIRECTS,
                event_hooks={"response": [follow_within_origin, bound_body]},
            ),
        )
    except (openai.OpenAIError, ImportError, ValueError) as error:
        why = errors.sanitise(str(error))
    except _http_library().InvalidURL:  # its message may quote a password
        why = "the address of a proxy in the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY) is invalid"
    raise ModelError(str(errors.error(f"cannot be used, since no client for it can be made: {why}")))


_lock = threading.Lock()
_connections: dict[tuple[str, Secret, frozenset[tuple[str, Secret]], RateLimits], Connection] = {}
_limiters: dict[tuple[str, Secret, RateLimits], RateLimiter] = {}


def _reset_after_fork() -> None:
    """The connections and the loop's thread belong to the parent process."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), LoopThread()
    _connections.clear()
    _limiters.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
