"""The parts of a Result that describe the episode's last failure and its last plan's value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codeplan.recording.events import ActionTaken, Event, PlanFailed, PlanStopped, ToolFailed
from codeplan.types import Crashed, Ending, EnvironmentEnded, Finished, InfrastructureFailed, LastFailure
from codeplan.untrusted.json_values import json_value, json_variables
from codeplan.untrusted.surrogates import escape_surrogates
from codeplan.untrusted.terminal import MAX_REASON_CHARS, one_line

MAX_VALUE_BYTES = 256 << 10
"""Maximum size of ``Result.value`` as JSON, in bytes; a larger one is None."""

MAX_VARIABLES_BYTES = 256 << 10
"""Maximum size of ``Result.variables`` as JSON, in bytes; those that do not fit are left out."""


def last_failure(events: Sequence[Event], ending: Ending) -> LastFailure | None:
    """The failure that ended the episode, otherwise the last failure in its events."""
    if isinstance(ending, Crashed | InfrastructureFailed):
        return LastFailure(ending.error, ending.message)
    if isinstance(ending, EnvironmentEnded) and (failed := _ending_failure(events)):
        return _of_tool(failed)
    for event in reversed(events):
        match event:
            case PlanFailed():
                return LastFailure(event.error, event.message, event.step, event.line)
            case PlanStopped():
                return LastFailure(event.limit, event.message, event.step, event.line)
            case ToolFailed():
                return _of_tool(event)
    return None


def _of_tool(failed: ToolFailed) -> LastFailure:
    return LastFailure(failed.error, failed.message, tool=failed.tool)


def explain_end(ending: Ending, events: Sequence[Event]) -> Ending:
    """The ending; if a tool's failure ended the episode, with the tool and its error."""
    if not isinstance(ending, EnvironmentEnded) or (failed := _ending_failure(events)) is None:
        return ending
    said = one_line(failed.message, MAX_REASON_CHARS)
    error = f"{failed.error}: {said}" if said else failed.error
    return EnvironmentEnded(f"the tool {failed.tool} failed, and tool errors end the episode: {error}")


def _ending_failure(events: Sequence[Event]) -> ToolFailed | None:
    """The failure of a tool in the last action, if that ended the episode."""
    last = next((i for i in range(len(events) - 1, 0, -1) if isinstance(events[i], ActionTaken)), 0)
    taken, before = events[last] if events else None, events[last - 1] if last else None
    ended = isinstance(taken, ActionTaken) and taken.observation.done
    return before if ended and isinstance(before, ToolFailed) else None


def returned_value(finished: Finished | None) -> Any:
    """The value of a plan that ran to its end, as JSON data; None otherwise, or if it is too large."""
    return None if finished is None else storable_value(finished.value)


def storable_value(value: object) -> Any:
    """The value that a plan returned, as JSON data; None if it is too large."""
    return _storable(json_value(value, MAX_VALUE_BYTES))


def final_variables(finished: Finished | None) -> dict[str, Any]:
    """The variables of a plan that ran to its end, as JSON data; empty otherwise."""
    return {} if finished is None else _storable(json_variables(finished.variables, MAX_VARIABLES_BYTES).values)


def _storable(data: Any) -> Any:
    """JSON data with half surrogate pairs escaped, which a trace cannot hold."""
    if isinstance(data, str):
        return escape_surrogates(data)
    if isinstance(data, list):
        return [_storable(v) for v in data]
    return {_storable(k): _storable(v) for k, v in data.items()} if isinstance(data, dict) else data
