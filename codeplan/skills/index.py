"""The index: an SQLite file derived from the skills' folders, for fast queries. It may be deleted at any time.

Full-text search is FTS5's, ranked by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009,
section 3).
"""

from __future__ import annotations

import contextlib
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from codeplan.skills import index_schema
from codeplan.skills.evidence import EvidenceSummary
from codeplan.skills.skill import EvidenceRecord, Skill, SkillStatus
from codeplan.types import Value

MAX_QUERY_WORDS = 8
COMMON_WORD_SKILLS = 1_000
"""From this many skills on, a word is too common to help in choosing a skill."""

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
            if not index_schema.is_own(self._db):
                index_schema.create(self._db)
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
        goals = "\n".join(dict.fromkeys(o.goal for o in skill.origins if o.goal))
        text = (number, _tags(skill), skill.name, skill.description, goals)
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
        return self._search_text("", [f"e{_hex(env)}"] if env is not None else [], rare or common[:1], limit)

    def rank_for_task(self, env: str, kind: str, words: Sequence[str], limit: int) -> list[IndexEntry]:
        """Return active skills that are not failing, best match first; an empty kind stands for all.

        If too few match a word, the other skills of the kind follow, by the number of tasks that they solved.
        """
        tags = [f"e{_hex(env)}", "active", *([f"(k{_hex(kind)} OR k{_hex('')})"] if kind else [])]
        found = self._search_text(_USABLE, tags, self._split_words_by_rarity(words)[0], limit)
        if len(found) >= limit:
            return found
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

    def _search_text(self, where: str, tags: list[str], words: Sequence[str], limit: int) -> list[IndexEntry]:
        if not words:
            return []
        match = " AND ".join(
            [*(f"tags : {tag}" for tag in tags), f"{{name description goals}} : ({' OR '.join(words)})"]
        )
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
        """How many skills have the word, at most COMMON_WORD_SKILLS. Cached until the index changes."""
        version = self._db.execute("pragma data_version").fetchone()[0], self._db.total_changes
        if version != self._counted_at:
            self._counted_at, self._counts = version, {}
        if word not in self._counts:
            query = "select count(*) from (select rowid from texts where texts match ? limit ?)"
            match = f'{{name description goals}} : "{word}"'
            self._counts[word] = self._db.execute(query, (match, COMMON_WORD_SKILLS)).fetchone()[0]
        return self._counts[word]


def search_words(text: str) -> list[str]:
    """Return the words of a text that a search uses."""
    letters = "".join(c.lower() if c.isalnum() else " " for c in text[:4_000])
    return list(dict.fromkeys(letters.split()))[:24]


def _tags(skill: Skill) -> str:
    return f"e{_hex(skill.env)} k{_hex(skill.kind)} {skill.status}"


def _hex(text: str) -> str:
    """Encode the text as one word that neither stemming nor tokenising changes."""
    return f"{text.encode().hex()}0"


def _entry_from_row(row: Sequence[Any]) -> IndexEntry:
    _, env, name, kind, status, pinned, version, about, digest, a, b, c, d, e, f, failing, score = row
    tally = EvidenceSummary(a, b, c, d, e, f, bool(failing))  # in the order of the columns
    return IndexEntry(env, name, kind, status, bool(pinned), version, about, digest, tally, round(score, 4))
