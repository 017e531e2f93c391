"""What can be searched: an encyclopedia, asked for a title. Offline here; ``wikipedia`` has the live one."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Protocol

from codeplan.errors import EnvironmentFailure
from codeplan.types.value import Value

MAX_SIMILAR_TITLES = 5
"""Titles that are offered where a page is not found."""

_MOST_WORDS = 32
"""Words of a search that are looked for: SQLite takes no expression of any depth."""


class WikiPage(Value, frozen=True):
    """A page that was found. ``text`` is plain, its paragraphs on lines of their own."""

    title: str
    text: str


class SimilarTitles(Value, frozen=True):
    """There is no page of that title: at most five titles that may be meant, the likeliest first."""

    titles: tuple[str, ...] = ()


class Wiki(Protocol):
    """An encyclopedia."""

    def search(self, entity: str) -> WikiPage | SimilarTitles:
        """The page of this title, or titles like it. Raises EnvironmentFailure where it cannot be asked."""
        ...

    def close(self) -> None:
        """Free what it holds. Safe to call twice."""
        ...


class OfflineWiki:
    """An encyclopedia of given pages, texts by titles. A title is found in other capitals, too."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages
        self._titles = {title.casefold(): title for title in reversed(list(pages))}

    def search(self, entity: str) -> WikiPage | SimilarTitles:
        title = entity if entity in self._pages else self._titles.get(entity.strip().casefold())
        return SimilarTitles(self._similar(entity)) if title is None else WikiPage(title, self._pages[title])

    def close(self) -> None:
        """Nothing is held."""

    def _similar(self, entity: str) -> tuple[str, ...]:
        """Titles by full-text rank (BM25), where a word in a title weighs as much as ten in the text."""
        words = list(dict.fromkeys(re.findall(r"\w+", entity.lower())))[:_MOST_WORDS]
        if not words:
            return ()
        wanted = " OR ".join(f'"{word}"' for word in words)
        ranked = "SELECT title FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 10.0, 1.0), rowid LIMIT ?"
        with closing(_index(self._pages)) as index:
            return tuple(title for (title,) in index.execute(ranked, (wanted, MAX_SIMILAR_TITLES)))


def _index(pages: Mapping[str, str]) -> sqlite3.Connection:
    """A full-text index in memory. It is made anew for every search: pages are few, and misses are rare."""
    index = sqlite3.connect(":memory:")
    try:
        index.execute("CREATE VIRTUAL TABLE pages USING fts5(title, text)")
    except sqlite3.OperationalError as e:
        index.close()
        raise EnvironmentFailure(f"Python's SQLite has no full-text search ({e}); use a Python that has FTS5") from e
    index.executemany("INSERT INTO pages VALUES (?, ?)", pages.items())
    return index
