"""How a plan ended, in words."""

from __future__ import annotations

from codeplan.types.plan import Rejected
from codeplan.types.run import Failed, Finished, Outcome, Stopped


def describe_ending(outcome: Outcome | Rejected | None) -> str:
    """How a plan that did not succeed ended, as half a sentence; None stands for one that a spent budget cut off."""
    match outcome:
        case None:
            return "a budget cut the plan off"
        case Rejected():
            return "the plan was refused"
        case Failed(step=step, error="AssertionError"):
            return f"an assertion failed{_where(step)}"
        case Failed(step=step, error=error):
            return f"{'an' if error[:1] in 'AEIOU' else 'a'} {error} came up{_where(step)}"
        case Stopped(step=step, message=message):
            return f"the plan was stopped{_where(step)}: {message}"
        case Finished():
            return "the plan ran to its end without success"


def _where(step: int | None) -> str:
    return f" in step {step}" if step is not None else " outside the steps"
