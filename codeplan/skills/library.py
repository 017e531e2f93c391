"""The skill library: a folder of skills that many processes may read and write at once."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from codeplan import durable_files
from codeplan.errors import UsageError
from codeplan.skills import skill_folder
from codeplan.skills.embeddings import Embedder, EmbeddingRanker
from codeplan.skills.index import IndexEntry, SkillIndex, SynchronisedIndex, search_words
from codeplan.skills.skill import EvidenceRecord, Skill, SkillStatus
from codeplan.skills.skill_folder import DamagedSkill
from codeplan.types import Task
from codeplan.untrusted import files
from codeplan.untrusted.texts import shell_word
from codeplan.untrusted.values import in_quotes

LOCK_FILE, IGNORE_FILE = ".lock", ".gitignore"
_IGNORE_RULES = "# derived from the folders, or temporary\n.index.sqlite*\n.lock\n.*.tmp\n"

_T = TypeVar("_T")
_SPARE_ENTRIES = 8
_MAX_LIMIT = 1_000_000  # a larger limit means all skills


class SkillLibrary:
    """Skills in a folder, ``<environment>/<name>/``; a SkillStore. Safe between threads and between processes.

    The first write creates the folder. On opening and in ``refresh``, the index is updated from the folders, whatever
    changed them; ``faults`` lists the folders that cannot be used, which stay as they are. If the folder is not
    writable, the index is kept in memory. Raises: UsageError if ``path`` is not a folder.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path} is not a folder; name the folder of a skill library")
        self._mutex = threading.RLock()
        self._index = SynchronisedIndex(self.path)
        self.refresh()

    def __repr__(self) -> str:
        return f"SkillLibrary({str(self.path)!r})"

    @property
    def writable(self) -> bool:
        """Whether the folder's permissions allow writing."""
        return not self.path.is_dir() or os.access(self.path, os.W_OK)

    def close(self) -> None:
        """Close the index; the next use opens it again."""
        with self._mutex:
            self._index.close()

    # -------------------------------------------------------------- the port

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """Return the active skills that fit the task best, at most ``limit``, ordered by ``SkillIndex.rank_for_task``.

        Each is read from its folder; retired and damaged skills are left out, even if the index has them as active.
        """
        words, limit = search_words(f"{task.goal} {task.kind}"), min(limit, _MAX_LIMIT)
        ranked = self._query(lambda index: index.rank_for_task(task.env, task.kind, words, limit + _SPARE_ENTRIES))
        return self._load_active(ranked, limit)

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """Like ``find``, but ordered by the similarity of description and plan to the task's goal."""
        entries = self._query(lambda index: index.usable(task.env, task.kind))
        ranked = EmbeddingRanker(self, embedder, self._load_if_active).rank(task.goal, entries)
        return self._load_active(ranked, min(limit, _MAX_LIMIT))

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Append an evidence record durably. Raises: UsageError if there is no such skill."""
        record = record if record.at else msgspec.structs.replace(record, at=round(time.time(), 3))
        with self._locked_folder(skill.env, skill.name) as place:
            durable_files.append_line(place / skill_folder.EVIDENCE, msgspec.json.encode(record), self.path)

    # -------------------------------------------------------------- reading

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """Return a skill, or an earlier version of it. Raises: UsageError if it is missing or damaged."""
        place = self._existing_folder(env, name)
        try:
            return skill_folder.read_skill(place) if version is None else skill_folder.read_version(place, version)
        except DamagedSkill as e:
            raise UsageError(str(e)) from None

    def get_by_name(self, name: str, version: int | None = None) -> Skill:
        """Return the skill with this name or ``environment/name``.

        Raises: UsageError: there is none, it is damaged, or two environments have a usable one.
        """
        env, _, own = name.rpartition("/")
        if env:
            return self.get(env, own, version)
        there = sorted(p.split("/")[0] for p in self._index.skill_folders() if p.split("/")[1] == own)
        there = [env for env in there if skill_folder.is_usable(self.path / env / own)] or there[:1]
        if len(there) > 1:
            raise UsageError(f"{' and '.join(there)} have a skill {own}; name it as in {there[0]}/{own}")
        if not there:
            raise self._missing(in_quotes(name, 120))
        return self.get(there[0], own, version)

    def read_evidence(self, skill: Skill) -> list[EvidenceRecord]:
        """Return a skill's evidence records, oldest first. Raises: UsageError if they cannot be read."""
        try:
            return skill_folder.read_evidence(self._existing_folder(skill.env, skill.name))[0]
        except DamagedSkill as e:
            raise UsageError(str(e)) from None

    def entries(
        self, env: str | None = None, kind: str | None = None, status: SkillStatus | None = None
    ) -> list[IndexEntry]:
        """Return the index entries, ordered by environment, kind and name."""
        return self._query(lambda index: index.entries(env, kind, status))

    def search(self, text: str, limit: int = 20, env: str | None = None) -> list[IndexEntry]:
        """Return skills of any status whose name, description or goals match words of the text, best first."""
        return self._query(lambda index: index.search(search_words(text), min(limit, _MAX_LIMIT), env))

    def entries_of_run(self, run: str) -> list[IndexEntry]:
        """Return the skills that an episode created or tried; ``run`` is its folder, in any spelling."""

        def found(written: str) -> list[IndexEntry]:
            return self._query(lambda index: index.entries_of_run(written))

        forms = (run, os.path.normpath(run), os.path.relpath(run), os.path.abspath(run)) if run else ()
        return next(filter(None, map(found, forms)), [])

    def has_name(self, env: str, name: str) -> bool:
        """Whether a skill has this name, or a file, a damaged skill or a link, which may lead nowhere."""
        return os.path.lexists(self._folder(env, name))

    def faults(self) -> list[str]:
        """Return what cannot be used: one line for each file, with the reason."""
        return self._query(lambda index: index.faults())

    def read_vectors(self, model: str, digests: Sequence[str]) -> dict[str, bytes]:
        """Return the index's cached vectors by digest."""
        with self._mutex:
            return self._index.query(lambda index: index.read_vectors(model, digests))

    # -------------------------------------------------------------- writing

    def add(self, skill: Skill) -> Skill:
        """Add a new skill. Raises: UsageError: the name is taken or not one of the standard's, or its folder
        cannot be created.
        """
        skill_folder.require_valid_name(skill.env, "an environment")
        place = self._folder(skill.env, skill_folder.require_standard_name(skill.name))
        with self._lock():
            if self.has_name(skill.env, skill.name):
                raise UsageError(f"{self.path} already has a skill {skill.env}/{skill.name}")
            try:
                skill_folder.create_folder(place, skill)
            except OSError as e:
                raise UsageError(f"the skill {place} cannot be created: {e.strerror}") from None
            self._index.update_folder(f"{skill.env}/{skill.name}")
        return skill

    def change(self, skill: Skill, **changes: object) -> Skill:
        """Change a skill's fields and return it. A new plan makes it a new version and a candidate again.

        Raises: UsageError if there is no such skill.
        """
        with self._locked_folder(skill.env, skill.name) as place:
            old = self.get(skill.env, skill.name)
            new = msgspec.structs.replace(old, **changes)
            if new.plan == old.plan:
                skill_folder.update_manifest(place, new)
            else:
                new = msgspec.structs.replace(new, version=old.version + 1, status="candidate")
                skill_folder.replace_plan(place, old, new)
        return new

    def merge(self, into: Skill, other: Skill) -> Skill:
        """Merge ``other`` into ``into``, which takes its origins and evidence, and retire ``other``.

        Evidence for the current plan of ``into`` counts for its version; all other records are kept with version 0, as
        history. Merging again adds nothing twice. Raises: UsageError if they are the same skill or for different
        environments.
        """
        if (into.env, into.name) == (other.env, other.name):
            raise UsageError(f"{into.env}/{into.name} cannot be merged with itself")
        if into.env != other.env:
            raise UsageError(f"{into.env}/{into.name} and {other.env}/{other.name} are for different environments")
        origins = tuple(dict.fromkeys([*into.origins, *other.origins]))
        same, there = into.plan == other.plan, set(self.read_evidence(into))
        for record in self.read_evidence(other):
            version = into.version if same and record.version == other.version else 0
            if (taken := msgspec.structs.replace(record, version=version)) not in there:
                self.record(into, taken)
        merged = self.change(into, origins=origins)
        self.change(other, status="retired")
        return merged

    def store_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Cache vectors in the index, by embedding model and digest."""
        with self._lock():
            self._index.query(lambda index: index.put_vectors(model, vectors))

    def rebuild(self, on_change: Callable[[Skill], None] = lambda changed: None) -> int:
        """Build the index again, finish interrupted changes, and take plans edited by hand as new candidate versions.

        ``on_change`` gets each skill that this changed. Returns the number of skills' folders.
        """
        with self._lock():
            for left in self._index.temporary_files():
                durable_files.remove_tree(left)
            self._index.rebuild()
            places = list(self._index.skill_folders())
            for place in places:
                with contextlib.suppress(DamagedSkill):
                    if changed := skill_folder.repair(self.path / place):
                        self._index.update_folder(place)
                        on_change(changed)
        return len(places)

    def refresh(self) -> None:
        """Update the index from the folders."""
        with self._mutex:
            if self.path.is_dir() and self._index.is_outdated():
                with self._lock():
                    self._index.update()

    # -------------------------------------------------------------- the parts

    def _query(self, question: Callable[[SkillIndex], list[_T]]) -> list[_T]:
        with self._mutex:
            try:
                return self._index.query(question) if self.path.is_dir() else []
            except UnicodeEncodeError:  # the query holds half of a surrogate pair, which no stored text contains
                return []

    def _load_active(self, entries: Sequence[IndexEntry], limit: int) -> list[Skill]:
        """The first skills that exist and are active, with their entries' scores."""
        found = (msgspec.structs.replace(s, score=e.score) for e in entries if (s := self._load_if_active(e)))
        return list(itertools.islice(found, limit))

    def _load_if_active(self, entry: IndexEntry) -> Skill | None:
        """The skill in the entry's folder; None if it is retired or damaged."""
        with contextlib.suppress(DamagedSkill):
            skill = skill_folder.read_skill(self._folder(entry.env, entry.name))
            return skill if skill.status == "active" else None
        return None

    @contextlib.contextmanager
    def _locked_folder(self, env: str, name: str) -> Iterator[Path]:
        """Lock the library and yield a skill's folder for writing; update the index afterwards.

        Raises: UsageError: there is no such skill, or it is damaged.
        """
        place = self._existing_folder(env, name)
        with self._lock():
            try:
                yield place
            except DamagedSkill as e:
                raise UsageError(str(e)) from None
            self._index.update_folder(f"{env}/{name}")

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Exclude all other threads and processes. A read-only library needs no lock between processes."""
        with self._mutex:
            if not self.writable:
                yield
                return
            self._create_folder()
            with durable_files.exclusive_lock(self.path / LOCK_FILE):
                yield

    def _create_folder(self) -> None:
        """Create the library's folder if it is missing."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(self.path / IGNORE_FILE):
                files.write_atomically(self.path / IGNORE_FILE, _IGNORE_RULES)
        except OSError as e:
            raise UsageError(f"the skill library {self.path} cannot be created: {e.strerror}") from None

    def _existing_folder(self, env: str, name: str) -> Path:
        place = self._folder(env, name)
        if not place.is_dir():
            raise self._missing(f"{env}/{name}")
        return place

    def _missing(self, name: str) -> UsageError:
        see = f"codeplan skills list --library {shell_word(self.path)}"
        return UsageError(f"there is no skill {name} in {self.path}; {see} shows its skills")

    def _folder(self, env: str, name: str) -> Path:
        return (
            self.path / skill_folder.require_valid_name(env, "an environment") / skill_folder.require_valid_name(name)
        )


