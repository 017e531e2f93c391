"""The clients and the limiter of each endpoint, shared by all models and episodes of the process."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from codeplan.errors import ModelError
from codeplan.llm import endpoint
from codeplan.llm.endpoint import Secret
from codeplan.llm.endpoint_errors import ErrorFactory
from codeplan.llm.rate_limiter import RateLimiter

if TYPE_CHECKING:
    import openai

_PLACEHOLDER_KEY = "no-key"  # local servers want no key, but the client wants to send one
_MAX_CALLS_PER_CLIENT = 8


class RateLimits(msgspec.Struct, frozen=True):
    """What an endpoint may be asked in a minute; None is no limit."""

    requests: int | None = None
    tokens: int | None = None


class Connection:
    """The way to an endpoint, for the background loop. Its ``limiter`` is to be asked before each request.

    Raises ModelError where no client can be made, as with a proxy in the environment that cannot be used.
    """

    def __init__(self, url: str, key: Secret, limits: RateLimits, errors: ErrorFactory) -> None:
        self.limiter = RateLimiter(limits.requests, limits.tokens)
        self._make = partial(_make_client, url, key, errors)
        self._clients = [self._make()]
        self._busy = [0]

    @asynccontextmanager
    async def client(self) -> AsyncIterator[openai.AsyncOpenAI]:
        """A client for one request. Each has few under way, since what one costs it grows with their number."""
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
    """The connection for this address, key and rates; made when it is first asked for. Raises as Connection does."""
    with _lock:
        found = _connections.get((url, key.value, limits))
        if found is None:
            found = _connections[url, key.value, limits] = Connection(url, key, limits, errors)
        return found


def response_class() -> Any:
    """The class of the HTTP library's responses."""
    return _http_library().Response


@cache
def _http_library() -> Any:
    """The library that the client sends with: which it is depends on the client's version."""
    import openai

    return import_module("httpx" if int(openai.__version__.partition(".")[0]) < 3 else "httpx2")


@cache
def _ssl_context() -> Any:
    """What servers are checked against; reading it takes longer than anything else about a client."""
    return _http_library().create_ssl_context()


def _make_client(url: str, key: Secret, errors: ErrorFactory) -> openai.AsyncOpenAI:
    import openai

    login = endpoint.basic_login(url)  # in a header: logs show addresses, and no headers
    headers = {"Authorization": f"Basic {login}"} if login else None
    try:
        return openai.AsyncOpenAI(
            api_key=key.value or _PLACEHOLDER_KEY,
            base_url=endpoint.without_credentials(url),
            max_retries=0,
            default_headers=headers,
            http_client=openai.DefaultAsyncHttpxClient(verify=_ssl_context()),
        )
    except (openai.OpenAIError, ImportError, ValueError) as error:
        why = errors.sanitise(str(error))
    except _http_library().InvalidURL:  # its words may quote a password
        why = "the address of a proxy in the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY) is not one"
    raise ModelError(str(errors.error(f"cannot be used, since no client for it can be made: {why}")))


_lock = threading.Lock()
_connections: dict[tuple[str, str, RateLimits], Connection] = {}


def _reset_after_fork() -> None:
    """After a fork: the connections are the parent's."""
    global _lock
    _lock = threading.Lock()
    _connections.clear()


os.register_at_fork(after_in_child=_reset_after_fork)
