"""Reads the variables with which a plan starts at a later step: from Python, from a JSON file or from a run's trace.

They may come from a stranger. Only values that ``codeplan.sandbox.encode`` saves are accepted, within a checkpoint's
size.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import msgspec

from codeplan.errors import UsageError
from codeplan.plain_data import NotPlainData, unpack
from codeplan.recording.event_log import MAX_LINE_BYTES, MAX_TRACE_BYTES, LineSizes, decode_event, events_of
from codeplan.recording.events import Event, PlanRejected, PlanStarted, StepEntered
from codeplan.sandbox import CheckpointError, Limits, decode, encode
from codeplan.sandbox.protocol.limits import MAX_NAME_CHARS
from codeplan.tools.results import pack_result
from codeplan.types import Checkpoint
from codeplan.untrusted import files
from codeplan.untrusted.texts import one_line, parser_reason, with_article
from codeplan.untrusted.values import in_quotes

Start: TypeAlias = Checkpoint | Mapping[str, Any] | Path | str
"""Variables to start with: a checkpoint, plain values by name, or the path of a JSON file or a trace."""

MAX_VARIABLES_BYTES: Final = 4 << 20
"""Maximum size of a JSON file of variables. A checkpoint's own limit is lower; JSON can take more room."""


class _FirstLine(msgspec.Struct):
    """The start of a file, which distinguishes a trace from a file of variables."""

    event: str


def require_step(step: object) -> int:
    """The number of a step. Raises: UsageError: it is not a whole number from 1 on."""
    if type(step) is not int or step < 1:
        raise UsageError(f"a plan starts from a step, which is a whole number from 1 on, not {in_quotes(step)}")
    return step


def read_start(start: Start, step: int, max_bytes: int) -> Checkpoint:
    """The variables to start with at ``step``, as a checkpoint of at most ``max_bytes``.

    From a trace, these are the variables at the entry of the step in the last run of a plan.

    Raises: UsageError: they cannot be read or saved, or the last run of a plan in the trace did not enter the step.
    """
    if isinstance(start, Checkpoint):
        return verify_checkpoint(start, "the checkpoint")
    if isinstance(start, Mapping):
        return _save(start, "the variables to start with", max_bytes)
    if not isinstance(start, Path | str):
        raise UsageError(
            f"variables to start with are a Checkpoint, a dict or a file, not {with_article(type(start).__name__)}"
        )
    where = f"the checkpoint {one_line(str(start), 400)}"
    try:
        with files.open_user_file(start) as file:
            if _is_trace(file):
                return _saved_again(_entry_state(file, step, where), where, max_bytes)
            return _save(_variables(files.read_bounded(file, MAX_VARIABLES_BYTES, start), where), where, max_bytes)
    except (OSError, ValueError) as e:
        raise UsageError(f"{where} cannot be read: {getattr(e, 'strerror', None) or 'not a path'}") from None


def verify_checkpoint(checkpoint: Checkpoint, what: str) -> Checkpoint:
    """The checkpoint, if ``encode`` can have produced it. Raises: UsageError: it is damaged."""
    try:
        decode(checkpoint)
    except CheckpointError as e:
        raise UsageError(f"{what} is damaged: {one_line(str(e), 400)}") from None
    return checkpoint


def _is_trace(file: BinaryIO) -> bool:
    """Whether the file begins as a trace does. Leaves the file at its start."""
    line = file.readline(MAX_LINE_BYTES)
    file.seek(0)
    try:
        return msgspec.json.decode(line, type=_FirstLine).event == "episode_started"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _entry_state(file: BinaryIO, step: int, where: str) -> Checkpoint:
    """The variables at the last entry of the step since a plan last started."""
    state: Checkpoint | None = None
    size, checked = 0, LineSizes()
    for number, line in enumerate(files.bounded_lines(file, MAX_LINE_BYTES), 1):
        size += len(line)
        if size > MAX_TRACE_BYTES:
            raise UsageError(f"{where} is larger than {MAX_TRACE_BYTES:,} bytes, which is too large for a trace")
        checked.check(line, f"{where}, line {number}")
        event = decode_event(line, f"{where}, line {number}", "event of a trace")
        if isinstance(event, PlanStarted):
            state = None
        elif isinstance(event, StepEntered) and event.step == step:
            state = event.checkpoint
    if state is None:
        raise UsageError(f"{where}: its last run of a plan did not enter step {step}; name another step or trace")
    return state


