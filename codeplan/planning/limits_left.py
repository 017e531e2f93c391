"""Computes what is left of an episode's limits, for prompts."""

from __future__ import annotations

import math

from codeplan.episode.episode import Episode
from codeplan.episode.rewind import actions_since_reset
from codeplan.protocols import LimitsActions
from codeplan.types import Value


class LimitsLeft(Value, frozen=True):
    """What is left of each limit; None means no limit.

    ``asks`` counts the questions of one run, ``tries`` the runs of a plan, including the next one.
    """

    actions: int | None = None
    asks: int | None = None
    tries: int | None = None
    replans: int | None = None
    seconds: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each limit, such as ``actions: 50``; none for what has no limit."""
        given = {
            "actions": self.actions,
            "questions (ask_llm) in a run": self.asks,
            "runs of a plan": self.tries,
            "replans": self.replans,
            "seconds": self.seconds,
        }
        return tuple(f"{name}: {left}" for name, left in given.items() if left is not None)


def limits_left(episode: Episode, *, asks: int | None, tries: int | None, replans: int | None) -> LimitsLeft:
    """The limits of a plan's next run, computed before its prompt is sent.

    ``asks`` is the sandbox's limit for one run; ``tries`` and ``replans`` are what the method has left, None without
    such a limit. The environment's limit and the budget lower them. A replay gives equal values, because it takes times
    from the recorded events.
    """
    budget, meter = episode.meter.budget, episode.meter
    calls = _left(budget.model_calls, meter.model_calls + 1)  # the prompt itself is a call
    refinements = _left(budget.refinements, meter.refinements)
    return LimitsLeft(
        actions=_least(_environment_actions(episode), _left(budget.actions, meter.actions)),
        asks=None if asks is None else _least(asks, calls),
        tries=None if tries is None else _least(tries, None if refinements is None else refinements + 1),
        replans=None if replans is None else _least(replans, calls, refinements),
        seconds=_seconds(episode),
    )


def _environment_actions(episode: Episode) -> int | None:
    if not isinstance(episode.env, LimitsActions):
        return None
    return _left(episode.env.max_actions, len(actions_since_reset(episode)))


def _seconds(episode: Episode) -> int | None:
    if episode.meter.budget.seconds is None:
        return None
    events = episode.trace.events
    return max(0, math.floor(episode.meter.budget.seconds - (events[-1].at - events[0].at)))


def _left(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(0, limit - used)


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
