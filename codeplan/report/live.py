"""Shows an episode on the terminal as it happens.

Every text of a plan, a model or an environment is cleaned first, so it cannot control the terminal.
"""

from __future__ import annotations

from typing import Any, Final

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from codeplan.errors import InfrastructureError
from codeplan.recording.events import CallBegun, EnvironmentReset, EpisodeEnded, Event, SpanClosed, WarningIssued
from codeplan.report import event_view
from codeplan.report.event_view import EventView, EventViewer, TextBlock, end_state, model_label
from codeplan.types import EnvironmentEnded, NeedsInput, Result, Usage
from codeplan.untrusted.comparison import diff_lines
from codeplan.untrusted.console import print_wrapped
from codeplan.untrusted.texts import clean, clip_lines, one_line, source_excerpt, with_count

_VERDICTS: Final = {
    "success": ("✓ Success", "bold green"),
    "claimed": ("? Claimed, not verified", "bold yellow"),
    "waiting": ("… Waiting for an approval", "bold yellow"),
    "failure": ("✗ Not solved", "bold red"),
}


def print_summary(console: Console, result: Result, *, with_failure: bool = False) -> None:
    """Print whether the episode succeeded, its counts, and the path of the trace.

    ``with_failure`` adds the last failure of an episode without success, for a reader who has not seen the events.
    """
    said, style = _VERDICTS[end_state(result)]
    said = "… Waiting for an answer" if isinstance(result.ending, NeedsInput) else said
    console.print(Text(said, style), soft_wrap=True)
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
    tool = f" of the tool {failure.tool}" if failure.tool else ""
    return f"{failure.error}{tool}{step}{line}: {one_line(failure.message, 300)}"


def _calls(result: Result) -> str:
    reused = result.usage.reused_replies
    return f"{result.model_calls}{f', {reused} of them answered by the cache of replies' if reused else ''}"


def _money(result: Result) -> str:
    """US dollars for the calls with known prices; empty if no endpoint was called."""
    if result.model == "scripted" or not result.model_calls:
        return ""
    if result.usage.money is not None:
        return f"${result.usage.money:.4f}"
    if result.usage.total_tokens is None:
        return "unknown, as the tokens are"
    return "unknown (no price for this model; --prices FILE gives one for an endpoint's)"


def _tokens(usage: Usage) -> str:
    if usage.input_tokens is None or usage.output_tokens is None:
        return "unknown (the model did not say)"
    share = usage.cached_share
    cached = f", {usage.cached_tokens:,} of them cached ({share:.0%})" if share else ""
    return f"{usage.input_tokens:,} in{cached} + {usage.output_tokens:,} out"


_MAX_SOURCE_LINES = 300
_MAX_DIAGNOSTICS = 20
_DIFF_STYLES = {"@": "cyan", " ": "dim", "-": "red", "+": "green"}

_TITLES = {
    "start": ("▶", "bold cyan"),
    "bad": ("✗", "bold red"),
    "warning": ("!", "yellow"),
    "quiet": ("…", "dim"),
    "plain": (" ", ""),
}
"""The mark and the style of a title, by its tone."""

_TEXTS: dict[str, tuple[str, str, str, int]] = {
    "start": ("Environment ", "dim", "dim", 12),
    "action": ("", "", "", 12),
    "observation": ("       ", "dim", "", 12),
    "question": ("    ask", "", "magenta", 6),
    "answer": ("     ->", "magenta", "", 6),
    "failure": ("  ", "red", "", 8),
    "output": ("      |", "dim", "", 12),
    "note": ("  ", "dim", "", 4),
}
"""The mark, the style of the text, the style of the mark and the maximum of lines, by a text's role."""


