"""The index: an SQLite file derived from the skills' folders, for fast queries. It may be deleted at any time.

Full-text search is FTS5's, ranked by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009,
section 3).
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from codeplan import durable_files
from codeplan.skills import skill_folder
from codeplan.skills.skill import EvidenceRecord, EvidenceSummary, Skill, SkillStatus, summarise_evidence
from codeplan.skills.skill_folder import DamagedSkill, plan_digest
from codeplan.types import Value
from codeplan.untrusted.files import list_folder

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


MAX_QUERY_WORDS = 8
COMMON_WORD_SKILLS = 1_000
"""From this many skills on, a word is too common to choose a skill by it alone."""

_EVERYWHERE = 5_000
"""From this many skills on, a word does not even order them: FTS5 reads all rows of a word to rank by it."""

BUSY_SECONDS = 30.0

_USABLE = "and status = 'active' and failing = 0"


class IndexEntry(Value, frozen=True):
    """The index's data about a skill: everything except its plan and its evidence records."""

    env: str
    name: str
    kind: str
    status: SkillStatus
    pinned: bool
    version: int
    description: str
    digest: str
    evidence: EvidenceSummary
    score: float = 0.0


class SkillIndex:
    """One connection to an index. Not thread-safe."""

    def __init__(self, path: Path | None) -> None:
        """Open the index; create it if it is missing, or not one of ours. ``None`` keeps it in memory.

        Raises: sqlite3.Error if the file is damaged or cannot be written.
        """
        name = ":memory:" if path is None else str(path)
        self._db = sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = off")  # data lost in a crash is derived again
            if not is_own(self._db):
                create(self._db)
        except BaseException:
            self._db.close()
            raise
        self._counted_at, self._counts = (0, 0), dict[str, int]()
        self._closing = weakref.finalize(self, self._db.close)  # closing a library is optional

    def close(self) -> None:
        """Close the connection."""
        self._closing()

    # -------------------------------------------------------------- writing

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make the changes inside visible to others as a whole, or not at all."""
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def put_skill(
        self,
        path: str,
        signature: str,
        skill: Skill,
        digest: str,
        evidence: EvidenceSummary,
        records: Iterable[EvidenceRecord],
        fault: str | None = None,
    ) -> None:
        """Replace the entry of a skill's folder; ``fault`` says what in the folder cannot be used."""
        number = self.remove(path)
        place, state = (skill.env, skill.name, skill.kind), (skill.status, skill.pinned, skill.version)
        row = (number, *place, *state, skill.description, digest, *msgspec.structs.astuple(evidence))
        number = self._db.execute(f"insert into skills values ({', '.join('?' * len(row))})", row).lastrowid
        pieces = (*skill.pieces.does, skill.pieces.has)
        said = [*skill.said, *(" ".join(group) for group in (*skill.words, *pieces))]
        known = [*(o.goal for o in skill.origins if o.goal), *said]
        goals = "\n".join(dict.fromkeys(known))
        tags = f"e{_hex(skill.env)} k{_hex(skill.kind)} {skill.status}"
        text = (number, tags, skill.name, skill.description, goals)
        self._db.execute("insert into texts (rowid, tags, name, description, goals) values (?, ?, ?, ?, ?)", text)
        runs = {o.run for o in skill.origins} | {t.run for t in records}
        self._db.executemany("insert into runs values (?, ?)", [(number, run) for run in runs if run])
        self._db.execute("insert into files values (?, ?, ?, ?)", (path, signature, number, fault))

    def put_fault(self, path: str, signature: str, fault: str) -> None:
        """Replace the entry of a folder that cannot be used by the reason."""
        self.remove(path)
        self._db.execute("insert into files values (?, ?, null, ?)", (path, signature, fault))

    def remove(self, path: str) -> int | None:
        """Remove a folder's entry and return its skill's row number, None if it had none."""
        found = self._db.execute("select skill from files where path = ?", (path,)).fetchone()
        if found is None:
            return None
        number: int | None = found[0]
        self._db.execute("delete from files where path = ?", (path,))
        if number is not None:
            for table, key in (("skills", "id"), ("texts", "rowid"), ("runs", "skill")):
                self._db.execute(f"delete from {table} where {key} = ?", (number,))
        return number

    def clear(self) -> None:
        """Remove all entries."""
        for table in ("skills", "runs", "files", "vectors", "texts"):
            self._db.execute(f"delete from {table}")

    def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors of texts, by embedding model and digest of the text."""
        rows = [(model, digest, vector) for digest, vector in vectors.items()]
        self._db.executemany("insert or replace into vectors values (?, ?, ?)", rows)

    # -------------------------------------------------------------- reading

    def signatures(self) -> dict[str, str]:
        """Return the signature of each folder, by its path in the library."""
        return dict(self._db.execute("select path, signature from files"))

    def faults(self) -> list[str]:
        """Return why folders cannot be used, ordered by path."""
        return [fault for (fault,) in self._db.execute("select fault from files where fault is not null order by path")]

    def entries(
        self, env: str | None = None, kind: str | None = None, status: SkillStatus | None = None
    ) -> list[IndexEntry]:
        """Return the skills, ordered by environment, kind and name."""
        given = {"env": env, "kind": kind, "status": status}
        where = " and ".join(f"{n} = ?" for n, v in given.items() if v is not None) or "true"
        values = [v for v in given.values() if v is not None]
        rows = self._db.execute(f"select *, 0.0 from skills where {where} order by env, kind, name", values)
        return [_entry_from_row(row) for row in rows]

    def entries_of_run(self, run: str) -> list[IndexEntry]:
        """Return the skills that an episode created or tried."""
        query = "select *, 0.0 from skills where id in (select skill from runs where run = ?) order by env, name"
        return [_entry_from_row(row) for row in self._db.execute(query, (run,))]

    def search(self, words: Sequence[str], limit: int, env: str | None = None) -> list[IndexEntry]:
        """Return skills of any status, the best match for the words first.

        Very common words are slow to rank and carry no information, so they count only if no other word matches.
        """
        rare, common = self._split_words_by_rarity(words)
        return self._search_text("", [f"e{_hex(env)}"] if env is not None else [], [rare or common[:1]], limit)

    def rank_for_task(self, env: str, kind: str, words: Sequence[str], limit: int) -> list[IndexEntry]:
        """Return active skills that are not failing, best match first; an empty kind stands for all.

        A skill has a rare word of the task; common ones order these, where each word alone has many skills. If too few
        match, the other skills of the kind follow, by the number of tasks that they solved.
        """
        tags = [f"e{_hex(env)}", "active", *([f"(k{_hex(kind)} OR k{_hex('')})"] if kind else [])]
        rare, common = self._split_words_by_rarity(words)
        ordering = [w for w in common if self._count_skills_with(w.strip('"')) < _EVERYWHERE][:MAX_QUERY_WORDS]
        found = self._search_text(_USABLE, tags, [rare, ordering], limit)
        if len(found) < limit:
            found += [
                e for e in self._search_text(_USABLE, tags, [rare], limit) if e.name not in {f.name for f in found}
            ]
        if len(found) >= limit:
            return found[:limit]
        names = {e.name for e in found}
        more = self.usable(env, kind, limit + len(found))
        return [*found, *(e for e in more if e.name not in names)][:limit]

    def usable(self, env: str, kind: str, limit: int = -1) -> list[IndexEntry]:
        """Return active skills that are not failing, by the number of solved tasks; -1 is no limit."""
        of_kind = "and kind = ?" if kind else ""  # one kind at a time: the SQL index is ordered within a kind
        query = f"select *, 0.0 from skills where env = ? {of_kind} {_USABLE} order by solved desc, name limit ?"
        given = [[env, kind, limit], [env, "", limit]] if kind else [[env, limit]]
        found = [_entry_from_row(row) for values in given for row in self._db.execute(query, values)]
        found.sort(key=lambda e: (-e.evidence.solved, e.name))
        return found if limit < 0 else found[:limit]

    def read_vectors(self, model: str, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the stored vectors of these texts, by digest."""
        query = "select vector from vectors where model = ? and digest = ?"
        found = ((digest, self._db.execute(query, (model, digest)).fetchone()) for digest in digests)
        return {digest: row[0] for digest, row in found if row}

    def _search_text(
        self, where: str, tags: list[str], groups: Sequence[Sequence[str]], limit: int
    ) -> list[IndexEntry]:
        """The skills that have a word of each group."""
        if not all(groups):
            return []
        texts = (f"{{name description goals}} : ({' OR '.join(words)})" for words in groups)
        match = " AND ".join([*(f"tags : {tag}" for tag in tags), *texts])
        query = (
            "select s.*, -bm25(texts, 0.0, 2.0, 1.0, 1.0) as score from texts join skills s on s.id = texts.rowid "
            f"where texts match ? {where} order by score desc, solved desc, name limit ?"
        )
        return [_entry_from_row(row) for row in self._db.execute(query, (match, limit))]

    def _split_words_by_rarity(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """The rare words, rarest first, and the common ones, quoted for FTS5."""
        counted = {f'"{word}"': self._count_skills_with(word) for word in dict.fromkeys(words)}
        there = sorted((word for word, number in counted.items() if number), key=lambda word: counted[word])
        rare = [word for word in there if counted[word] < COMMON_WORD_SKILLS]
        return rare[:MAX_QUERY_WORDS], there[len(rare) :]

    def _count_skills_with(self, word: str) -> int:
        """How many skills have the word, at most _EVERYWHERE. Cached until the index changes."""
        version = self._db.execute("pragma data_version").fetchone()[0], self._db.total_changes
        if version != self._counted_at:
            self._counted_at, self._counts = version, {}
        if word not in self._counts:
            query = "select count(*) from (select rowid from texts where texts match ? limit ?)"
            match = f'{{name description goals}} : "{word}"'
            self._counts[word] = self._db.execute(query, (match, _EVERYWHERE)).fetchone()[0]
        return self._counts[word]


def search_words(text: str) -> list[str]:
    """Return the words of a text that a search uses."""
    letters = "".join(c.lower() if c.isalnum() else " " for c in text[:4_000])
    return list(dict.fromkeys(letters.split()))[:24]


def _hex(text: str) -> str:
    """Encode the text as one word that neither stemming nor tokenising changes."""
    return f"{text.encode().hex()}0"


def _entry_from_row(row: Sequence[Any]) -> IndexEntry:
    _, env, name, kind, status, pinned, version, about, digest, a, b, c, d, e, f, failing, score = row
    tally = EvidenceSummary(a, b, c, d, e, f, bool(failing))  # in the order of the columns
    return IndexEntry(env, name, kind, status, bool(pinned), version, about, digest, tally, round(score, 4))


# ------------------------------------------------------------------ in step with the folders

INDEX_FILE = ".index.sqlite"
_JOURNAL = "-journal"
"""The suffix of SQLite's journal. A crafted journal could make SQLite delete any file. An index has a journal only for
a moment, while it is created.
"""

_T = TypeVar("_T")


class SynchronisedIndex:
    """The index of the library at ``path``: a file there, or in memory if the folder is not writable.

    Callers that write hold the library's lock. Not thread-safe.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: SkillIndex | None = None

    def close(self) -> None:
        """Close the index; the next use opens it again."""
        if self._open is not None:
            self._open.close()
        self._open = None

    def query(self, operation: Callable[[SkillIndex], _T]) -> _T:
        """Return the operation's result; a damaged index is rebuilt first."""
        try:
            return operation(self._index())
        except sqlite3.DatabaseError:
            self.rebuild()
            return operation(self._index())

    def is_outdated(self) -> bool:
        """Whether a folder has changed since it was indexed."""
        return self.query(lambda index: index.signatures()) != dict(self._signatures(self.skill_folders()))

    def update(self) -> None:
        """Index the changed folders and remove the entries of missing ones."""
        known = self.query(lambda index: index.signatures())
        now = dict(self._signatures(self.skill_folders()))
        changed = {place: signature for place, signature in now.items() if known.get(place) != signature}
        if changed or known.keys() - now.keys():
            self.query(lambda index: self._apply_changes(index, changed, known.keys() - now.keys()))

    def update_folder(self, place: str) -> None:
        """Index one folder (``environment/name``) after a write."""
        self.query(lambda index: self._apply_changes(index, dict(self._signatures([place])), ()))

    def rebuild(self) -> None:
        """Build the index again from the folders."""
        with contextlib.suppress(OSError):
            os.unlink(f"{self._path / INDEX_FILE}{_JOURNAL}")
        try:
            self._fill(self._index())
        except sqlite3.DatabaseError:
            self.close()
            for left in self._path.glob(f"{INDEX_FILE}*"):
                left.unlink(missing_ok=True)
            self._fill(self._index())

    def skill_folders(self) -> Iterator[str]:
        """Yield the skills' folders as ``environment/name``."""
        for environment in _list_folders(str(self._path)):
            inside = _list_folders(f"{self._path}/{environment}", str(self._path))
            yield from (f"{environment}/{name}" for name in inside)

    def temporary_files(self) -> list[Path]:
        """Return what crashed writers have left behind."""
        folders = [self._path / place for place in (*_list_folders(str(self._path)), *self.skill_folders())]
        return [folder / name for folder in folders for name in os.listdir(folder) if durable_files.is_temporary(name)]

    # -------------------------------------------------------------- the parts

    def _index(self) -> SkillIndex:
        if self._open is None:
            file = self._path / INDEX_FILE if os.access(self._path, os.W_OK) else None
            if file is not None and not _is_usable(file):
                file = None
            try:
                self._open = SkillIndex(file)
            except sqlite3.OperationalError:  # a file system that SQLite does not support
                self._open = SkillIndex(None)
        return self._open

    def _fill(self, index: SkillIndex) -> None:
        with index.transaction():
            index.clear()
            for place, signature in self._signatures(self.skill_folders()):
                self._put_folder(index, place, signature)

    def _apply_changes(self, index: SkillIndex, changed: dict[str, str], gone: Iterable[str]) -> None:
        with index.transaction():
            for place in gone:
                index.remove(place)
            for place, signature in changed.items():
                self._put_folder(index, place, signature)

    def _put_folder(self, index: SkillIndex, place: str, signature: str) -> None:
        where = self._path / place
        try:
            skill = skill_folder.read_skill(where)
            records, bad = skill_folder.read_evidence(where)
        except DamagedSkill as e:
            index.put_fault(place, signature, str(e))
            return
        lines = ", ".join(map(str, bad[:10]))
        fault = f"{where / skill_folder.EVIDENCE}: no record can be read from line {lines}" if bad else None
        summary = summarise_evidence(records, skill.version)
        index.put_skill(place, signature, skill, plan_digest(skill.plan), summary, records, fault)

    def _signatures(self, places: Iterable[str]) -> Iterator[tuple[str, str]]:
        root = str(self._path)
        for place in places:
            found = skill_folder.signature(f"{root}/{place}")
            if found is not None:
                yield place, found


def _list_folders(path: str, below: str | None = None) -> list[str]:
    """The names of a folder's visible sub-folders that are valid text, without links; none if it cannot be read."""
    with contextlib.suppress(OSError):
        return [e.name for e in list_folder(path, below) if e.is_folder and e.name[0] != "." and _is_text(e.name)]
    return []


def _is_usable(index: Path) -> bool:
    """Whether SQLite may open the index: its files are our own, and it has no journal."""
    return not os.path.lexists(f"{index}{_JOURNAL}") and all(
        _is_own_file(Path(f"{index}{e}")) for e in ("", "-wal", "-shm")
    )


def _is_own_file(path: Path) -> bool:
    """Whether SQLite may write here: the file is missing, or a regular one whose only name this is."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8; an index can hold no other."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)
