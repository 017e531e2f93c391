"""The tables of the index, and whether a file holds them with rows as codeplan writes them.

A library from elsewhere comes with its index. SQLite checks neither types nor what the rows say.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3

SCHEMA_VERSION = 4
"""The schema's version; an index with another version is built again."""

_TABLES = """
create table skills (
    id integer primary key, env text not null, name text not null, kind text not null, status text not null,
    pinned integer not null, version integer not null, description text not null, digest text not null,
    shown integer not null, solved integer not null, baseline integer not null, baseline_solved integer not null,
    wins integer not null, losses integer not null, failing integer not null, unique (env, name));
create index by_kind on skills (env, kind, status, failing, solved desc, name);
create index by_env on skills (env, status, failing, solved desc, name);
create table runs (skill integer not null, run text not null, primary key (run, skill)) without rowid;
create index runs_of on runs (skill);
create table files (path text primary key, signature text not null, skill integer, fault text) without rowid;
create table vectors (model text not null, digest text not null, vector blob not null, primary key (model, digest));
create virtual table texts using fts5 (tags, name, description, goals, tokenize = 'porter unicode61');
"""


_FOREIGN_ROWS = """
select 1 from skills left join files on files.path = env || '/' || name
    where files.skill is not skills.id or solved > shown or baseline_solved > baseline
    or min(solved, baseline_solved, wins, losses) < 0
    or typeof(env) || typeof(name) || typeof(kind) || typeof(status) || typeof(description) || typeof(digest)
        <> 'texttexttexttexttexttext'
    or typeof(pinned) || typeof(version) || typeof(shown) || typeof(baseline) || typeof(failing)
        <> 'integerintegerintegerintegerinteger'
    or typeof(solved) || typeof(baseline_solved) || typeof(wins) || typeof(losses) <> 'integerintegerintegerinteger'
union all select 1 from files where typeof(path) || typeof(signature) || typeof(coalesce(fault, '')) <> 'texttexttext'
union all select 1 from vectors where typeof(vector) <> 'blob'
"""
"""Finds rows that ``put_skill``, ``put_fault`` and ``put_vectors`` never write: SQLite itself checks no types."""

_SCHEMA_QUERY = "select type, name, sql from sqlite_schema where name not like 'sqlite_%' order by type, name"


def is_own(db: sqlite3.Connection) -> bool:
    """Whether the file holds what codeplan writes: its tables, and rows that fit together.

    Views and triggers from elsewhere could run without end, and rows could list skills that do not exist.
    """
    version = db.execute("pragma user_version").fetchone()[0]
    return (
        version == SCHEMA_VERSION
        and db.execute(_SCHEMA_QUERY).fetchall() == _expected_schema()
        and db.execute(f"select exists ({_FOREIGN_ROWS})").fetchone()[0] == 0
    )


def create(db: sqlite3.Connection) -> None:
    """Replace the file's tables by empty ones."""
    db.execute("begin immediate")
    for kind, name in db.execute(
        "select type, name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite_%'"
    ).fetchall():
        quoted = name.replace('"', '""')
        db.execute(f'drop {kind} if exists "{quoted}"')
    for statement in _TABLES.strip().split(";\n"):
        db.execute(statement.rstrip(";"))
    db.execute(f"pragma user_version = {SCHEMA_VERSION}")
    db.execute("commit")


@functools.cache
def _expected_schema() -> list[tuple[str, str, str | None]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for statement in _TABLES.strip().split(";\n"):
            db.execute(statement.rstrip(";"))
        return db.execute(_SCHEMA_QUERY).fetchall()
