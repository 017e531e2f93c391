"""A skill, and the evidence for it."""

from __future__ import annotations

from typing import Literal

from codeplan.types import Value

SkillStatus = Literal["candidate", "active", "retired"]
"""``candidate``: not proven yet; ``active``: shown to planners; ``retired``: never shown again."""

EvidencePhase = Literal["acquire", "filter", "check", "use"]
"""Why the episode ran: to prove a new candidate on its own task, to compare with and without it, to test an active
skill, or as a user's episode.
"""


class SkillOrigin(Value, frozen=True):
    """An episode whose success became the skill: its task, the model and the run (empty without a trace)."""

    task: str
    goal: str = ""
    model: str = ""
    run: str = ""


class Skill(Value, frozen=True):
    """A plan for a kind of task, whose parameters are set at its head.

    ``kind`` is empty if it is for any kind; ``parameters`` are the names that ``parameter_binding`` finds in the plan.
    ``version`` counts from 1 and grows with each change of the plan; evidence counts for one version. ``pinned`` keeps
    curation from changing its status. ``score`` is how well it fits the task it was found for (higher is better), 0
    outside a search.
    """

    name: str
    env: str
    plan: str
    kind: str = ""
    description: str = ""
    parameters: tuple[str, ...] = ()
    version: int = 1
    status: SkillStatus = "candidate"
    pinned: bool = False
    origins: tuple[SkillOrigin, ...] = ()
    score: float = 0.0


class EvidenceRecord(Value, frozen=True):
    """One episode with, or without, a skill in its prompt.

    ``version`` is the skill's; ``shown`` is whether the episode had it; ``run`` is the episode's folder, empty without
    a trace; ``at`` is Unix time. Two records of one task, seed, model and phase, one with the skill and one without,
    are a pair.
    """

    task: str
    seed: int
    model: str
    shown: bool
    success: bool
    version: int = 1
    phase: EvidencePhase = "use"
    run: str = ""
    at: float = 0.0
