"""A polite client of the MediaWiki API (https://www.mediawiki.org/wiki/API:Etiquette).

A process sends one request at a time to a server, pauses between requests, names a contact in its User-Agent, and waits
when the server asks it to. Replies are untrusted: they are decoded into fixed types.
"""

from __future__ import annotations

import email.utils
import importlib
import os
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any

import msgspec

from codeplan.envs.hotpotqa.wiki_cache import RevisionNumber
from codeplan.errors import EnvironmentFailure
from codeplan.untrusted.values import in_quotes
from codeplan.version import VERSION

_MAX_BYTES = 16_000_000
_MAX_TRIES = 5
_MAX_WAIT = 120.0
"""Seconds to wait at the server's request. If it asks for more, the request fails."""

_BUSY = frozenset({"maxlag", "ratelimited", "readonly"})
"""Temporary errors of the API."""


class Revision(msgspec.Struct, frozen=True):
    """A version of a page."""

    revid: RevisionNumber


class PageInfo(msgspec.Struct, frozen=True):
    """A page. Articles are in namespace 0; a page that does not exist has no revisions."""

    title: str
    ns: int = 0
    revisions: tuple[Revision, ...] = ()


class QueryResult(msgspec.Struct, frozen=True):
    """``pages`` answer a query for titles, ``search`` a full-text search."""

    pages: tuple[PageInfo, ...] = ()
    search: tuple[PageInfo, ...] = ()


class PageHtml(msgspec.Struct, frozen=True):
    """A page's text as HTML."""

    text: str


class _Error(msgspec.Struct, frozen=True):
    code: str
    info: str = ""


class MediaWikiReply(msgspec.Struct, frozen=True):
    """A reply of the API; ``batchcomplete`` is true if a query is complete, even without results."""

    batchcomplete: bool = False
    query: QueryResult = QueryResult()
    parse: PageHtml | None = None
    error: _Error | None = None


class _RequestSlot:
    """Lets one thread at a time use a server; ``earliest`` is when the next request may start."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.earliest = 0.0


class MediaWiki:
    """The MediaWiki API at ``url``; ``interval`` is the pause between requests in seconds.

    The first request opens the connection.
    """

    def __init__(self, url: str, contact: str, interval: float) -> None:
        self.url, self._contact, self._interval = url, contact, interval

    def request(self, **parameters: str) -> MediaWikiReply:
        """Send one request, after waiting for its turn and as long as the server asks.

        Raises: EnvironmentFailure if the server is unreachable, refuses, or sends an invalid reply.
        """
        query = {"format": "json", "formatversion": "2", "maxlag": "5", **parameters}
        slot = _slot_for(self.url)
        with slot.lock:
            for number in range(_MAX_TRIES):
                time.sleep(max(0.0, slot.earliest - time.monotonic()))
                try:
                    reply, wait = self._try_request(query)
                finally:
                    slot.earliest = time.monotonic() + self._interval
                if reply is not None:
                    return reply
                slot.earliest = time.monotonic() + max(self._interval, 2.0**number if wait is None else wait)
        raise self._failure(f"is still busy after {_MAX_TRIES} requests; try again later")

    def close(self) -> None:
        """Close the connection. Safe to call twice."""
        if "_client" in self.__dict__:
            self._client.close()
            del self._client

    def _try_request(self, query: Mapping[str, str]) -> tuple[MediaWikiReply | None, float | None]:
        """The reply; or, if the server is busy, None and the seconds that it asks to wait, if it names any."""
        library = _import_httpx()
        try:
            with self._client.stream("GET", self.url, params=query) as response:
                body = self._read_body(response)
        except (library.HTTPError, library.InvalidURL) as e:
            cause = str(e) or type(e).__name__
            raise self._failure(f"cannot be reached: {cause}; check the network, or leave live out") from e
        if response.status_code in (429, 503):
            return None, self._requested_wait(response.headers)
        if response.status_code != 200:
            raise self._failure(self._describe_status(response.status_code))
        reply = self._decode(body)
        if reply.error and reply.error.code in _BUSY:
            return None, self._requested_wait(response.headers)
        if reply.error:
            raise self._failure(f"refuses {dict(query)}: {reply.error.code}, {reply.error.info[:200]}")
        return reply, None

    def _read_body(self, response: Any) -> bytes:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > _MAX_BYTES:
                raise self._failure(f"answers with more than {_MAX_BYTES:,} bytes")
        return bytes(body)

    def _decode(self, body: bytes) -> MediaWikiReply:
        try:
            reply = msgspec.json.decode(body, type=MediaWikiReply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise self._failure(f"sends an invalid reply: {e}") from None
        if reply == MediaWikiReply():
            raise self._failure("sends an invalid reply: it has no query, parse or error")
        return reply

    def _requested_wait(self, headers: Mapping[str, str]) -> float | None:
        wait = parse_retry_after(headers.get("retry-after", ""))
        if wait is not None and wait > _MAX_WAIT:
            raise self._failure(f"asks for a pause of {wait:.0f} seconds; try again after that")
        return wait

    def _describe_status(self, status: int) -> str:
        if status == 403:
            return f"refuses (403) the User-Agent {in_quotes(self._user_agent)}; give a contact that reaches you"
        return f"answers with status {status}; is this the address of a MediaWiki API?"

    def _failure(self, problem: str) -> EnvironmentFailure:
        return EnvironmentFailure(f"the encyclopedia at {self.url} {problem}")

    @property
    def _user_agent(self) -> str:
        library = _import_httpx()
        return f"codeplan/{VERSION} ({self._contact}) {library.__name__}/{library.__version__}"

    @cached_property
    def _client(self) -> Any:
        return _import_httpx().Client(headers={"User-Agent": self._user_agent}, timeout=30.0)


def parse_retry_after(header: str) -> float | None:
    """The seconds that a ``Retry-After`` header asks for, as a number or as a date; None if it is neither."""
    if header.isascii() and header.isdigit() and len(header) < 10:
        return float(header)
    try:
        until = email.utils.parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


@cache
def _import_httpx() -> Any:
    """httpx or httpx2, whichever the model client has installed."""
    for name in ("httpx", "httpx2"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise EnvironmentFailure("live Wikipedia needs httpx; run: pip install httpx")


_slots: dict[str, _RequestSlot] = {}
_slots_lock = threading.Lock()


def _slot_for(url: str) -> _RequestSlot:
    with _slots_lock:
        return _slots.setdefault(url, _RequestSlot())


def _reset_after_fork() -> None:
    """Drop the parent's locks: a thread that does not exist in the child may hold them."""
    global _slots_lock
    _slots_lock = threading.Lock()
    _slots.clear()


os.register_at_fork(after_in_child=_reset_after_fork)
