"""Each endpoint's HTTP clients and rate limiter, shared by all models and episodes of the process."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from http.cookiejar import CookieJar
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from codeplan.errors import ModelError
from codeplan.llm import endpoint
from codeplan.llm.bounded_bodies import ACCEPTED_ENCODINGS, bound_body
from codeplan.llm.endpoint import Secret
from codeplan.llm.endpoint_errors import ErrorFactory
from codeplan.llm.main_headers import Headers
from codeplan.llm.rate_limiter import RateLimiter
from codeplan.llm.redirections import MAX_REDIRECTS, follow_within_origin

if TYPE_CHECKING:
    import openai

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
