"""The port of an encyclopedia, and an offline one. ``wikipedia`` holds the live one."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Protocol

from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

MAX_SIMILAR_TITLES = 5

_MAX_QUERY_WORDS = 32
"""Maximum number of words of a search, because SQLite limits the depth of an expression."""


class WikiPage(Value, frozen=True):
    """A page. ``text`` is plain, one paragraph per line."""

    title: str
    text: str


class SimilarTitles(Value, frozen=True):
    """The result if there is no page with a title: at most five similar titles, best match first."""

    titles: tuple[str, ...] = ()


class Wiki(Protocol):
    """An encyclopedia."""

    def search(self, entity: str) -> WikiPage | SimilarTitles:
        """The page with this title, or similar titles. Raises: EnvironmentFailure if it is unavailable."""
        ...

    def close(self) -> None:
        """Free its resources. Safe to call twice."""
        ...


class OfflineWiki:
    """An encyclopedia of given pages, as a mapping of titles to texts. Titles are found regardless of case."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages
        self._titles = {title.casefold(): title for title in reversed(list(pages))}

    def search(self, entity: str) -> WikiPage | SimilarTitles:
        title = entity if entity in self._pages else self._titles.get(entity.strip().casefold())
        if title is None:
            return SimilarTitles(self._find_similar(entity))
        return WikiPage(title, self._pages[title])

    def close(self) -> None:
        """Does nothing."""

    def _find_similar(self, entity: str) -> tuple[str, ...]:
        """Titles by full-text rank (BM25); a word in a title counts ten times as much as one in the text."""
        words = list(dict.fromkeys(re.findall(r"\w+", entity.lower())))[:_MAX_QUERY_WORDS]
        if not words:
            return ()
        query = " OR ".join(f'"{word}"' for word in words)
        ranked = "SELECT title FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 10.0, 1.0), rowid LIMIT ?"
        with closing(_build_index(self._pages)) as index:
            return tuple(title for (title,) in index.execute(ranked, (query, MAX_SIMILAR_TITLES)))


def _build_index(pages: Mapping[str, str]) -> sqlite3.Connection:
    """A full-text index in memory. Each search builds it again: pages are few and misses are rare."""
    index = sqlite3.connect(":memory:")
    try:
        index.execute("CREATE VIRTUAL TABLE pages USING fts5(title, text)")
    except sqlite3.OperationalError as e:
        index.close()
        raise EnvironmentFailure(f"Python's SQLite has no full-text search ({e}); use a Python that has FTS5") from e
    index.executemany("INSERT INTO pages VALUES (?, ?)", pages.items())
    return index
