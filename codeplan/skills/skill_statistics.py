"""What the trials of a skill come to, with the intervals that go with so many."""

from __future__ import annotations

from collections.abc import Sequence

from codeplan.skills.e_process import e_value
from codeplan.skills.evidence import summarise_evidence
from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.statistics import mcnemar_exact, wilson_interval
from codeplan.types.value import Value


class SkillStatistics(Value, frozen=True):
    """Of one version of a skill: ``shown`` trials with it and ``plain`` ones without, successes, Wilson's intervals.

    ``wins`` and ``losses`` are the discordant pairs of filtering; ``p`` is McNemar's exact p, ``e`` the e-value of the
    claim that it helps. ``failing`` says that it mostly failed of late.
    """

    skill: str
    env: str
    version: int
    status: str
    shown: int
    solved: int
    interval: tuple[float, float]
    baseline: int
    baseline_solved: int
    baseline_interval: tuple[float, float]
    wins: int
    losses: int
    p_value: float
    e_value: float
    failing: bool


def skill_statistics(skill: Skill, records: Sequence[EvidenceRecord]) -> SkillStatistics:
    """The figures of a skill's present version."""
    t = summarise_evidence(records, skill.version)
    return SkillStatistics(
        skill=skill.name,
        env=skill.env,
        version=skill.version,
        status=skill.status,
        shown=t.shown,
        solved=t.solved,
        interval=wilson_interval(t.solved, t.shown),
        baseline=t.baseline,
        baseline_solved=t.baseline_solved,
        baseline_interval=wilson_interval(t.baseline_solved, t.baseline),
        wins=t.wins,
        losses=t.losses,
        p_value=mcnemar_exact(t.losses, t.wins),
        e_value=e_value(t.wins, t.losses),
        failing=t.failing,
    )
