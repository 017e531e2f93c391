"""Live Wikipedia, or any other MediaWiki, in its current state or as of a date.

Its client is polite (https://www.mediawiki.org/wiki/API:Etiquette): a process sends one request at a time to a server,
pauses between requests, names a contact in its User-Agent, and waits when the server asks it to. Replies are
untrusted: they are decoded into fixed types. A file keeps what was read.
"""

from __future__ import annotations

import email.utils
import importlib
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cache, cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Annotated, Any

import msgspec

from codeplan.envs.hotpotqa.wiki import MAX_SIMILAR_TITLES, SimilarTitles, WikiPage
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.untrusted.values import in_quotes
from codeplan.version import VERSION

# ------------------------------------------------------------------ what was read, on disk

_TABLES = (
    "CREATE TABLE IF NOT EXISTS pages (site TEXT, title TEXT, revision INTEGER, text TEXT NOT NULL, "
    "PRIMARY KEY (site, title, revision))",
    "CREATE TABLE IF NOT EXISTS searches (site TEXT, before TEXT, entity TEXT, found TEXT NOT NULL, "
    "PRIMARY KEY (site, before, entity))",
)


RevisionNumber = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""Within the range of SQLite's integers."""


class PageRevision(msgspec.Struct, frozen=True, tag="page"):
    """The page and revision that a search found."""

    title: str
    revision: RevisionNumber


class SearchMiss(msgspec.Struct, frozen=True, tag="none"):
    """A search that found no page, with the titles that were offered instead."""

    titles: tuple[str, ...]


_SearchResult = PageRevision | SearchMiss


class WikiCache:
    """A SQLite file that several processes may share. The first write creates it and its folder.

    Entries never expire, so episodes repeat exactly. To read pages again, remove the file or name another one.
    ``site`` and ``before`` separate encyclopedias and dates. All methods raise UsageError if the file is unusable.
    """

    def __init__(self, file: Path, site: str, before: str) -> None:
        self._file, self._site, self._before = file, site, before

    def get_search(self, entity: str) -> PageRevision | SearchMiss | None:
        """The result of a search; None if it is not cached."""
        sql = "SELECT found FROM searches WHERE site = ? AND before = ? AND entity = ?"
        with self._transaction() as file:
            row = file.execute(sql, (self._site, self._before, entity)).fetchone()
            return msgspec.json.decode(row[0], type=_SearchResult) if row else None

    def save_search(self, entity: str, found: PageRevision | SearchMiss) -> None:
        """Keep the result of a search."""
        self._insert("searches", self._site, self._before, entity, msgspec.json.encode(found).decode())

    def get_page(self, page: PageRevision) -> str | None:
        """A page's text; None if it is not cached."""
        sql = "SELECT text FROM pages WHERE site = ? AND title = ? AND revision = ?"
        with self._transaction() as file:
            row = file.execute(sql, (self._site, page.title, page.revision)).fetchone()
            return msgspec.convert(row[0], str) if row else None

    def save_page(self, page: PageRevision, text: str) -> None:
        """Keep a page's text."""
        self._insert("pages", self._site, page.title, page.revision, text)

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if "_connection" in self.__dict__:
            self._connection.close()
            del self._connection

    def _insert(self, table: str, *values: Any) -> None:
        with self._transaction() as file:
            file.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", values)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._connection as connection:
                yield connection
        except (sqlite3.Error, OSError, UnicodeDecodeError, msgspec.DecodeError) as e:
            raise UsageError(f"the cache of pages {self._file} cannot be used: {e}; name another, or remove it") from e

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._file, timeout=30, check_same_thread=False)
        try:
            for table in _TABLES:
                connection.execute(table)
        except BaseException:  # also UnicodeDecodeError, of a damaged file
            connection.close()
            raise
        return connection


