"""The port through which methods find skills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.types import Task


@runtime_checkable
class SkillStore(Protocol):
    """Finds skills for tasks and records evidence."""

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """Return at most ``limit`` skills for the task, best first; never retired or failing ones."""
        ...

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Store the outcome of an episode with or without the skill as evidence."""
        ...
