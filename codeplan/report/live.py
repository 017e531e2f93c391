"""An episode shown as it happens. Every text that comes from a plan, a model or an environment is cleaned first."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from codeplan.errors import InfrastructureError
from codeplan.recording.events import (
    ActionTaken,
    EnvironmentReset,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    ModelCalled,
    PlanDrafted,
    PlanFailed,
    PlanFinished,
    PlanRejected,
    PlanStarted,
    PlanStopped,
    SkillsChosen,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TextPrinted,
    TextsEmbedded,
    WarningIssued,
)
from codeplan.report.summary import model_label, print_summary
from codeplan.report.text import clean, clip_lines, diff_lines, one_line, source_excerpt
from codeplan.types.model import Purpose

_MAX_SOURCE_LINES = 300
_DIFF_STYLES = {"@": "cyan", " ": "dim", "-": "red", "+": "green"}
_ORIGINS = {"plan": "", "check": ", repaired", "refine": ", refined"}


class LiveDisplay:
    """A listener that prints each event to the console: coloured on a terminal, plain text elsewhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._source = ""
        self._actions = 0
        self._step = ""

    def __call__(self, event: Event) -> None:
        try:
            self._show(event)
        except OSError as e:  # as it is, it would pass for a failure of whatever was going on
            raise InfrastructureError(f"the display cannot be written: {e.strerror or e}; see to the output") from None

    def _show(self, event: Event) -> None:
        match event:
            case EpisodeStarted():
                self._episode(event)
            case EnvironmentReset():
                self._reset(event)
            case PlanDrafted():
                self._drafted(event)
            case PlanRejected():
                self._rejected(event)
            case PlanStarted():
                self._started(event)
            case StepEntered():
                self._entered(event)
            case ActionTaken():
                self._acted(event)
            case ModelCalled(purpose="ask"):
                self._asked(event)
            case ModelCalled():
                self._called(event)
            case TextPrinted():
                self._printed(event.text)
            case PlanFailed():
                self._failed(event)
            case PlanStopped():
                where = _where(event.step, event.line)
                self._say("■", f"The plan was stopped {where}: {event.message}", "bold red")
            case PlanFinished():
                self._say("■", "The plan ran to its end.", "dim")
            case SpanOpened():
                self._heading(f"{event.kind} {event.name}")
            case SkillsChosen():
                names = ", ".join(one_line(f"{c.name} (version {c.version})") for c in event.chosen) or "none that fits"
                self._say("  ", f"Skills for this task: {names}", "dim")
            case TextsEmbedded():
                texts = f"{event.texts} text{'s' * (event.texts != 1)}"
                self._say("  ", f"{texts} to the embedding model {one_line(event.model)}", "dim")
            case WarningIssued():
                self._say("!", f"Warning: {event.message}", "yellow")
            case EpisodeEnded():
                self.console.print()
                print_summary(self.console, event.result)
            case SpanClosed():
                pass

    # -------------------------------------------------------------- the episode

    def _episode(self, e: EpisodeStarted) -> None:
        self._heading(f"{e.task.env or 'task'} · {e.task.id}")
        rows = {"Goal": e.task.goal, "Method": e.method, "Model": model_label(e.model)}
        for name, value in rows.items():
            if value:
                self._say(f"{name:8}", value, mark_style="dim")

    def _reset(self, e: EnvironmentReset) -> None:
        self._actions = 0
        self._say("World   ", _seen(e.observation.text), "dim", mark_style="dim")

    # -------------------------------------------------------------- plans

    def _drafted(self, e: PlanDrafted) -> None:
        before, self._source = self._source, e.source
        self._heading(f"Plan {e.number}{_ORIGINS.get(e.origin, '')}")
        if before:
            self._changes(before, e.source)
        else:
            self._numbered(e.source)

    def _rejected(self, e: PlanRejected) -> None:
        self._say("✗", "Refused before any of it ran:", "bold red")
        for d in e.diagnostics[:20]:
            self._say("  ", str(d), "red")
            for line in source_excerpt(self._source, d):
                self._say("    ", line, "dim", wrap=False)

    def _started(self, e: PlanStarted) -> None:
        self.console.print()
        names = one_line(", ".join(e.restored)) or "none"
        if e.restored or e.start_from > 1:
            said = f"Plan {e.number} resumes at step {e.start_from} with its variables: {names}"
        else:
            said = f"Plan {e.number} runs from step {e.start_from}"
        self._say("▶", said, "bold cyan")
        if e.dropped:
            self._say("  ", f"not saved: {one_line(', '.join(e.dropped))}", "dim")

    def _entered(self, e: StepEntered) -> None:
        self._step = f"[Step {e.step}] {e.title}"
        self._say(f"[Step {e.step}]", e.title, "bold", mark_style="bold blue")

    def _printed(self, text: str) -> None:
        if text.strip() != self._step:  # a plan prints its step's title, which is shown already
            self._say("      |", "\n".join(clip_lines(text, 12)), "dim")

    def _failed(self, e: PlanFailed) -> None:
        what = "An assertion failed" if e.error == "AssertionError" else f"The plan raised {e.error}"
        self._say("✗", f"{what} {_where(e.step, e.line)}:", "bold red")
        self._say("  ", "\n".join(clip_lines(e.message, 8)), "red")

    # -------------------------------------------------------------- acts and asks

    def _acted(self, e: ActionTaken) -> None:
        self._actions += 1
        self._say(f"  {self._actions:3} >", e.action)
        style = "green" if e.observation.success else "dim"
        self._say("       ", _seen(e.observation.text), style)

    def _asked(self, e: ModelCalled) -> None:
        self._say("    ask", "\n".join(clip_lines(_question(e), 6)), mark_style="magenta")
        self._say("     ->", "\n".join(clip_lines(e.completion.text, 6)), "magenta")

    def _called(self, e: ModelCalled) -> None:
        tokens = e.completion.usage.total_tokens
        cost = "tokens unknown" if tokens is None else f"{tokens:,} tokens"
        retried = f", retries: {e.completion.retries}" if e.completion.retries else ""
        self.console.print()
        self._say("…", f"The model was called to {_TASKS[e.purpose]} ({cost}, {e.seconds:.1f} s{retried})", "dim")

    # -------------------------------------------------------------- how it is printed

    def _heading(self, title: str) -> None:
        self.console.print()
        if self.console.is_terminal:
            self.console.print(Rule(Text(one_line(title), "bold"), align="left", style="dim"))
        else:
            self.console.print(Text(f"== {one_line(title)} =="), soft_wrap=True)

    def _say(self, mark: str, text: str, style: str = "", *, mark_style: str = "", wrap: bool = True) -> None:
        """Print the text after a mark, further lines under the first; long lines are wrapped on a terminal only."""
        indent = len(mark) + 1
        lines: list[Text] = []
        for line in clean(text).split("\n"):
            whole = Text(line, style)
            room = max(self.console.width - indent, 20)
            lines += whole.wrap(self.console, room) if wrap and self.console.is_terminal else [whole]
        for number, part in enumerate(lines):
            start = Text(mark if number == 0 else " " * len(mark), mark_style or style)
            shown = Text.assemble(start, " ", part)
            shown.rstrip()
            self.console.print(shown, soft_wrap=True)

    def _numbered(self, source: str) -> None:
        lines = clip_lines(source, _MAX_SOURCE_LINES, 40_000)
        if not self.console.is_terminal:
            for number, line in enumerate(lines, 1):
                self.console.print(Text(f"{number:4}  {line}".rstrip()), soft_wrap=True)
            return
        look: dict[str, Any] = {"theme": "ansi_dark", "line_numbers": True, "background_color": "default"}
        self.console.print(Syntax("\n".join(lines), "python", word_wrap=True, **look))

    def _changes(self, before: str, after: str) -> None:
        lines = list(diff_lines(before, after))
        if not lines:
            self._say("  ", "The same as the plan before.", "yellow")
        for mark, line in lines[:_MAX_SOURCE_LINES]:
            self._say(f"  {mark}", line, _DIFF_STYLES[mark])
        if len(lines) > _MAX_SOURCE_LINES:
            self._say("  ", f"… ({len(lines):,} changed lines in all; the trace has them)", "dim")


class SummaryDisplay:
    """A listener that prints how the episode ended, and what its figures do not show; nothing before."""

    def __init__(self, console: Console) -> None:
        self._live = LiveDisplay(console)

    def __call__(self, event: Event) -> None:
        if isinstance(event, WarningIssued | EpisodeEnded):
            self._live(event)


_TASKS: dict[Purpose, str] = {
    "plan": "write a plan",
    "check": "repair the plan",
    "refine": "refine the plan",
    "resume": "name the step to resume at",
    "act": "choose the next action",
    "formalise": "put an action into a valid form",
    "reflect": "look back at what was done",
    "embed": "embed texts",
}


def _where(step: int | None, line: int | None) -> str:
    place = f"in step {step}" if step is not None else "outside all steps"
    return f"{place}, line {line}" if line is not None else place


def _seen(observation: str) -> str:
    return "\n".join(line for line in clip_lines(observation, 12) if line.strip())


def _question(e: ModelCalled) -> str:
    return next((m["content"] for m in reversed(e.messages) if m["role"] == "user"), "")
