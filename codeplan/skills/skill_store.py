"""The port of what finds skills for tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.types.task import Task


@runtime_checkable
class SkillStore(Protocol):
    """Skills for tasks: plans that solved others like them."""

    def find(self, task: Task, limit: int) -> Sequence[Skill]:
        """The skills to be shown for the task, best first, at most ``limit``; never one that is retired or failing."""
        ...

    def record(self, skill: Skill, record: EvidenceRecord) -> None:
        """Keep what came of an episode with the skill, or without it, as evidence."""
        ...
