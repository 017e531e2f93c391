"""Asking a MediaWiki API with good manners: https://www.mediawiki.org/wiki/API:Etiquette.

One request at a time in this process, a pause between two, a User-Agent that says who asks, and waiting when asked to.
What comes back is foreign text of any content: it is decoded into fixed types, and never evaluated.
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
from importlib.metadata import version
from typing import Any

import msgspec

from codeplan.envs.hotpotqa.wiki_cache import RevisionNumber
from codeplan.errors import EnvironmentFailure

_MOST_BYTES = 16_000_000
_TRIES = 5
_LONGEST_WAIT = 120.0
"""Seconds that are waited at most where the server asks for it; where it asks for more, asking has failed."""

_BUSY = frozenset({"maxlag", "ratelimited", "readonly"})
"""Errors of the API that pass."""


class Revision(msgspec.Struct, frozen=True):
    """A version of a page."""

    revid: RevisionNumber


class PageInfo(msgspec.Struct, frozen=True):
    """A page by its title: in namespace 0 are the articles; without revisions where there is no such page."""

    title: str
    ns: int = 0
    revisions: tuple[Revision, ...] = ()


class QueryResult(msgspec.Struct, frozen=True):
    """What a query found: pages, where it asked for titles; hits, where it searched."""

    pages: tuple[PageInfo, ...] = ()
    search: tuple[PageInfo, ...] = ()


class PageHtml(msgspec.Struct, frozen=True):
    """A page's text, as HTML."""

    text: str


class _Error(msgspec.Struct, frozen=True):
    code: str
    info: str = ""


class MediaWikiReply(msgspec.Struct, frozen=True):
    """What the API answered; ``batchcomplete`` says that a query has found all, even where that is nothing."""

    batchcomplete: bool = False
    query: QueryResult = QueryResult()
    parse: PageHtml | None = None
    error: _Error | None = None


class _Turn:
    """Whose turn it is to ask a server: one at a time, with a pause after each."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.earliest = 0.0


class MediaWiki:
    """A MediaWiki API at ``url``; ``contact`` tells its keepers who asks; ``interval`` is the pause in seconds.

    It connects when it is first asked.
    """

    def __init__(self, url: str, contact: str, interval: float) -> None:
        self.url, self._contact, self._interval = url, contact, interval

    def request(self, **parameters: str) -> MediaWikiReply:
        """One request. Waits for its turn, and as long as the server asks for.

        Raises EnvironmentFailure where the server cannot be reached, refuses, or answers nonsense.
        """
        asked = {"format": "json", "formatversion": "2", "maxlag": "5", **parameters}
        turn = _turn(self.url)
        with turn.lock:
            for number in range(_TRIES):
                time.sleep(max(0.0, turn.earliest - time.monotonic()))
                try:
                    reply, wait = self._once(asked)
                finally:
                    turn.earliest = time.monotonic() + self._interval
                if reply is not None:
                    return reply
                turn.earliest = time.monotonic() + max(self._interval, 2.0**number if wait is None else wait)
        raise self._failure(f"is still busy after {_TRIES} requests; try again later")

    def close(self) -> None:
        """Close the connection. Safe to call twice."""
        if "_client" in self.__dict__:
            self._client.close()
            del self._client

    def _once(self, asked: Mapping[str, str]) -> tuple[MediaWikiReply | None, float | None]:
        """The answer; or None where the server is busy, with the seconds that it wants to be left alone, if it says."""
        library = _library()
        try:
            with self._client.stream("GET", self.url, params=asked) as response:
                body = self._read(response)
        except (library.HTTPError, library.InvalidURL) as e:
            why = str(e) or type(e).__name__
            raise self._failure(f"cannot be reached: {why}; check the network, or leave live out") from e
        if response.status_code in (429, 503):
            return None, self._wait(response.headers)
        if response.status_code != 200:
            raise self._failure(self._refusal(response.status_code))
        reply = self._decoded(body)
        if reply.error and reply.error.code in _BUSY:
            return None, self._wait(response.headers)
        if reply.error:
            raise self._failure(f"refuses {dict(asked)}: {reply.error.code}, {reply.error.info[:200]}")
        return reply, None

    def _read(self, response: Any) -> bytes:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise self._failure(f"answers with more than {_MOST_BYTES:,} bytes")
        return bytes(body)

    def _decoded(self, body: bytes) -> MediaWikiReply:
        try:
            reply = msgspec.json.decode(body, type=MediaWikiReply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise self._failure(f"answers what is no reply of a MediaWiki API: {e}") from None
        if reply == MediaWikiReply():
            raise self._failure("answers what is no reply of a MediaWiki API: it has neither query, parse nor error")
        return reply

    def _wait(self, headers: Mapping[str, str]) -> float | None:
        wait = parse_retry_after(headers.get("retry-after", ""))
        if wait is not None and wait > _LONGEST_WAIT:
            raise self._failure(f"asks to be left alone for {wait:.0f} seconds; try again after that")
        return wait

    def _refusal(self, status: int) -> str:
        if status == 403:
            return f"refuses to answer (403) the User-Agent {self._user_agent!r}; give a contact that reaches you"
        return f"answers with status {status}; is this the address of a MediaWiki API?"

    def _failure(self, what: str) -> EnvironmentFailure:
        return EnvironmentFailure(f"the encyclopedia at {self.url} {what}")

    @property
    def _user_agent(self) -> str:
        library = _library()
        return f"codeplan/{version('codeplan')} ({self._contact}) {library.__name__}/{library.__version__}"

    @cached_property
    def _client(self) -> Any:
        return _library().Client(headers={"User-Agent": self._user_agent}, timeout=30.0)


def parse_retry_after(retry_after: str) -> float | None:
    """The seconds that a ``Retry-After`` header asks for, given as a number or as a date; None where it has neither."""
    if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10:
        return float(retry_after)
    try:
        until = email.utils.parsedate_to_datetime(retry_after)
    except (ValueError, TypeError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


@cache
def _library() -> Any:
    """httpx, or httpx2: whichever the model client brought along."""
    for name in ("httpx", "httpx2"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise EnvironmentFailure("live Wikipedia needs httpx; run: pip install httpx")


_turns: dict[str, _Turn] = {}
_turns_lock = threading.Lock()


def _turn(url: str) -> _Turn:
    with _turns_lock:
        return _turns.setdefault(url, _Turn())


def _forget() -> None:
    """After a fork: a turn that was taken is the parent's."""
    global _turns_lock
    _turns_lock = threading.Lock()
    _turns.clear()


os.register_at_fork(after_in_child=_forget)