def _saved_again(checkpoint: Checkpoint, where: str, max_bytes: int) -> Checkpoint:
    """The checkpoint as ``encode`` writes it, with the names that were already dropped."""
    try:
        variables = decode(checkpoint)
    except CheckpointError as e:
        raise UsageError(f"{where} cannot be used: {one_line(str(e), 400)}") from None
    return msgspec.structs.replace(_encode(variables, where, max_bytes), dropped=checkpoint.dropped)


def _save(variables: Mapping[Any, object], where: str, max_bytes: int) -> Checkpoint:
    for name in variables:
        if type(name) is not str or not name.isidentifier() or len(name) > MAX_NAME_CHARS:
            raise UsageError(f"{where}: {in_quotes(name, 80)} is not the name of a variable")
    return _encode(dict(variables), where, max_bytes)


def _encode(variables: dict[str, object], where: str, max_bytes: int) -> Checkpoint:
    checkpoint = encode(variables, max_bytes)
    for name, reason in checkpoint.dropped.items():
        raise UsageError(f"{where}: the variable {in_quotes(name, 80)} cannot be saved: {one_line(reason, 400)}")
    return checkpoint


def _variables(data: bytes, where: str) -> dict[str, Any]:
    """The variables in a JSON object."""
    try:
        found = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_without_repeats,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError) as e:
        raise UsageError(f"{where} is neither a trace nor a JSON object of variables: {parser_reason(e)}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{where} is neither a trace nor a JSON object of variables: it holds another JSON value")
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object names a key twice")
    return made


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError("a number is too large")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def recorded_start(recording: Sequence[Event]) -> Checkpoint | None:
    """The variables from outside that the plan of an episode without planning started with; None if there were none.

    Raises: UsageError: the recording ends before the plan starts, or its variables are not those of a plan.
    """
    started = next(events_of(recording, PlanStarted, PlanRejected), None)
    if started is None:
        raise UsageError("the episode ended before its plan started; run it again")
    if isinstance(started, PlanRejected) or started.checkpoint is None:
        return None
    return verify_checkpoint(started.checkpoint, "the trace's plan_started event")


def read_variables(given: Mapping[str, Any] | Checkpoint | None) -> Checkpoint | None:
    """The variables that the user gives to plans. A value that is no plan's value becomes data as a tool's result does.

    Raises: UsageError: a name is no variable's, or a value cannot become data, or is too large.
    """
    if given is None or isinstance(given, Checkpoint):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(f"variables are a dict of values by name, not {with_article(type(given).__name__)}")
    where, most = "the variables", Limits().checkpoint_bytes
    unsaved = [name for name in encode(dict(given), most).dropped if name in given]
    return _save({n: _as_data(n, v) if n in unsaved else v for n, v in given.items()}, where, most)


def _as_data(name: str, value: object) -> object:
    try:
        return unpack(pack_result(value))
    except NotPlainData as reason:
        raise UsageError(f"the variable {in_quotes(name, 80)} cannot become data: {reason}") from None


def variables_of_file(path: Path) -> dict[str, Any]:
    """The variables in a JSON file. Raises: UsageError: it cannot be read, or is no JSON object."""
    where = f"the file of variables {one_line(str(path), 400)}"
    try:
        with files.open_user_file(path) as file:
            return _variables(files.read_bounded(file, MAX_VARIABLES_BYTES, path), where)
    except (OSError, ValueError) as e:
        raise UsageError(f"{where} cannot be read: {getattr(e, 'strerror', None) or 'not a path'}") from None


def merge_variables(first: Checkpoint | None, second: Checkpoint | None) -> Checkpoint | None:
    """The variables of both; those of the second win."""
    if first is None or second is None:
        return first or second
    return encode(decode(first) | decode(second), 2 * Limits().checkpoint_bytes)
