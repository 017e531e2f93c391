"""What the trials of a skill come to, with the intervals that go with so many."""

from __future__ import annotations

from collections.abc import Sequence

from codeplan.skills.evidence import tally
from codeplan.skills.sequential import e_value
from codeplan.skills.values import Skill, Trial
from codeplan.statistics import mcnemar_exact, wilson
from codeplan.types import Value


class Figures(Value, frozen=True):
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
    plain: int
    plain_solved: int
    plain_interval: tuple[float, float]
    wins: int
    losses: int
    p: float
    e: float
    failing: bool


def figures(skill: Skill, trials: Sequence[Trial]) -> Figures:
    """The figures of a skill's present version."""
    t = tally(trials, skill.version)
    return Figures(
        skill=skill.name,
        env=skill.env,
        version=skill.version,
        status=skill.status,
        shown=t.shown,
        solved=t.solved,
        interval=wilson(t.solved, t.shown),
        plain=t.plain,
        plain_solved=t.plain_solved,
        plain_interval=wilson(t.plain_solved, t.plain),
        wins=t.wins,
        losses=t.losses,
        p=mcnemar_exact(t.losses, t.wins),
        e=e_value(t.wins, t.losses),
        failing=t.failing,
    )
