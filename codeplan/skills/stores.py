"""Stores that keep no evidence: of fixed skills, of a library that is only read, and of a missing library."""

from __future__ import annotations

from collections.abc import Sequence

from codeplan.errors import UsageError
from codeplan.skills.embeddings import Embedder
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.types import Task


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

    def __init__(self, name: str) -> None:
        self._name = name

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """Raise UsageError."""
        raise UsageError(
            f"the episode's skill library, {self._name}, is not available; name it, as in --set library=FOLDER"
        )

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """Raise UsageError."""
        return self.find(task, limit)

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """Raise UsageError."""
        raise UsageError(f"the skill {env}/{name} is not available; name its library, as in --set library=FOLDER")

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Ignore the record."""
