"""What was read of an encyclopedia, kept on disk: pages by title and revision, searches by their words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Annotated

import msgspec

from codeplan.errors import UsageError

_TABLES = (
    "CREATE TABLE IF NOT EXISTS pages (site TEXT, title TEXT, revision INTEGER, text TEXT NOT NULL, "
    "PRIMARY KEY (site, title, revision))",
    "CREATE TABLE IF NOT EXISTS searches (site TEXT, before TEXT, entity TEXT, found TEXT NOT NULL, "
    "PRIMARY KEY (site, before, entity))",
)


RevisionNumber = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A revision's number, of a size that SQLite keeps."""


class PageRevision(msgspec.Struct, frozen=True, tag="page"):
    """Which page a search found, in which revision."""

    title: str
    revision: RevisionNumber


class SearchMiss(msgspec.Struct, frozen=True, tag="none"):
    """A search that found no page, and the titles that were offered instead."""

    titles: tuple[str, ...]


_Search = PageRevision | SearchMiss


class WikiCache:
    """A SQLite file, shared by any number of processes; created, with its folder, when something is first kept.

    Nothing in it grows old: what was read once is read again the same, so that episodes can be repeated. To read anew,
    remove the file or name another. ``site`` and ``before`` tell encyclopedias, and dates, apart.
    """

    def __init__(self, file: Path, site: str, before: str) -> None:
        self._file, self._site, self._before = file, site, before

    def get_search(self, entity: str) -> PageRevision | SearchMiss | None:
        """What a search found; None where it was not made yet. Raises UsageError where the file cannot be used."""
        where = "site = ? AND before = ? AND entity = ?"
        with self._using() as file:
            row = file.execute(
                f"SELECT found FROM searches WHERE {where}", (self._site, self._before, entity)
            ).fetchone()
            return msgspec.json.decode(row[0], type=_Search) if row else None

    def save_search(self, entity: str, found: PageRevision | SearchMiss) -> None:
        """Keep what a search found. Raises as ``search`` does."""
        row = (self._site, self._before, entity, msgspec.json.encode(found).decode())
        with self._using() as file:
            file.execute("INSERT OR REPLACE INTO searches VALUES (?, ?, ?, ?)", row)

    def get_page(self, page: PageRevision) -> str | None:
        """A page's text; None where it was not read yet. Raises as ``search`` does."""
        where = "site = ? AND title = ? AND revision = ?"
        with self._using() as file:
            row = file.execute(
                f"SELECT text FROM pages WHERE {where}", (self._site, page.title, page.revision)
            ).fetchone()
            return msgspec.convert(row[0], str) if row else None

    def save_page(self, page: PageRevision, text: str) -> None:
        """Keep a page's text. Raises as ``search`` does."""
        with self._using() as file:
            file.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)", (self._site, page.title, page.revision, text)
            )

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if "_connection" in self.__dict__:
            self._connection.close()
            del self._connection

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
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
    """The cache where none is named: in the user's folder for caches."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "codeplan" / "wikipedia.sqlite3"
