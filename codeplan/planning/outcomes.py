"""What each outcome of a plan means for planning and for tests of plans: one ``match`` for each question.

A type checker reports a question that leaves an outcome out. How displays show an outcome stands in
``codeplan.report.event_view``, what a client of the MCP server gets in ``codeplan.mcp_server.plan_runner``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from codeplan.episode.episode import failed_call
from codeplan.recording.event_log import events_of
from codeplan.recording.events import CallDecided, Event, answered_calls
from codeplan.types import (
    ASK_USER,
    Failed,
    Finished,
    GaveUp,
    GiveUp,
    NotSolved,
    Outcome,
    Refused,
    Rejected,
    Replan,
    Stopped,
)
from codeplan.untrusted.texts import one_line

_MAX_REASON: Final = 500  # characters of a plan's reason to give up, in the ending


def describe_refusal(rejected: Rejected) -> str:
    """The reasons of the check, one per line."""
    return "\n".join(str(d) for d in rejected.diagnostics)


def describe_outcome(outcome: Outcome, agent_report: Callable[[], str]) -> str:
    """What went wrong in a run, for a prompt. ``agent_report`` is asked only about a plan that ran to its end."""
    match outcome:
        case Failed():
            where = f"[Step {outcome.step}]" if outcome.step else "code outside the steps"
            return f"{where}, line {outcome.line} raised {outcome.error}: {outcome.message}"
        case Stopped():
            where = f" in [Step {outcome.step}]" if outcome.step else ""
            return f"The plan was stopped{where}: {outcome.message}"
        case Replan():
            where = f"[Step {outcome.step}]" if outcome.step else "code outside the steps"
            return f"{where} asked to replan: {outcome.reason}"
        case GiveUp():
            return f"The plan gave up: {outcome.reason}"
        case Finished():
            return f"The plan ran to its end without an error, but the task is not done. {agent_report()}"


class Thought(NamedTuple):
    """What an executor that acts after a plan reads about its end, as a thought and the answer to it."""

    line: str
    answer: str


def thought_after(outcome: Outcome) -> Thought | None:
    """What an executor reads about the plan before it; None if that ran to its end."""
    match outcome:
        case Failed():
            return Thought("think: my plan failed.", f"{outcome.error}: {outcome.message}")
        case Stopped():
            return Thought("think: my plan was stopped.", outcome.message)
        case Replan():
            return Thought("think: my plan needs to be written on.", outcome.reason)
        case GiveUp():
            return Thought("think: my plan gave up.", outcome.reason)
        case Finished():
            return None


class RunEnd(NamedTuple):
    """How a run ended, for the comparison with another. Times and amounts, which differ from run to run, are left
    out.
    """

    kind: str
    step: int | None = None
    error: str = ""
    message: str = ""


def run_end(outcome: Outcome) -> RunEnd:
    """What must be equal in two runs that ended in the same way."""
    kind = str(outcome.__struct_config__.tag)
    match outcome:
        case Failed():
            return RunEnd(kind, outcome.step, outcome.error, outcome.message)
        case Stopped():
            return RunEnd(kind, outcome.step, outcome.limit)
        case Replan():
            return RunEnd(kind, outcome.step, "", outcome.reason)
        case GiveUp():
            return RunEnd(kind, outcome.step)
        case Finished():
            return RunEnd(kind)


def ended_by_user(outcome: Outcome, events: Sequence[Event]) -> bool:
    """Whether a run with these events ended with what the user said: a call that the user refused with a reason, or a
    replan after such a refusal or after an answer.
    """
    decided = events_of(events, CallDecided)
    refused = {e.id for e in decided if e.by == "approver" and not e.allowed and e.reason}
    match outcome:
        case Failed():
            call = failed_call(events, outcome) if refused else None
            return call is not None and call.event.id in refused
        case Replan():
            return bool(refused) or any(
                c.call.name == ASK_USER.name for c in answered_calls(events) if not c.answer.error
            )
        case Stopped() | GiveUp() | Finished():
            return False


def gave_up(outcome: GiveUp) -> GaveUp:
    """The ending of an episode whose plan gives up."""
    return GaveUp(f"the plan gave up: {one_line(outcome.reason, _MAX_REASON)}")


def ending_of_single_run(outcome: Outcome | Rejected) -> Refused | NotSolved | GaveUp:
    """The ending of an episode that runs one plan once, unless the environment says otherwise."""
    match outcome:
        case Rejected():
            return Refused(f"the plan was refused: {outcome.diagnostics[0]}")
        case Failed():
            return NotSolved(f"the plan failed at {_place(outcome.step)}: {outcome.error}: {outcome.message}")
        case Replan():
            return NotSolved(f"the plan asked to replan at {_place(outcome.step)}: {outcome.reason}")
        case GiveUp():
            return GaveUp(f"the plan gave up at {_place(outcome.step)}: {outcome.reason}")
        case Stopped():
            return NotSolved(f"the plan was stopped: {outcome.message}")
        case Finished():
            return NotSolved("the plan ran to its end, but the task is not done")


def words_for_test(outcome: Outcome | Rejected) -> str:
    """Half a sentence about a plan that did not succeed, for a test of plans."""
    match outcome:
        case Rejected():
            return "the plan was refused"
        case Failed(step=step, error="AssertionError"):
            return f"an assertion failed{_in_step(step)}"
        case Failed(step=step, error=error):
            return f"{error} was raised{_in_step(step)}"
        case Stopped(step=step, message=message):
            return f"the plan was stopped{_in_step(step)}: {message}"
        case Replan(step=step, reason=reason):
            return f"the plan asked to replan{_in_step(step)}: {reason}"
        case GiveUp(step=step, reason=reason):
            return f"the plan gave up{_in_step(step)}: {reason}"
        case Finished():
            return "the plan ran to its end without success"


def _place(step: int | None) -> str:
    return f"step {step}" if step else "a line outside the steps"


def _in_step(step: int | None) -> str:
    return f" in step {step}" if step is not None else " outside the steps"
