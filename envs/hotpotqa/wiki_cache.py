"""Caches an encyclopedia's data on disk: pages by title and revision, search results by query."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec

from codeplan.errors import UsageError

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
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def default_cache_file() -> Path:
    """The cache in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "codeplan" / "wikipedia.sqlite3"
