"""A failed test as a person reads it: what was expected, the plan's line and step, its variables, the last actions.

All that comes from plans, models and worlds is untrusted: it is cleaned and cut before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codeplan.report.plain import as_json
from codeplan.report.text import clean, located, one_line
from codeplan.sandbox.protocol.codec import decode
from codeplan.testing.cases.running import PlanRun
from codeplan.types import Checkpoint, Failed, Outcome, Rejected, Stopped

ACTIONS = 5
"""How many of the last actions are shown."""

VARIABLES = 12
_WIDTH = 140
_AROUND = 2


def report(label: str, complaints: Iterable[tuple[str, PlanRun | None]]) -> str:
    """All complaints about a plan. Runs that several complaints are about are shown once."""
    lines: list[str] = []
    shown: list[PlanRun] = []
    for message, run in complaints:
        lines.append(f"{label}: {one_line(message, 600)}")
        if run is not None and not any(run is other for other in shown):
            shown.append(run)
            lines += [f"  {line}" for line in _of_run(label, run)]
    return "\n".join(lines)


def _of_run(label: str, run: PlanRun) -> Iterator[str]:
    yield f"task: {run.task.id}{': ' + one_line(run.task.goal, _WIDTH) if run.task.goal else ''}"
    match run.outcome:
        case Rejected():
            yield from _of_refusal(label, run.outcome)
            return
        case None:
            pass
        case outcome:
            yield from _of_place(label, run, outcome)
            yield from _of_variables(outcome.checkpoint)
    yield from _of_actions(run)


def _of_refusal(label: str, rejected: Rejected) -> Iterator[str]:
    for d in rejected.diagnostics:
        yield f"{label}:{d.line}:{d.column}: {one_line(d.message, 600)} [{d.rule}]"
        yield from (f"    {line}" for line in located(rejected.source, d))


def _of_place(label: str, run: PlanRun, outcome: Outcome) -> Iterator[str]:
    """The step and the line that the plan ended at, with the lines around it."""
    step = run.plan.step(outcome.step) if run.plan else None
    line = outcome.line if isinstance(outcome, Failed | Stopped) else None
    where = f"{label}:{line}" if line else label
    yield where + (f", step {step.number}: {one_line(step.title, _WIDTH)}" if step else "")
    if line:
        yield from _excerpt(run.source, line)
    if isinstance(outcome, Failed):
        yield f"{outcome.error}: {one_line(outcome.message, 600)}"
    elif isinstance(outcome, Stopped):
        yield f"stopped: {one_line(outcome.message, 600)}"


def _excerpt(source: str, line: int) -> Iterator[str]:
    lines = source.split("\n")
    first = max(1, line - _AROUND)
    for number, text in enumerate(lines[first - 1 : line + _AROUND], first):
        if number == line or text.strip():
            yield f"{'>' if number == line else ' '} {number:4} | {clean(text)[:_WIDTH]}".rstrip()


def _of_variables(checkpoint: Checkpoint | None) -> Iterator[str]:
    if checkpoint is None:
        return
    variables = decode(checkpoint)
    for name in list(variables)[:VARIABLES]:
        yield f"{name} = {one_line(repr(as_json(variables[name])), _WIDTH)}"
    if len(variables) > VARIABLES:
        yield f"… and {len(variables) - VARIABLES} more variables"


def _of_actions(run: PlanRun) -> Iterator[str]:
    acted = run.acted
    yield f"actions: {len(acted)}" + (f", the last {ACTIONS}:" if len(acted) > ACTIONS else ":" if acted else "")
    for event in acted[-ACTIONS:]:
        step = run.step_of(event)
        did, said = one_line(event.action, 80), one_line(event.observation.text, 80)
        yield f"  [{'-' if step is None else step}] {did} -> {said}"
