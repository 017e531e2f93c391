"""Reports to the plan writer what happened to the latest plan, as text within bounds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final, Literal

from codeplan.planning.action_log import RunEvents, format_log
from codeplan.planning.limits_left import LimitsLeft
from codeplan.planning.prompt_sizes import MAX_FIXES_SHOWN, MAX_OLDER_CHARS, MAX_PART_CHARS, MAX_WHOLE_CHARS
from codeplan.sandbox import decode
from codeplan.types import Checkpoint, Failed, Finished, Fix, GiveUp, Outcome, Plan, Rejected, Replan, Stopped, Value
from codeplan.untrusted.excerpts import excerpt
from codeplan.untrusted.noun_phrases import with_count
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.variables import clip_name, variable_texts

NextStart = Literal["resume", "first step", "reset"]
"""Where the next plan starts: at the resume point, or at its first step, with or without a reset of the environment
before.
"""

_MAX_VALUE: Final = 2_000  # characters of one variable
_MAX_STRING: Final = 200  # characters of a text, alone or within a list
_MAX_LOST, _MAX_REASON = 12, 100  # variables that could not be saved, and the characters of the reason
_MAX_CODE: Final = 120  # characters of the line that failed
_MAX_SUMMARY: Final = 200  # characters of the line about an earlier attempt
_PRINTED: Final = "<as printed>"
_MIN_PRINTED: Final = 60  # characters from which on a value's text is not repeated if the plan printed it
_MIN_IN_FEEDBACK: Final = 200  # characters of an answer that has a name in the error's message
_MAX_SOUGHT: Final = 60_000  # characters of what was printed in which answers are sought
_NAME: Final = re.compile(r"\w+")


class RunReport(Value, frozen=True):
    """The report on the latest plan.

    ``source`` is its text after the check's fixes. ``plan`` and ``outcome`` are None if the check refused it.
    ``problem`` is the first sentence on what went wrong. ``events`` are the events of the run, ``observation`` is the
    newest observation. ``variables`` are the variables that the next plan can start with. ``left`` holds the limits of
    the next run. ``next_start`` says where the next plan starts.
    """

    source: str
    problem: str
    plan: Plan | None = None
    outcome: Outcome | None = None
    events: RunEvents = RunEvents()
    observation: str = ""
    variables: Checkpoint = Checkpoint()
    left: LimitsLeft = LimitsLeft()
    next_start: NextStart = "resume"

    @property
    def summary(self) -> str:
        """The attempt in a line."""
        if self.outcome is None:
            return one_line(f"refused before it ran: {self.problem}", _MAX_SUMMARY)
        actions = sum(e.number is not None for e in self.events.exchanges)
        done = f"from [Step {self.events.started_from}] on, {with_count(actions, 'action')}: "
        return one_line(f"{done}{self.problem}", _MAX_SUMMARY)


def describe_refusal(rejected: Rejected) -> str:
    """The reasons of the check, one per line."""
    return "\n".join(str(d) for d in rejected.diagnostics)


def describe_outcome(outcome: Outcome, agent_report: Callable[[], str]) -> str:
    """What went wrong in a run. ``agent_report`` is asked only about a plan that ran to its end."""
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


def prompt_values(report: RunReport, attempts: tuple[str, ...]) -> dict[str, object]:
    """The values of ``adaplanner/turn``, within MAX_PART_CHARS. ``attempts`` has a line for each earlier one."""
    outcome = report.outcome
    output = excerpt(report.events.printed.strip("\n"), _MAX_SOUGHT, start=0.5)
    log = format_log(report.events.exchanges, MAX_OLDER_CHARS, MAX_WHOLE_CHARS, output)
    printed = excerpt(log.whole.name_in(output), MAX_PART_CHARS["printed"], start=0.5)
    return {
        "feedback": excerpt(log.whole.name_in(report.problem, _MIN_IN_FEEDBACK), MAX_PART_CHARS["feedback"]),
        "failed_line": _failed_line(report),
        "log": log.text,
        "printed": printed,
        "now": _observation_now(report),
        "variables": _describe_variables(report, log.shown.names, printed),
        "fixes": _fix_lines(report.plan.fixes if report.plan else ()),
        "left": report.left.lines,
        "attempts": attempts,
        "refused": outcome is None,
        "finished": isinstance(outcome, Finished),
        "replanned": isinstance(outcome, Replan),
        "unfinished": isinstance(outcome, Replan) and not outcome.step_done,
        "step": _next_step(outcome),
        "next_start": report.next_start,
    }


def rewrite_values(report: RunReport) -> dict[str, object]:
    """The values that ``adaplanner/rewrite`` adds to those of a first plan, within MAX_PART_CHARS."""
    return {
        "feedback": excerpt(report.problem, MAX_PART_CHARS["feedback"]),
        "left": report.left.lines,
        "refused": report.outcome is None,
        "next_start": report.next_start,
    }


def _next_step(outcome: Outcome | None) -> int | None:
    """The step at which the run ended, or the one after a step that is done; None outside all steps."""
    if isinstance(outcome, Replan) and outcome.step_done and outcome.step is not None:
        return outcome.step + 1
    return outcome.step if outcome else None


def _failed_line(report: RunReport) -> str:
    """The line of code that failed, without its indentation; empty if there is none."""
    number = report.outcome.line if isinstance(report.outcome, Failed | Stopped) else None
    lines = re.split(r"\r\n|\r|\n", report.source)
    return one_line(lines[number - 1], _MAX_CODE) if number is not None and 0 < number <= len(lines) else ""


def _observation_now(report: RunReport) -> str:
    """The newest observation; empty if the log ends with it, or if there was no run."""
    answers = [e.answer for e in report.events.exchanges if e.number is not None][-1:]
    shown = report.outcome is None or report.observation in answers
    return "" if shown else excerpt(report.observation, MAX_PART_CHARS["now"], start=0.7)


def _fix_lines(fixes: tuple[Fix, ...]) -> tuple[str, ...]:
    more = len(fixes) - MAX_FIXES_SHOWN
    return (*map(str, fixes[:MAX_FIXES_SHOWN]), *([f"and {more:,} more"] if more > 0 else []))


# ------------------------------------------------------------------ variables


def _describe_variables(report: RunReport, answers: Mapping[str, str], printed: str) -> str:
    """The plan's saved variables as lines ``name = value``, then the variables that could not be saved, within
    MAX_PART_CHARS.

    ``answers`` are the names of the answers in the log, and ``printed`` is what the prompt shows of the output:
    neither is repeated. Helper functions are left out, and so are names that older plans set and this plan does not
    contain.
    """
    if report.plan is None:
        return ""
    known = {*_NAME.findall(unicodedata.normalize("NFKC", report.plan.source))}
    values = {name: value for name, value in decode(report.variables).items() if name in known}
    lost = _lost_lines({n: why for n, why in report.variables.dropped.items() if n not in report.plan.provides})
    room = MAX_PART_CHARS["variables"] - sum(len(line) + 1 for line in lost) - _MAX_REASON
    shown = variable_texts(values, room, max_each=_MAX_VALUE, max_string=_MAX_STRING, counts=True, names=answers)
    texts = {
        name: _PRINTED if len(text) >= _MIN_PRINTED and text in printed else text for name, text in shown.texts.items()
    }
    lines = [f"{clip_name(name)} = {text}" for name, text in texts.items()]
    if shown.unshown:
        more = f" and {shown.unnamed:,} more" if shown.unnamed else ""
        lines.append(f"# saved, but not shown: {', '.join(shown.unshown)}{more}")
    return "\n".join(lines + lost)


def _lost_lines(dropped: Mapping[str, str]) -> list[str]:
    named = islice(dropped.items(), _MAX_LOST)
    lines = [f"{clip_name(name)} was not saved ({one_line(why, _MAX_REASON)})" for name, why in named]
    more = len(dropped) - len(lines)
    return [*lines, f"# not saved: {with_count(more, 'more variable')}"] if more else lines
