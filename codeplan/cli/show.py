"""``codeplan show``: a recorded episode as a numbered list, or one of its events in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.untrusted.texts import echo, echo_message, shell_word

if TYPE_CHECKING:
    from pathlib import Path

    from codeplan.recording.events import Event
    from codeplan.report.event_view import EventRow

Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="PART", help="plans, actions, model, failures or other; repeatable."),
]
Number = Annotated[int | None, typer.Option("--event", metavar="N", help="Show this event in full.", min=0)]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("show", epilog="Example: codeplan show runs/20260101-120000-household --only failures")(show)


def show(folder: options.Run, only: Only = None, event: Number = None, as_json: options.Json = False) -> None:
    """Show a recorded episode as a numbered list of its events.

    The numbers are those that codeplan fork --at takes. An event without a line, such as the printed title of a step,
    says nothing more than the line before it.
    """
    from codeplan.errors import UsageError
    from codeplan.recording.trace import Trace
    from codeplan.report.event_view import PARTS, event_rows
    from codeplan.runner.run_folders import find_trace
    from codeplan.untrusted.values import in_quotes

    unknown = next((part for part in only or () if part not in PARTS), None)
    if unknown is not None:
        raise UsageError(f"--only takes {', '.join(PARTS[:-1])} or {PARTS[-1]}, not '{unknown}'")
    recorded = Trace.read(find_trace(folder))
    if not recorded:
        raise UsageError(f"the trace in {in_quotes(str(folder), 400)} holds no event")
    if event is not None:
        _show_event(recorded, event, as_json)
        return
    rows = [row for row in event_rows(recorded) if row.part in (only or PARTS)]
    if as_json:
        options.print_json(rows)
    else:
        _print_rows(rows, len(str(len(recorded))), folder)


def _print_rows(rows: list[EventRow], width: int, run: Path) -> None:
    """Print a line for each event; a terminal cuts it at its edge, and a last line says how to see it all."""
    from rich.text import Text

    console, is_cut = options.make_console(), False
    for row in rows:
        line = Text.assemble((f"{row.number:{width}}  ", "dim"), (row.text, "red" if row.part == "failures" else ""))
        if console.is_terminal:
            is_cut = is_cut or line.cell_len > console.width
            line.truncate(console.width, overflow="ellipsis")
        console.print(line, soft_wrap=True)
    if is_cut:
        echo_message(f"in full: codeplan show {shell_word(run)} --event N", err=True)


def _show_event(recorded: list[Event], number: int, as_json: bool) -> None:
    """Print an event as a live display shows it; a call of a model with its messages and its reply."""
    from codeplan.errors import UsageError
    from codeplan.recording.events import ModelCalled
    from codeplan.report.live import LiveDisplay

    if number >= len(recorded):
        raise UsageError(f"there is no event {number}; the events are 0 to {len(recorded) - 1}")
    event = recorded[number]
    if as_json:
        options.print_json(event)
        return
    if isinstance(event, ModelCalled):
        for message in event.messages:
            echo(f"{message['role']}:\n{message['content']}\n")
        echo(f"reply:\n{event.completion.text}")
        return
    LiveDisplay(options.make_console(), plan_before=_plan_before(recorded[:number]))(event)


def _plan_before(earlier: list[Event]) -> str | None:
    """The source of the plan that was there before an event; None if there was none."""
    from codeplan.recording.events import PlanDrafted, PlanFixed

    return next((e.source for e in reversed(earlier) if isinstance(e, PlanDrafted | PlanFixed)), None)
