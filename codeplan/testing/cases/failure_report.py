"""Formats a failed test: the expectation, the plan's line and step, its variables, the last actions.

Text from plans, models and environments is untrusted: it is cleaned and truncated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from codeplan.sandbox import decode
from codeplan.testing.cases.case_run import PlanRun
from codeplan.types import Checkpoint, Failed, Finished, GiveUp, Outcome, Rejected, Replan, Stopped
from codeplan.untrusted.noun_phrases import with_count
from codeplan.untrusted.terminal import clean, one_line, source_excerpt
from codeplan.untrusted.variables import clip_name, variable_texts

MAX_ACTIONS = 5
"""Maximum number of last actions that are shown."""

MAX_VARIABLES = 12
_MAX_WIDTH = 140
_CONTEXT_LINES = 2


def format_report(label: str, complaints: Iterable[tuple[str, PlanRun | None]]) -> str:
    """Format all complaints about a plan. A run that several complaints share is shown once."""
    lines: list[str] = []
    shown: list[PlanRun] = []
    for message, run in complaints:
        lines.append(f"{label}: {one_line(message, 600)}")
        if run is not None and not any(run is other for other in shown):
            shown.append(run)
            lines += [f"  {line}" for line in _of_run(label, run)]
    return "\n".join(lines)


def _of_run(label: str, run: PlanRun) -> Iterator[str]:
    yield f"task: {run.task.id}{': ' + one_line(run.task.goal, _MAX_WIDTH) if run.task.goal else ''}"
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
        yield f"{label}{d.place}: {one_line(d.message, 600)} [{d.rule}]"
        yield from (f"    {line}" for line in source_excerpt(rejected.source, d.line, d.column))


def _of_place(label: str, run: PlanRun, outcome: Outcome) -> Iterator[str]:
    """Yield the step and line where the plan ended, with the lines around it."""
    step = run.plan.step(outcome.step) if run.plan else None
    line = None if isinstance(outcome, Finished) else outcome.line
    where = f"{label}:{line}" if line else label
    yield where + (f", step {step.number}: {one_line(step.title, _MAX_WIDTH)}" if step else "")
    if line:
        yield from _excerpt(run.source, line)
    if isinstance(outcome, Failed):
        yield f"{outcome.error}: {one_line(outcome.message, 600)}"
    elif isinstance(outcome, Stopped):
        yield f"stopped: {one_line(outcome.message, 600)}"
    elif isinstance(outcome, Replan | GiveUp):
        yield f"{'replan' if isinstance(outcome, Replan) else 'give_up'}: {one_line(outcome.reason, 600)}"


def _excerpt(source: str, line: int) -> Iterator[str]:
    lines = source.split("\n")
    first = max(1, line - _CONTEXT_LINES)
    for number, text in enumerate(lines[first - 1 : line + _CONTEXT_LINES], first):
        if number == line or text.strip():
            yield f"{'>' if number == line else ' '} {number:4} | {clean(text)[:_MAX_WIDTH]}".rstrip()


def _of_variables(checkpoint: Checkpoint | None) -> Iterator[str]:
    if checkpoint is None:
        return
    variables = decode(checkpoint)
    shown = variable_texts(
        dict(islice(variables.items(), MAX_VARIABLES)), MAX_VARIABLES * _MAX_WIDTH, max_each=_MAX_WIDTH
    )
    for name, text in shown.texts.items():
        yield f"{clip_name(name)} = {text}"
    if len(variables) > MAX_VARIABLES:
        yield f"… and {with_count(len(variables) - MAX_VARIABLES, 'more variable')}"


def _of_actions(run: PlanRun) -> Iterator[str]:
    acted = run.action_events
    shown = f", the last {MAX_ACTIONS}:" if len(acted) > MAX_ACTIONS else ":" if acted else ""
    yield f"actions: {len(acted)}{shown}"
    for event in acted[-MAX_ACTIONS:]:
        step = run.step_of(event)
        did, said = one_line(event.action, 80), one_line(event.observation.text, 80)
        yield f"  [{'-' if step is None else step}] {did} -> {said}"