class LiveDisplay:
    """An event handler that prints each event to the console: coloured on a terminal, plain text elsewhere.

    ``plan_before`` is the source of the plan before the first event, None if there was none. ``failure_in_summary``
    has the summary repeat the last failure.

    Raises: InfrastructureError: the output cannot be written.
    """

    hears_replies = False

    def __init__(self, console: Console, plan_before: str | None = None, *, failure_in_summary: bool = False) -> None:
        self.console = console
        self._failure_in_summary = failure_in_summary
        self._viewer = EventViewer(plan_before)
        self._actions = 0
        self._step_title = ""

    def __call__(self, event: Event) -> None:
        view = self._viewer.view(event)
        if isinstance(event, SpanClosed | CallBegun):  # the call's answer follows
            return
        if isinstance(event, EnvironmentReset):
            self._actions = 0
        try:
            self._print_title(view)
            self._print_blocks(view)
        except OSError as e:  # an OSError would look like a failure of the code that caused the event
            raise InfrastructureError(f"the display cannot be written ({e.strerror or e}); check the output") from e

    def _print_title(self, view: EventView) -> None:
        roles = [block.role for block in view.blocks if isinstance(block, TextBlock)]
        if view.tone == "heading":
            self._print_heading(view.title)
        elif view.tone == "step":
            self._step_title = view.title
            self._print_text("", view.title, "bold blue")
        elif view.title and "question" not in roles:
            self._print_plain_title(view)

    def _print_plain_title(self, view: EventView) -> None:
        mark, style = _TITLES[view.tone]
        if view.tone in ("start", "quiet"):
            self.console.print()
        aside = f" ({view.aside})" if view.aside else ""
        follows = any(not (isinstance(b, TextBlock) and b.role == "traceback") for b in view.blocks)
        colon = ":" if view.tone == "bad" and follows else ""
        self._print_text(mark, f"{one_line(view.title, 1000)}{aside}{colon}", style)

    def _print_blocks(self, view: EventView) -> None:
        for block in view.blocks:
            match block:
                case TextBlock():
                    self._print_block(block, view.tone == "good")
                case event_view.PlanBlock(before=None):
                    self._print_source(block.source)
                case event_view.PlanBlock(before=str(before)):
                    self._print_changes(before, block.source)
                case event_view.FixesBlock():
                    self._print_fixes(block)
                case event_view.DiagnosticsBlock():
                    self._print_diagnostics(block)
                case event_view.PairsBlock():
                    for name, value in block.facts.items():
                        self._print_text(f"{name:12}", value, mark_style="dim")
                case event_view.ResultBlock():
                    self.console.print()
                    print_summary(self.console, block.result, with_failure=self._failure_in_summary)
                case _:
                    pass  # only the page shows variables, prompts and pictures

    def _print_block(self, block: TextBlock, success: bool) -> None:
        if block.role not in _TEXTS or (block.role == "output" and block.text.strip() == self._step_title):
            return  # a plan prints its step's title, which is shown already
        mark, style, mark_style, max_lines = _TEXTS[block.role]
        if block.role == "action":
            self._actions += 1
            mark = f"  {self._actions:3} >"
        if block.role == "observation" and success:
            style = "green"
        lines = clip_lines(block.text, max_lines)
        if block.role in ("start", "observation"):
            lines = [line for line in lines if line.strip()]
        self._print_text(mark, "\n".join(lines), style, mark_style=mark_style)

    def _print_heading(self, title: str) -> None:
        self.console.print()
        if self.console.is_terminal:
            self.console.print(Rule(Text(one_line(title), "bold"), align="left", style="dim"))
        else:
            self.console.print(Text(f"== {one_line(title)} =="), soft_wrap=True)

    def _print_text(self, mark: str, text: str, style: str = "", *, mark_style: str = "") -> None:
        """Print the text after a mark and indent its other lines; long lines are wrapped on a terminal only.

        The rows of a wrapped line begin where the line's own text begins.
        """
        indent = len(mark) + 1 if mark else 0
        for number, line in enumerate(clean(text).split("\n")):
            start = Text((mark if number == 0 else "").ljust(indent), mark_style or style)
            printed = Text.assemble(start, Text(line, style))
            printed.rstrip()
            own = len(line) - len(line.lstrip(" "))
            print_wrapped(self.console, printed, indent + own, fold=True)

    def _print_source(self, source: str) -> None:
        code = "\n".join(clip_lines(source, _MAX_SOURCE_LINES, 40_000))
        look: dict[str, Any] = {"theme": "ansi_dark", "background_color": "default"}
        shown = Syntax("", "python", **look).highlight(code) if self.console.is_terminal else Text(code)
        for number, line in enumerate(shown.split("\n", allow_blank=True)[: code.count("\n") + 1], 1):
            own = len(line.plain) - len(line.plain.lstrip(" "))
            printed = Text.assemble((f"{number:4}  ", "dim"), line)
            printed.rstrip()
            print_wrapped(self.console, printed, 6 + own, fold=True)

    def _print_changes(self, before: str, after: str) -> None:
        lines = list(diff_lines(before, after))
        if not lines:
            self._print_text("  ", "The same as the plan before.", "yellow")
        for mark, line in lines[:_MAX_SOURCE_LINES]:
            self._print_text(f"  {mark}", line, _DIFF_STYLES[mark])
        if len(lines) > _MAX_SOURCE_LINES:
            self._print_text("  ", f"… ({len(lines):,} changed lines in all; the trace has them)", "dim")

    def _print_fixes(self, block: event_view.FixesBlock) -> None:
        for fix in block.fixes[:_MAX_DIAGNOSTICS]:
            self._print_text("  ", one_line(f"line {fix.line} [{fix.rule}]", 200), "dim")
            for mark, line in (("-", fix.was), ("+", fix.now)):
                if line:
                    self._print_text(f"    {mark}", one_line(line, 1000), _DIFF_STYLES[mark])
        if (more := len(block.fixes) - _MAX_DIAGNOSTICS) > 0:
            self._print_text("  ", f"… ({with_count(more, 'more fix', 'more fixes')}; the trace has them)", "dim")

    def _print_diagnostics(self, block: event_view.DiagnosticsBlock) -> None:
        style = "yellow" if block.only_warnings else "red"
        for diagnostic in block.diagnostics[:_MAX_DIAGNOSTICS]:
            self._print_text("  ", str(diagnostic), style)
            room = {"width": self.console.width - 7} if self.console.is_terminal else {}
            for line in source_excerpt(block.source, diagnostic.line, diagnostic.column, **room):
                self._print_text("    ", line, "dim")


class SummaryDisplay:
    """An event handler that prints warnings and how the episode ended, and nothing else."""

    hears_replies = False

    def __init__(self, console: Console) -> None:
        self._display = LiveDisplay(console, failure_in_summary=True)

    def __call__(self, event: Event) -> None:
        if isinstance(event, WarningIssued | EpisodeEnded):
            self._display(event)
