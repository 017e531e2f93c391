"""Values of an episode as JSON: readable, bounded in size, and never an error."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from codeplan.report.event_view import outcome_text
from codeplan.sandbox import decode
from codeplan.types import Checkpoint, Finished, Outcome, Rejected, Result
from codeplan.untrusted.json_values import json_value, json_variables

MAX_VALUE_BYTES = 256 << 10
"""Maximum size of a plan's value in the output; one variable has the same."""

MAX_VARIABLES_BYTES = 256 << 10
"""Maximum size of all variables in the output; a checkpoint in a trace has the same."""


def outcome_as_json(outcome: Outcome | Rejected | None, reason: str) -> dict[str, Any]:
    """Status, step, message, output and checkpoint of a plan that was executed.

    ``value`` is the value that a finished plan returned, None for any other outcome and if it does not fit. ``reason``
    is the message if the outcome has none of its own. An outcome of None means that a spent budget ended the run.
    ``step`` and ``checkpoint`` are None if there is none. Each value in ``checkpoint`` is whole. ``truncated`` is
    whether variables are missing because they are too large; ``omitted`` names them and says why.
    """
    if outcome is None or isinstance(outcome, Rejected):
        status = "rejected" if outcome else "stopped"
        message = "\n".join(map(str, outcome.diagnostics)) if outcome else reason
        return {"status": status, "step": None, "message": message, "output": "", "value": None, **_variables(None)}
    text = outcome_text(outcome)
    message = reason if isinstance(outcome, Finished) else text.message
    ended = {"status": text.status, "step": outcome.step, "message": message, "output": outcome.output}
    value = json_value(outcome.value, MAX_VALUE_BYTES) if isinstance(outcome, Finished) else None
    return {**ended, "value": value, **_variables(outcome.checkpoint)}


def _variables(checkpoint: Checkpoint | None) -> dict[str, Any]:
    if checkpoint is None:
        return {"checkpoint": None, "truncated": False, "omitted": {}}
    shown = json_variables(decode(checkpoint), MAX_VARIABLES_BYTES)
    truncated = bool(shown.omitted or shown.unnamed)
    return {"checkpoint": shown.values, "truncated": truncated, "omitted": shown.omitted}


def result_as_json(result: Result) -> dict[str, Any]:
    """A result with all fields; its usage also has the cached share of the input."""
    usage = to_plain_data(result.usage) | {"cached_share": result.usage.cached_share}
    return {**to_plain_data(result), "usage": usage}


def to_plain_data(value: Any) -> Any:
    """A frozen value and the values within it as plain data, with all fields, defaults included.

    NaN and infinities become None, because JSON lacks them.
    """
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag_field else {}
        return tag | {name: to_plain_data(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {name: to_plain_data(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_data(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
