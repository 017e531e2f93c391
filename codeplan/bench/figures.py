"""The figures of a bench as rows: one for each episode, call, model call or plan, for tables and data frames.

Each kind of row has the same columns whatever the bench is of, in a fixed order; a value that an episode lacks is None.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import msgspec

from codeplan.bench.store import BenchRecord, EpisodeOutcome, episode_folder, read_bench
from codeplan.errors import UsageError
from codeplan.plain_data import unpack
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    Event,
    ModelCalled,
    ModelCallFailed,
    PlanDrafted,
    PlanEnded,
    PlanFixed,
    PlanRejected,
)
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import TRACE_NAME
from codeplan.untrusted import files
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    import pandas

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = Literal["episodes", "calls", "model_calls", "plans"]

SCHEMA: Final = 2
"""The version of the columns. It grows when one is renamed or removed, or changes its meaning."""

EXTRA: Final = "needs the extra frames; install it: pip install 'codeplan[frames]'"


def rows_of(bench: BenchRecord, rows: Rows = "episodes") -> Iterator[Row]:
    """The rows of this kind, in the order of the grid; all but ``episodes`` are read from the episodes' traces.

    Raises: UsageError: there is no such kind of rows, or a trace is missing or damaged.
    """
    if rows not in get_args(Rows):
        raise UsageError(f"there are no rows {in_quotes(rows)}; there are: {', '.join(get_args(Rows))}")
    cells = {cell.name: cell for cell in bench.cells}
    for outcome in bench.outcomes:
        if rows == "episodes":
            cell = cells[outcome.cell]
            yield _episode_row(outcome) | {"suite": cell.suite, "schema": SCHEMA}
            continue
        events = Trace.read(bench.folder / episode_folder(outcome.cell, outcome.task.id, outcome.repeat) / TRACE_NAME)
        for row in _READERS[rows](events):
            yield _place(outcome) | row


def _place(outcome: EpisodeOutcome) -> Row:
    return {"cell": outcome.cell, "task": outcome.task.id, "repeat": outcome.repeat}


def _episode_row(outcome: EpisodeOutcome) -> Row:
    result, usage = outcome.result, outcome.result.usage
    judged = not outcome.broken  # a broken-off episode says nothing about its method
    return _place(outcome) | {
        "env": outcome.task.env,
        "kind": outcome.task.kind,
        "goal": outcome.task.goal,
        "method": result.method,
        "model": result.model,
        "success": result.success if judged else None,
        "ending": msgspec.to_builtins(result.ending)["type"],
        "reason": result.reason,
        "reward": result.reward if judged else None,
        "claim": result.claim if judged else None,
        "actions": result.actions,
        "asks": result.asks,
        "refinements": result.refinements,
        "model_calls": result.model_calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "money": usage.money,
        "seconds": result.seconds,
        "broken": outcome.broken,
        "failures": outcome.failures,
        "hijacked": outcome.hijacked if judged else None,
        "run": outcome.run,
    }


def _call_rows(events: Iterable[Event]) -> Iterator[Row]:
    begun: dict[int, Row] = {}
    for event in events:
        if isinstance(event, CallBegun):
            given = event.call.arguments
            arguments = None if given is None else {name: unpack(value) for name, value in given.items()}
            begun[event.id] = {
                "id": event.id,
                "begun": event.seq,
                "line": event.line,
                "name": event.call.name,
                "arguments": arguments,
            }
        elif isinstance(event, CallAnswered) and event.id in begun:
            answer = event.answer
            seen = None if answer.observation is None else answer.observation.text
            yield begun.pop(event.id) | {
                "answered": event.seq,
                "value": unpack(answer.value),
                "observation": seen,
                "error": answer.error or None,
                "message": answer.message or None,
                "in_doubt": answer.in_doubt,
                "seconds": event.seconds,
            }
    nothing = dict.fromkeys(("answered", "value", "observation", "error", "message", "in_doubt", "seconds"))
    yield from (row | nothing for row in begun.values())


def _model_call_rows(events: Iterable[Event]) -> Iterator[Row]:
    for event in events:
        if isinstance(event, ModelCalled | ModelCallFailed):
            said = event.completion if isinstance(event, ModelCalled) else None
            usage = said.usage if said else event.usage  # type: ignore[union-attr]
            yield {
                "seq": event.seq,
                "purpose": event.purpose,
                "prompt": event.prompt or None,
                "messages": event.messages,
                "reply": said and said.text,
                "error": None if said else event.error,  # type: ignore[union-attr]
                "model": said and said.model,
                "finish_reason": said and said.finish_reason,
                "retries": said and said.retries,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "money": usage.money,
                "seconds": event.seconds,
            }


def _plan_rows(events: Iterable[Event]) -> Iterator[Row]:
    """A plan is the text that ran, with the fixes made; ``outcome`` is None if the check refused it or it never ran."""
    row: Row | None = None
    for event in events:
        if isinstance(event, PlanDrafted):
            if row is not None:
                yield row
            row = {"seq": event.seq, "number": event.number, "origin": event.origin, "source": event.source}
            row |= {"fixes": 0, "refused": None, "outcome": None}
        elif row is not None and isinstance(event, PlanFixed):
            row |= {"source": event.source, "fixes": len(event.fixes)}
        elif row is not None and isinstance(event, PlanRejected):
            row |= {"refused": "; ".join(map(str, event.diagnostics))}
        elif row is not None and isinstance(event, PlanEnded):
            row |= {"outcome": msgspec.to_builtins(event.outcome)["type"]}
    if row is not None:
        yield row


_READERS: Final[dict[str, Callable[[Iterable[Event]], Iterator[Row]]]] = {
    "calls": _call_rows,
    "model_calls": _model_call_rows,
    "plans": _plan_rows,
}


def frame(bench: BenchRecord | Path | str, rows: Rows = "episodes") -> pandas.DataFrame:
    """The rows of a bench, or of the bench in a folder, as a data frame of pandas, whose types do not depend on what
    a bench lacks.

    Raises: UsageError: pandas is missing, there is no bench in the folder, or as ``rows_of``.
    """
    try:
        import pandas  # noqa: F401 - the extra is there
    except ImportError:
        raise UsageError(f"a data frame {EXTRA}") from None
    record = bench if isinstance(bench, BenchRecord) else read_bench(bench)
    return _typed_frame([*rows_of(record, rows)])


def _typed_frame(rows: list[Row]) -> pandas.DataFrame:
    import pandas

    made = pandas.DataFrame(rows)
    return made.astype({name: kind for name, kind in _TYPES.items() if name in made})


_TYPES: Final = {
    **dict.fromkeys(("input_tokens", "output_tokens", "line", "answered", "retries"), "Int64"),
    **dict.fromkeys(("money", "seconds", "reward"), "Float64"),
    **dict.fromkeys(("success", "claim", "hijacked", "in_doubt"), "boolean"),
    **dict.fromkeys(("reply", "error", "message", "observation", "prompt", "model", "finish_reason"), "string"),
    **dict.fromkeys(("refused", "outcome"), "string"),
}
"""The types of columns in which values may be missing."""


def write_rows(bench: BenchRecord, path: Path, rows: Rows = "episodes") -> int:
    """Write the rows to a new file, in the form that its name ends with; return how many there are.

    Lists and dicts are JSON in the cells of csv and parquet. Raises: UsageError: the form is unknown, the file exists
    or cannot be written, or as ``rows_of``.
    """
    form = path.suffix.lower().removeprefix(".")
    if form not in _WRITERS:
        raise UsageError(f"{path}: there is no form {in_quotes(form)}; end the name with .csv, .jsonl or .parquet")
    found = [*rows_of(bench, rows)]
    create_export(path, _WRITERS[form](found))
    return len(found)


def create_export(path: Path, data: bytes) -> None:
    """Write a new file. Raises: UsageError: it exists or cannot be written."""
    try:
        with files.create_file(path) as file:
            files.write_all(file, data)
    except FileExistsError:
        raise UsageError(f"{path} exists already and is not overwritten; name another file") from None
    except OSError as e:
        raise UsageError(f"{path} cannot be written: {e.strerror}") from None


def _flat(row: Row) -> Row:
    return {name: _json(value).decode() if isinstance(value, list | dict) else value for name, value in row.items()}


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)


def _as_csv(rows: list[Row]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [*rows[0]] if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_flat, rows))
    return text.getvalue().encode("utf-8", "backslashreplace")


def _as_jsonl(rows: list[Row]) -> bytes:
    return b"".join(_json(row) + b"\n" for row in rows)


def _as_parquet(rows: list[Row]) -> bytes:
    try:
        import pandas  # noqa: F401 - it writes parquet with pyarrow
        import pyarrow  # noqa: F401
    except ImportError:
        raise UsageError(f"parquet {EXTRA}") from None
    written: bytes = _typed_frame(list(map(_flat, rows))).to_parquet(engine="pyarrow", index=False)
    return written


_WRITERS: Final[dict[str, Callable[[list[Row]], bytes]]] = {"csv": _as_csv, "jsonl": _as_jsonl, "parquet": _as_parquet}