class ReadOnlyStore:
    """A library that is only read: episodes leave no evidence."""

    def __init__(self, library: SkillLibrary) -> None:
        self._library = library

    def __repr__(self) -> str:
        """Omit the library's path: a tape may be played with a library in another folder."""
        return "ReadOnlyStore"

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """Return what the library finds."""
        return self._library.find(task, limit)

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """Return what the library finds by embeddings."""
        return self._library.nearest(task, limit, embedder)

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """Return the library's skill."""
        return self._library.get(env, name, version)

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Ignore the record."""


class FixedStore:
    """A SkillStore of given skills, whatever their status, for tasks of their environment."""

    def __init__(self, *skills: Skill) -> None:
        self.skills = skills

    def __repr__(self) -> str:
        return f"FixedStore({', '.join(f'{s.env}/{s.name}@{s.version}' for s in self.skills)})"

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """Return the first ``limit`` skills for the task's environment."""
        return [s for s in self.skills if s.env == task.env][:limit]

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """Like ``find``: there is nothing to rank."""
        return self.find(task, limit)

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """Return one of these skills. Raises: UsageError for another."""
        for skill in self.skills:
            if (skill.env, skill.name) == (env, name) and version in (None, skill.version):
                return skill
        raise UsageError(f"the skill {env}/{name} in version {version} does not exist")

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Ignore the record: the store's creator keeps the evidence."""


class MissingStore:
    """Replaces the library of a recorded episode that is replayed without it. The trace holds the chosen skills.

    Raises: UsageError if the episode asks for further skills.
    """

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """Raise UsageError."""
        raise UsageError(
            "the episode's skill library, the library of the recording, is not available; name it, as in "
            "--set library=FOLDER"
        )

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """Raise UsageError."""
        return self.find(task, limit)

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """Raise UsageError."""
        raise UsageError(f"the skill {env}/{name} is not available; name its library, as in --set library=FOLDER")

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Ignore the record."""
