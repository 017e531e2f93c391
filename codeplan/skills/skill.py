"""What a skill is, and what a trial of one is."""

from __future__ import annotations

from typing import Literal

from codeplan.types.value import Value

SkillStatus = Literal["candidate", "active", "retired"]
"""``candidate``: not shown to help yet; ``active``: shown to planners; ``retired``: never shown again."""

EvidencePhase = Literal["acquire", "filter", "check", "use"]
"""What a trial was made for: to prove a new candidate on its own task, to compare with and without, to see whether an
active skill still works, or in an episode that somebody ran."""


class SkillOrigin(Value, frozen=True):
    """An episode whose success became the skill: its task, the model, and the run, empty where it left no trace."""

    task: str
    goal: str = ""
    model: str = ""
    run: str = ""


class Skill(Value, frozen=True):
    """A plan for a kind of task, with parameters that are set at its head.

    ``kind`` is empty where it is for any kind; ``parameters`` are names that ``codeplan.skills.binding`` finds in the
    plan. ``version`` counts from 1 and grows when the plan changes; evidence holds for one version. ``pinned`` keeps
    it as it is: no curation changes its status. ``score`` says how well it fits the task it was found for (higher is
    better), 0 outside of a search.
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

    ``version`` is the skill's; ``shown`` says whether the episode had it; ``run`` names the episode's folder, empty
    where it left no trace; ``at`` is Unix time. Two trials of the same task, seed, model and phase, one with the skill
    and one without, are a pair.
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
