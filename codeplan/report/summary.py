"""The end of an episode as a small table."""

from __future__ import annotations

from typing import Final, Literal

from rich.console import Console
from rich.text import Text

from codeplan.types import Claimed, EnvironmentEnded, Result, Usage
from codeplan.untrusted.console import print_wrapped
from codeplan.untrusted.terminal import clip_lines, one_line

STAND_IN_LABEL = "scripted stand-in, not a language model"
"""The label of the scripted model wherever a reader could take its figures for a language model's."""


EndState = Literal["success", "claimed", "failure"]
"""An episode's outcome: solved; only claimed, without confirmation or denial; or not solved."""

_VERDICTS: Final = {
    "success": ("✓ Success", "bold green"),
    "claimed": ("? Claimed, not verified", "bold yellow"),
    "failure": ("✗ Not solved", "bold red"),
}


def end_state(result: Result) -> EndState:
    """The episode's outcome, without regard to its infrastructure."""
    return "success" if result.success else "claimed" if isinstance(result.ending, Claimed) else "failure"


def model_label(name: str) -> str:
    """The model's name; for the scripted one, its label."""
    return STAND_IN_LABEL if name == "scripted" else one_line(name)


def print_summary(console: Console, result: Result, *, with_failure: bool = False) -> None:
    """Print whether the episode succeeded, its counts, and the path of the trace.

    ``with_failure`` adds the last failure of an episode without success, for a reader who has not seen the events.
    """
    console.print(Text(*_VERDICTS[end_state(result)]), soft_wrap=True)
    for name, value in _rows(result, with_failure).items():
        print_wrapped(console, Text.assemble("  ", Text(f"{name:13}", "dim"), value), 15)


def _rows(result: Result, with_failure: bool) -> dict[str, str]:
    task = f"{result.task.env} {result.task.id}".strip()
    rows = {
        "Task": one_line(f"{task}: {result.task.goal}" if result.task.goal else task),
        "Reason": "" if result.success else " ".join(clip_lines(result.reason, 4, 600)),
        "Last failure": _failure(result) if with_failure else "",
        "Actions": str(result.actions),
        "Asks": str(result.asks),
        "Refinements": str(result.refinements),
        "Model calls": _calls(result),
        "Tokens": _tokens(result.usage),
        "Money": _money(result),
        "Seconds": f"{result.seconds:.2f}",
        "Model": model_label(result.model) if result.has_model else "",
        "Trace": result.trace or "",
    }
    return {name: value for name, value in rows.items() if value}


def _failure(result: Result) -> str:
    """The last thing that went wrong, and where; empty after a success, and if the reason says it."""
    failure = result.failure
    if failure is None or result.success or isinstance(result.ending, EnvironmentEnded):
        return ""
    if failure.message in result.reason:  # exec gives the failure of its one plan as the reason
        return ""
    step = f" in step {failure.step}" if failure.step else ""
    line = f"{' in' if not step else ','} line {failure.line}" if failure.line else ""
    where = f" of the tool {failure.tool}" if failure.tool else f"{step}{line}"
    return f"{failure.error}{where}: {one_line(failure.message, 300)}"


def _calls(result: Result) -> str:
    reused = result.usage.reused_replies
    return f"{result.model_calls}{f', {reused} of them answered by the cache of replies' if reused else ''}"


def _money(result: Result) -> str:
    """US dollars for the calls with known prices; empty if no endpoint was called."""
    if result.model == "scripted" or not result.model_calls:
        return ""
    if result.usage.money is None:
        return "unknown (no price for this model; --prices FILE gives one)"
    return f"${result.usage.money:.4f}"


def _tokens(usage: Usage) -> str:
    if usage.input_tokens is None or usage.output_tokens is None:
        return "unknown (the endpoint did not say)"
    share = usage.cached_share
    cached = f", {usage.cached_tokens:,} of them cached ({share:.0%})" if share else ""
    return f"{usage.input_tokens:,} in{cached} + {usage.output_tokens:,} out"
