"""Stores that keep no evidence: of certain skills, whatever their status; of a library that is only read, or is
elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from codeplan.errors import UsageError
from codeplan.skills.embeddings import Embedder
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.types.task import Task


class ReadOnlyStore:
    """A library that is only read: what comes of episodes is no evidence."""

    def __init__(self, library: SkillLibrary) -> None:
        self._library = library

    def __repr__(self) -> str:
        """Without the library's place: what is discovered may be played from a tape into another."""
        return "Unrecorded(Library)"

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """What the library finds."""
        return self._library.find(task, limit)

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """What the library finds by vectors."""
        return self._library.nearest(task, limit, embedder)

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """The library's skill."""
        return self._library.get(env, name, version)

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Nothing is kept."""


class FixedStore:
    """A SkillStore of the skills it was made with, for tasks of their environment. It keeps no trials."""

    def __init__(self, *skills: Skill) -> None:
        self.skills = skills

    def __repr__(self) -> str:
        return f"OnlyThese({', '.join(f'{s.env}/{s.name}@{s.version}' for s in self.skills)})"

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """The first skills for the task's environment, at most ``limit``."""
        return [s for s in self.skills if s.env == task.env][:limit]

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """The same: there is nothing to choose."""
        return self.find(task, limit)

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """One of these skills. Raises UsageError for another."""
        for skill in self.skills:
            if (skill.env, skill.name) == (env, name) and version in (None, skill.version):
                return skill
        raise UsageError(f"the skill {env}/{name} in version {version} is not there")

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Nothing is kept: whoever made this store keeps the trials."""


class MissingStore:
    """The SkillStore of an episode that is done again without its library: what that chose is on the trace.

    Raises UsageError where the episode goes on to ask for skills.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """There are none."""
        raise UsageError(f"the episode's skill library, {self._name}, is not here; name it, as in --set library=FOLDER")

    def nearest(self, task: Task, limit: int, embedder: Embedder) -> Sequence[Skill]:
        """There are none."""
        return self.find(task, limit)

    def get(self, env: str, name: str, version: int | None = None) -> Skill:
        """There are none."""
        raise UsageError(f"the skill {env}/{name} is not here; name its library, as in --set library=FOLDER")

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """There is no place for it."""
