"""Compares an event with the recorded one, and describes the difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from codeplan.recording.events import CallBegun, EpisodeEnded, Event, PlanEnded, PlanOrigins, TurnStarted
from codeplan.types import Outcome, Stopped
from codeplan.untrusted.comparison import describe_changes
from codeplan.untrusted.values import in_quotes, value_text

TIMING_LIMITS = frozenset({"wall", "cpu", "memory"})
"""Limits that the same plan may reach at different places in different runs."""

_MAX_CHARACTERS = 300


def describe_difference(recorded: Event, event: Event) -> str:
    """How ``event`` differs from ``recorded``, times aside; empty if it does not."""
    was, now = _without_times(recorded), _without_times(event)
    if was == now:
        return ""
    if type(was) is not type(now):
        return describe_kind_mismatch(was, type(now))
    return "; ".join(_field_changes(was, now))


def describe_kind_mismatch(recorded: Event, kind: type) -> str:
    """The message that an event of ``kind`` occurs where the recording has ``recorded``."""
    return f"it was {_named(recorded)}, and is now {kind.__name__}"


def _without_times(event: Event) -> Event:
    """The event without what may differ from run to run."""
    changes: dict[str, Any] = {"seq": 0, "at": 0.0}
    if "seconds" in event.__struct_fields__:
        changes["seconds"] = 0.0
    if isinstance(event, EpisodeEnded):
        changes["result"] = msgspec.structs.replace(event.result, seconds=0.0, trace=None)
    if isinstance(event, TurnStarted):
        changes["before"] = msgspec.structs.replace(event.before, seconds=0.0, trace=None)
    if isinstance(event, PlanOrigins):  # a later version may find more
        changes |= {"sites": (), "asks": {}, "variables": (), "followed": True}
    if isinstance(event, PlanEnded):
        changes["outcome"] = _without_timing(event.outcome)
    return msgspec.structs.replace(event, **changes)


def _without_timing(outcome: Outcome) -> Outcome:
    """The outcome without the place where a limit of time or memory struck."""
    if isinstance(outcome, Stopped) and outcome.limit in TIMING_LIMITS:
        return msgspec.structs.replace(outcome, value=0.0, line=None)
    return outcome


def _field_changes(was: msgspec.Struct, now: msgspec.Struct, path: str = "") -> Iterator[str]:
    """The fields that differ, those of a field of the same type one by one."""
    for name in was.__struct_fields__:
        before, after = getattr(was, name), getattr(now, name)
        if before == after:
            continue
        if isinstance(before, msgspec.Struct) and type(before) is type(after):
            yield from _field_changes(before, after, f"{path}{name}.")
        else:
            yield f"{path}{name} {_change(before, after)}"


def _named(event: Event) -> str:
    what = getattr(event, "purpose", None) or getattr(event, "step", None)
    if isinstance(event, CallBegun):
        what = event.call.name
    return type(event).__name__ + (f" ({in_quotes(what)})" if what else "")


def _change(was: object, now: object) -> str:
    if isinstance(was, list) and isinstance(now, list):
        return "differs:\n" + describe_changes(_text(was), _text(now))
    if isinstance(was, str) and isinstance(now, str) and "\n" in was + now:
        return "differs:\n" + describe_changes(was, now)
    return f"was {_short(was)}, and is now {_short(now)}"


def _text(parts: list[Any]) -> str:
    """The messages of a model call, or other parts, one after the other."""
    return "\n".join(m["content"] if isinstance(m, dict) and "content" in m else _short(m) for m in parts)


def _short(value: object) -> str:
    return value_text(value, _MAX_CHARACTERS)
