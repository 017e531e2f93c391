"""Each endpoint's HTTP clients and rate limiter, shared by all models and episodes of the process."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
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

    def __init__(self, url: str, key: Secret, limits: RateLimits, errors: ErrorFactory) -> None:
        self.limiter = RateLimiter(limits.requests, limits.tokens)
        self._make = partial(_make_client, url, key, errors)
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


def shared_connection(url: str, key: Secret, limits: RateLimits, errors: ErrorFactory) -> Connection:
    """The process's connection for this address, key and limits. Raises ModelError as Connection does."""
    with _lock:
        found = _connections.get((url, key.value, limits))
        if found is None:
            found = _connections[url, key.value, limits] = Connection(url, key, limits, errors)
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


def _make_client(url: str, key: Secret, errors: ErrorFactory) -> openai.AsyncOpenAI:
    import openai

    login = endpoint.basic_login(url)  # sent in a header, because logs show addresses but no headers
    headers = {"Accept-Encoding": ACCEPTED_ENCODINGS, **({"Authorization": f"Basic {login}"} if login else {})}
    try:
        return openai.AsyncOpenAI(
            api_key=key.value or _PLACEHOLDER_KEY,
            base_url=endpoint.without_credentials(url),
            max_retries=0,
            default_headers=headers,
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
_connections: dict[tuple[str, str, RateLimits], Connection] = {}


def _reset_after_fork() -> None:
    """The connections belong to the parent process."""
    global _lock
    _lock = threading.Lock()
    _connections.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
