"""Describes for a client how a run ended, in parts of bounded size, the same as in prompts for a refinement."""

from __future__ import annotations

from typing import Final

from codeplan.mcp_server.answers import Ended, RunAnswer, RunFailure, fix_texts, plan_faults
from codeplan.mcp_server.run_history import BROKEN_OFF, PastRun
from codeplan.planning.action_log import read_run
from codeplan.planning.feedback import RunReport, describe_outcome, prompt_values
from codeplan.planning.resume_point import find_resume_point, last_state, unfinished_step
from codeplan.tools.environment import ToolEnvironment
from codeplan.types import (
    BudgetSpent,
    Checkpoint,
    Ending,
    Failed,
    Finished,
    GiveUp,
    InfrastructureFailed,
    Outcome,
    Rejected,
    Replan,
    Stopped,
)
from codeplan.untrusted.excerpts import excerpt
from codeplan.untrusted.json_values import json_value

MAX_VALUE_BYTES: Final = 64 << 10
"""Maximum size of a plan's value as JSON, in bytes. A larger value is left out, and the answer says so."""

MAX_PRINTED: Final = 20_000
"""Maximum length of the printed text in an answer, in characters."""

_NO_QUESTIONS = "there is no language model to ask here: end a step with replan(reason), and go on with resume_plan"
_TOO_LARGE = (
    f"what the plan returned takes more than {MAX_VALUE_BYTES:,} bytes as JSON, or is nested too deeply; it is left "
    "out: resume the run with a step that returns a part of it"
)


def refusal_answer(rejected: Rejected, run: str | None = None) -> RunAnswer:
    """The answer for a plan that the check refused. ``run`` is the run that it was to resume."""
    faults, changes = plan_faults(rejected.diagnostics), fix_texts(rejected.fixes)
    return RunAnswer("refused", run, faults=faults, changes=changes)


def run_answer(run: str, past: PastRun, live: Outcome | None, ending: Ending | None, resumes: str | None) -> RunAnswer:
    """How a run ended.

    ``live`` is the outcome from the sandbox, which alone has the plan's value. None if there is none. ``ending`` is
    that of the episode.
    """
    outcome = live or past.attempt.outcome
    read = read_run(past.events, ToolEnvironment)
    report = RunReport(
        source=past.attempt.plan.source,
        problem=describe_outcome(outcome, lambda: ""),
        plan=past.attempt.plan,
        outcome=outcome,
        events=read,
        variables=_variables(past),
    )
    shown = prompt_values(report, ())
    finished = isinstance(outcome, Finished)
    value = json_value(outcome.value, MAX_VALUE_BYTES) if isinstance(outcome, Finished) else None
    return RunAnswer(
        _ended(outcome, ending),
        run,
        value=value,
        printed=excerpt(read.printed.strip("\n"), MAX_PRINTED, start=0.5),
        failure=_failure(outcome, ending, _text(shown["failed_line"])),
        changes=fix_texts(past.attempt.plan.fixes),
        resumes=resumes,
        started_from=read.started_from,
        resumable_step=_resumable_step(past, outcome),
        calls=sum(e.number is not None for e in read.exchanges),
        log="" if finished else _text(shown["log"]),
        variables="" if finished else _text(shown["variables"]),
        note=_note(outcome, value),
    )


def _note(outcome: Outcome, shown: object) -> str:
    """Why the value that is ``shown`` is not what the plan returned; empty if it is."""
    if not isinstance(outcome, Finished):
        return ""
    return _TOO_LARGE if shown is None and outcome.value is not None else outcome.value_fault


def _ended(outcome: Outcome, ending: Ending | None) -> Ended:
    match outcome:
        case Finished():
            return "finished"
        case Failed():
            return "failed"
        case Replan():
            return "replan"
        case GiveUp():
            return "gave_up"
        case Stopped() if outcome.limit != BROKEN_OFF:
            return "stopped"
    if isinstance(ending, BudgetSpent):
        return "budget"
    return "infrastructure" if isinstance(ending, InfrastructureFailed) else "interrupted"


def _failure(outcome: Outcome, ending: Ending | None, code: str) -> RunFailure | None:
    match outcome:
        case Finished():
            return None
        case Failed():
            return RunFailure(outcome.error, outcome.message, outcome.step, outcome.line, code)
        case Replan() | GiveUp():
            error = "replan" if isinstance(outcome, Replan) else "give_up"
            return RunFailure(error, outcome.reason, outcome.step, outcome.line)
        case Stopped(limit="asks"):
            return RunFailure("asks", _NO_QUESTIONS, outcome.step, outcome.line, code)
        case Stopped() if outcome.limit != BROKEN_OFF or ending is None:
            return RunFailure(outcome.limit, outcome.message, outcome.step, outcome.line, code)
    assert ending is not None
    return RunFailure(ending.name, ending.sentence, outcome.step)


def _resumable_step(past: PastRun, outcome: Outcome) -> int | None:
    """The step at which the same plan would continue; after a step that is done, the next step."""
    if isinstance(outcome, Finished) or (isinstance(outcome, Replan) and outcome.step_done):
        return None if outcome.step is None else outcome.step + 1
    plan, attempt = past.attempt.plan, past.attempt
    states = attempt.entries | last_state(plan, attempt, "failure")
    return find_resume_point(plan, plan, unfinished_step(attempt, plan), states)


def _variables(past: PastRun) -> Checkpoint:
    """The variables that the next plan can start with."""
    if past.attempt.outcome.checkpoint is not None:
        return past.attempt.outcome.checkpoint
    entries = past.attempt.entries
    return entries[max(entries)] if entries else Checkpoint()


def _text(shown: object) -> str:
    assert isinstance(shown, str), "these parts of a prompt are texts"
    return shown
