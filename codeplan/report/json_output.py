"""Values of an episode as JSON: readable, bounded in size, and never an error."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from codeplan.sandbox import decode
from codeplan.types import Failed, Finished, Outcome, Rejected, Stopped
from codeplan.untrusted.values import value_text

_MAX_DEPTH = 40
_MAX_VALUES = 100_000
_MAX_BITS = 10_000
_MAX_TEXT = 200
_ELLIPSIS = "…"


def outcome_as_json(outcome: Outcome | Rejected | None, reason: str) -> dict[str, Any]:
    """Status, step, message, output and checkpoint of a plan that was executed.

    ``reason`` is the message if the outcome has none of its own. An outcome of None means that a spent budget ended the
    run. ``step`` and ``checkpoint`` are None if there is none.
    """
    match outcome:
        case Finished():
            status, message = "finished", reason
        case Failed():
            status = "failed"
            message = outcome.message if outcome.error == "AssertionError" else f"{outcome.error}: {outcome.message}"
        case Stopped():
            status, message = "stopped", outcome.message
        case Rejected():
            status, message = "rejected", "\n".join(str(d) for d in outcome.diagnostics)
        case None:
            status, message = "stopped", reason
    if outcome is None or isinstance(outcome, Rejected):
        return {"status": status, "step": None, "message": message, "output": "", "checkpoint": None}
    variables = None if outcome.checkpoint is None else to_json_value(decode(outcome.checkpoint))
    ended = {"status": status, "step": outcome.step, "message": message}
    return {**ended, "output": outcome.output, "checkpoint": variables}


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


def to_json_value(value: object) -> Any:
    """The value as JSON data. Tuples become lists; what JSON lacks becomes its Python notation.

    Cycles, very deep and very many values end in ``"…"``: a plan may build a checkpoint that has no finite text.
    """
    return _Writer().write(value, 0)


class _Writer:
    def __init__(self) -> None:
        self.values = 0

    def write(self, value: object, depth: int) -> Any:
        self.values += 1
        if depth > _MAX_DEPTH or self.values > _MAX_VALUES:
            return _ELLIPSIS
        if isinstance(value, list | tuple):
            return [self.write(v, depth + 1) for v in self._some(value)]
        if isinstance(value, dict) and all(isinstance(k, str) for k in value):
            return {k: self.write(value[k], depth + 1) for k in self._some(list(value))}
        if _is_json(value):
            return value
        return hex(value) if isinstance(value, int) else value_text(value, _MAX_TEXT)

    def _some(self, values: list[Any] | tuple[Any, ...]) -> list[Any]:
        """The values that fit into the remaining room."""
        room = max(0, _MAX_VALUES - self.values)
        return list(values) if len(values) <= room else [*values[:room], _ELLIPSIS]


def _is_json(value: object) -> bool:
    if isinstance(value, bool | str) or value is None:
        return True
    if isinstance(value, int):
        return value.bit_length() <= _MAX_BITS
    return isinstance(value, float) and math.isfinite(value)
