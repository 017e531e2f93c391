"""The port of an encyclopedia, an offline one, and how an episode reads it."""

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


_SENTENCES_SHOWN = 5
"""Sentences of a page in a search's observation."""

_AMBIGUOUS = "may refer to:"


class ReaderState(Value, frozen=True):
    """The open page's sentences, the last looked-up string, and how many of its matches were shown."""

    sentences: tuple[str, ...] = ()
    keyword: str | None = None
    matches_shown: int = 0


def search(wiki: Wiki, state: ReaderState, entity: str) -> tuple[ReaderState, str]:
    """Open a page. Returns the new state and the first five sentences, or the old state and similar titles.

    For a disambiguation page, the entity is searched again in brackets, which no title contains. Raises what
    ``wiki.search`` raises.
    """
    found = wiki.search(entity)
    if isinstance(found, WikiPage) and _AMBIGUOUS in found.text:
        entity = f"[{entity}]"
        found = wiki.search(entity)
    if isinstance(found, SimilarTitles):
        return state, f"Could not find {entity}. Similar: {list(found.titles)}."
    opened = ReaderState(split_sentences(found.text))
    return opened, " ".join(opened.sentences[:_SENTENCES_SHOWN])


def lookup(state: ReaderState, keyword: str) -> tuple[ReaderState, str]:
    """Show the open page's next sentence that contains the keyword, ignoring case. A new keyword starts over."""
    hits = [sentence for sentence in state.sentences if keyword.lower() in sentence.lower()]
    shown = state.matches_shown if keyword == state.keyword else 0
    if shown >= len(hits):
        return ReaderState(state.sentences, keyword, shown), "No more results.\n"
    return ReaderState(state.sentences, keyword, shown + 1), f"(Result {shown + 1} / {len(hits)}) {hits[shown]}"


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a page into sentences as ReAct does: at line ends, then at ". ", with a full stop added to each.

    As in ReAct, the last sentence of a paragraph therefore ends with two full stops.
    """
    paragraphs = (paragraph.strip() for paragraph in text.split("\n"))
    pieces = (piece.strip() for paragraph in paragraphs for piece in paragraph.split(". "))
    return tuple(f"{piece}." for piece in pieces if piece)
