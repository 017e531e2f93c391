"""Compares a run with the expectations. Each complaint is a sentence; a test without complaints passes."""

from __future__ import annotations

from collections.abc import Iterator

from codeplan.sandbox import decode
from codeplan.testing.cases.case_run import PlanRun
from codeplan.testing.cases.manifest import Expectations, ExpectedFailure
from codeplan.types import Rejected
from codeplan.untrusted.json_values import matches_json
from codeplan.untrusted.patterns import MAX_SECONDS, search_pattern
from codeplan.untrusted.values import in_quotes, value_text

_MAX_VALUE = 250
"""Maximum length of a variable's value, and of the expected one, in a complaint, in characters."""


def find_complaints(run: PlanRun, expect: Expectations) -> Iterator[str]:
    """Yield every difference between a run and the expectations."""
    if isinstance(run.outcome, Rejected):
        yield f"the plan was refused before any of it ran: {run.outcome.diagnostics[0].message}"
        return
    if expect.refuses:
        yield from _missing_failure(run, expect.refuses)
    elif run.success != (wanted := expect.success is not False):
        yield f"{run.ending}; expected {'success' if wanted else 'no success'}"
    yield from _exceeded_counts(run, expect)
    if expect.steps is not None and run.steps != expect.steps:
        yield f"it entered the steps {_join_steps(run.steps)}; expected {_join_steps(expect.steps)}"
    if expect.output is not None and (problem := _mismatch(expect.output, _output(run))):
        yield f"its output {problem}"
    for name, value in (expect.checkpoint or {}).items():
        yield from _variable_complaints(run, name, value)


def find_steps_not_entered(whole: PlanRun, steps: tuple[int, ...]) -> Iterator[str]:
    """Yield a sentence if a whole run did not enter some of the steps at which it is to be resumed."""
    missing = tuple(dict.fromkeys(step for step in steps if step not in whole.steps))
    if missing:
        what = f"step {missing[0]} is" if len(missing) == 1 else f"the steps {_join_steps(missing)} are"
        yield f"{what} never entered, so the plan cannot be resumed there"


def find_resume_differences(whole: PlanRun, resumed: PlanRun, step: int) -> Iterator[str]:
    """Yield every difference between a whole run and one that was interrupted and resumed at a step."""
    before, after = _actions(whole), _actions(resumed)
    if after != before:
        place = next(
            (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
        yield f"resumed at step {step}, {_difference(before, after, place)}"
    elif resumed.success != whole.success:
        yield f"resumed at step {step}, {resumed.ending}; uninterrupted, {whole.ending}"


def _missing_failure(run: PlanRun, refuses: ExpectedFailure) -> Iterator[str]:
    refusal = run.failed_assertion
    if refusal is None or refusal.step != refuses.step or run.success:
        yield f"{run.ending}; expected an assertion to fail in step {refuses.step}"
    elif problem := _mismatch(refuses.message, refusal.message):
        yield f"the message of the assertion in step {refuses.step} {problem}"


def _mismatch(pattern: str, text: str) -> str:
    """Say that the text does not match; empty if it does."""
    found = search_pattern(pattern, text)
    if found is None:
        return f"could not be compared with {in_quotes(pattern)} in {MAX_SECONDS:g} s; write a simpler expression"
    return "" if found else f"does not match {in_quotes(pattern)}"


def _exceeded_counts(run: PlanRun, expect: Expectations) -> Iterator[str]:
    for name in ("actions", "asks"):
        most, count = getattr(expect, name), getattr(run.result, name)
        if most is not None and count > most:
            yield f"it took {count} {name}; at most {most} are allowed"


def _join_steps(steps: tuple[int, ...]) -> str:
    return ", ".join(map(str, steps)) or "none"


def _output(run: PlanRun) -> str:
    return "" if run.outcome is None or isinstance(run.outcome, Rejected) else run.outcome.output


def _variable_complaints(run: PlanRun, name: str, value: object) -> Iterator[str]:
    outcome = run.outcome
    saved = None if outcome is None or isinstance(outcome, Rejected) else outcome.checkpoint
    wanted = value_text(value, _MAX_VALUE)
    if saved is None:
        yield f"there is no checkpoint in which {name} could be {wanted}"
        return
    variables = decode(saved)
    if name not in variables:
        why = f"was not saved ({saved.dropped[name]})" if name in saved.dropped else "is not set"
        yield f"the variable {name} {why}; expected {wanted}"
    elif not matches_json(variables[name], value):
        yield f"the variable {name} is {value_text(variables[name], _MAX_VALUE)}; expected {wanted}"


def _actions(run: PlanRun) -> list[str]:
    return [event.action for event in run.action_events]


def _difference(before: list[str], after: list[str], place: int) -> str:
    now = in_quotes(after[place]) if place < len(after) else "nothing more"
    then = in_quotes(before[place]) if place < len(before) else "nothing more"
    again = place < len(after) and after[place] in before[:place]
    return f"the plan did {now}{' again' if again else ''}; expected {then}"
