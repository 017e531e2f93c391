"""What a result says of an episode's last failure, and of what its last plan returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codeplan.recording.events import Event, PlanFailed, PlanStopped, ToolFailed
from codeplan.types import Crashed, Ending, Finished, InfrastructureFailed, LastFailure
from codeplan.untrusted.json_values import json_value, json_variables
from codeplan.untrusted.surrogates import escape_surrogates

MAX_VALUE_BYTES = 256 << 10
"""Maximum size of ``Result.value`` as JSON, in bytes; a larger one is None."""

MAX_VARIABLES_BYTES = 256 << 10
"""Maximum size of ``Result.variables`` as JSON, in bytes; those that do not fit are left out."""


def last_failure(events: Sequence[Event], ending: Ending) -> LastFailure | None:
    """What ended the episode if that was a failure, or else the last one in its events."""
    if isinstance(ending, Crashed | InfrastructureFailed):
        return LastFailure(ending.error, ending.message)
    for event in reversed(events):
        match event:
            case PlanFailed():
                return LastFailure(event.error, event.message, event.step, event.line)
            case PlanStopped():
                return LastFailure(event.limit, event.message, event.step, event.line)
            case ToolFailed():
                return LastFailure(event.error, event.message, tool=event.tool)
    return None


def returned_value(finished: Finished | None) -> Any:
    """The value of a plan that ran to its end, as JSON data; None otherwise, or if it is too large."""
    return None if finished is None else _storable(json_value(finished.value, MAX_VALUE_BYTES))


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