def default_cache_file() -> Path:
    """The cache in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "codeplan" / "wikipedia.sqlite3"


# ------------------------------------------------------------------ the MediaWiki API

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


# ------------------------------------------------------------------ the prose of a page's HTML

_MIN_WORDS = 3
_MAX_DEPTH = 256
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_SKIPPED_TAGS = frozenset({"script", "style", "math"})
_SKIPPED_CLASSES = frozenset(
    {"reference", "mw-editsection", "navbox", "toc", "reflist", "metadata", "mw-references-wrap"}
)
"""Classes of elements that are not prose: reference marks, buttons, tables of contents and the like."""


def extract_paragraphs(html: str) -> str:
    """The paragraphs, then the list items, one per line, without those of one or two words.

    ReAct reads Wikipedia in this order (Yao et al., 2023), but includes references and navigation.
    """
    parser = _ProseParser()
    parser.feed(f"{html}\n")  # without the line end, the parser would hold back the last word
    parser.end_text()
    # HTMLParser.close is not called: it rescans an unfinished comment again and again, for hours in hostile input.
    return "\n".join(text for text in (*parser.paragraphs, *parser.items) if len(text.split(" ")) >= _MIN_WORDS)


class _ProseParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self.items: list[str] = []
        self._open: list[str] = []
        self._skipped_depth: int | None = None  # the depth of the element that is being skipped
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.handle_data(" ")
        if tag in _VOID or len(self._open) >= _MAX_DEPTH:
            return
        if self._skipped_depth is None and _is_skipped(tag, attrs):
            self._skipped_depth = len(self._open)
        self._open.append(tag)
        if tag in ("p", "li") and self._skipped_depth is None:
            self.end_text()
            self._text = []

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            return
        if tag in ("p", "li", "ul") and self._skipped_depth is None:
            self.end_text()
        while self._open.pop() != tag:
            pass
        if self._skipped_depth is not None and len(self._open) <= self._skipped_depth:
            self._skipped_depth = None

    def handle_data(self, data: str) -> None:
        if self._skipped_depth is None and self._text is not None:
            self._text.append(data)

    def end_text(self) -> None:
        """End the current paragraph or list item."""
        if self._text is not None:
            inside = self._open[::-1]
            is_item = "li" in inside and ("p" not in inside or inside.index("li") < inside.index("p"))
            (self.items if is_item else self.paragraphs).append(" ".join("".join(self._text).split()))
        self._text = None


def _is_skipped(tag: str, attrs: list[tuple[str, str | None]]) -> bool:
    given = dict(attrs)
    classes = (given.get("class") or "").split()
    return tag in _SKIPPED_TAGS or given.get("role") == "navigation" or not _SKIPPED_CLASSES.isdisjoint(classes)


# ------------------------------------------------------------------ the encyclopedia

WIKIPEDIA_API_URL = "https://en.wikipedia.org/w/api.php"

_FORBIDDEN_IN_TITLES = re.compile(r"[#<>\[\]{}|\x00-\x1f\x7f]")
_MAX_TITLE_BYTES = 255
_MAX_SEARCH_CHARACTERS = 300


class Wikipedia:
    """The encyclopedia at a MediaWiki API's ``url``, as of the end of ``before`` (``YYYY-MM-DD``) if given.

    Titles are matched exactly, through redirects, and otherwise regardless of case. Redirects and search results are
    always current. The file ``cache`` keeps everything that was read. The first search opens the connection.

    Raises: UsageError if a setting is invalid.
    """

    def __init__(
        self,
        *,
        contact: str | None,
        before: str | None = None,
        cache: str | None = None,
        url: str = WIKIPEDIA_API_URL,
        interval: float = 0.5,
    ) -> None:
        if not re.match(r"https?://[^/@]+/[^@]*$", url):
            raise UsageError(
                f"the setting url must be a MediaWiki API's address without a login, such as {WIKIPEDIA_API_URL}"
            )
        if not 0 <= interval <= 3600:
            raise UsageError(f"the setting interval is {interval}; give the seconds between requests, from 0 to 3600")
        self._api = MediaWiki(url, _check_contact(contact), interval)
        self._until = {"rvstart": f"{_check_date(before)}T23:59:59Z"} if before is not None else {}
        self._cache = WikiCache(Path(cache).expanduser() if cache else default_cache_file(), url, before or "")

    def search(self, entity: str) -> WikiPage | SimilarTitles:
        entity = " ".join(entity.encode("utf-8", "replace").decode().split())
        found = self._cache.get_search(entity)
        if found is None:
            found = self._search_online(entity)
            self._cache.save_search(entity, found)
        if isinstance(found, SearchMiss):
            return SimilarTitles(found.titles)
        return WikiPage(found.title, self._page_text(found))

    def close(self) -> None:
        self._api.close()
        self._cache.close()

    def _search_online(self, entity: str) -> PageRevision | SearchMiss:
        if not entity:
            return SearchMiss(())
        page = self._find_revision(entity)
        if page is None and _may_be_title(entity):
            near = self._search_titles(entity, limit=1, srwhat="nearmatch")
            page = self._find_revision(near[0]) if near and near[0] != entity else None
        return page or SearchMiss(self._search_titles(entity, limit=MAX_SIMILAR_TITLES))

    def _find_revision(self, title: str) -> PageRevision | None:
        """The wanted revision of the article with this title; None if there is none."""
        if not _may_be_title(title):
            return None
        wanted = {"prop": "revisions", "rvprop": "ids", "rvlimit": "1", **self._until}
        pages = self._api.request(action="query", titles=title, redirects="1", **wanted).query.pages
        page = next((p for p in pages if p.ns == 0 and p.revisions), None)
        return PageRevision(page.title, page.revisions[0].revid) if page else None

    def _search_titles(self, entity: str, limit: int, **options: str) -> tuple[str, ...]:
        query = {"srsearch": entity[:_MAX_SEARCH_CHARACTERS], "srlimit": str(limit), "srprop": "", **options}
        hits = self._api.request(action="query", list="search", **query).query.search
        return tuple(hit.title for hit in hits[:limit])

    def _page_text(self, page: PageRevision) -> str:
        text = self._cache.get_page(page)
        if text is None:
            reply = self._api.request(action="parse", oldid=str(page.revision), prop="text", disablelimitreport="1")
            if reply.parse is None:
                raise EnvironmentFailure(
                    f"the encyclopedia at {self._api.url} gives no text of {in_quotes(page.title)}"
                )
            text = extract_paragraphs(reply.parse.text)
            self._cache.save_page(page, text)
        return text


def _may_be_title(text: str) -> bool:
    return len(text.encode()) <= _MAX_TITLE_BYTES and not _FORBIDDEN_IN_TITLES.search(text)


def _check_contact(contact: str | None) -> str:
    if not contact or not re.fullmatch(r"[!-\-0-?A-~]*[@/.][!-~ ]*", contact):
        raise UsageError(
            f"Wikipedia requires a contact, and the setting contact is {in_quotes(contact)}; give your e-mail address "
            "or the address of a page about you or your project, as in contact=me@example.org"
        )
    return contact


def _check_date(before: str) -> str:
    try:
        return date.fromisoformat(before).isoformat()
    except ValueError:
        raise UsageError(f"the setting before is {in_quotes(before)}; give a day as in 2017-10-01") from None
