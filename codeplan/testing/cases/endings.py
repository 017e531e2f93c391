"""Describes how a plan ended."""

from __future__ import annotations

from codeplan.types.plan import Rejected
from codeplan.types.run import Failed, Finished, Outcome, Stopped


def describe_ending(outcome: Outcome | Rejected | None) -> str:
    """Return half a sentence about a plan that did not succeed; None stands for a spent budget."""
    match outcome:
        case None:
            return "a budget limit ended the plan"
        case Rejected():
            return "the plan was refused"
        case Failed(step=step, error="AssertionError"):
            return f"an assertion failed{_where(step)}"
        case Failed(step=step, error=error):
            return f"{error} was raised{_where(step)}"
        case Stopped(step=step, message=message):
            return f"the plan was stopped{_where(step)}: {message}"
        case Finished():
            return "the plan ran to its end without success"


def _where(step: int | None) -> str:
    return f" in step {step}" if step is not None else " outside the steps"
