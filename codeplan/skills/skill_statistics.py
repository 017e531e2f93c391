"""Statistics of a skill's evidence, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codeplan.skills.evidence import summarise_evidence
from codeplan.skills.promotion_test import e_value
from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.statistics import mcnemar_exact, wilson_interval
from codeplan.types import Value


class SkillStatistics(Value, frozen=True):
    """One version of a skill: episodes ``shown`` with it and ``baseline`` without, successes, and Wilson intervals.

    ``wins`` and ``losses`` are the discordant pairs; ``p_value`` is McNemar's exact p, ``e_value`` the evidence that
    the skill helps. ``failing`` means that most of its latest episodes failed.
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
    """Return the statistics of the skill's current version."""
    t = summarise_evidence(records, skill.version)
    return SkillStatistics(
        **msgspec.structs.asdict(t),
        skill=skill.name,
        env=skill.env,
        version=skill.version,
        status=skill.status,
        interval=wilson_interval(t.solved, t.shown),
        baseline_interval=wilson_interval(t.baseline_solved, t.baseline),
        p_value=mcnemar_exact(t.losses, t.wins),
        e_value=e_value(t.wins, t.losses),
    )
