"""What commands show while they work, and what they print at the end."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, assert_never

import typer

from codeplan.errors import CodeplanError
from codeplan.untrusted.texts import clean, echo, echo_message, one_line, shell_word

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.status import Status
    from rich.text import Text

    from codeplan.bench.store import BenchRecord, EpisodeOutcome
    from codeplan.curation.curation_runner import EpisodeRecord
    from codeplan.recording.events import Event, EventHandler
    from codeplan.types import Ending, Result


@contextmanager
def reserved_for_json(reserved: bool) -> Iterator[None]:
    """If ``reserved``, what this process and the programs that it starts print meanwhile goes to standard error."""
    kept = _duplicate(1) if reserved else None
    if kept is None:
        yield
        return
    sys.stdout.flush()
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _duplicate(descriptor: int) -> int | None:
    """Another descriptor of the same file; None if there is none, or no standard error to print to instead."""
    try:
        os.fstat(2)
        return os.dup(descriptor)
    except OSError:
        return None


DELAY_SECONDS: Final = 0.5
"""How long nothing may happen before the line appears."""

_FRAME_SECONDS: Final = 0.25
_TAIL_LINES: Final = 3  # of a reply that is being written
_MAX_TAIL_CHARS: Final = 2_000
_WITHOUT_PLAN: Final = "The environment works"
_WITH_PLAN: Final = "The plan or its environment works"


class WaitingLine:
    """The line, and below it the last lines of a reply that a model writes just now. It is gone while ``hidden``
    prints something, or asks the user.

    ``working`` is what it says while no model is called.
    """

    def __init__(self, console: Console, working: str) -> None:
        self._console, self._working = console, working
        self._lock = threading.RLock()
        self._began = self._since = time.monotonic()
        self._purpose = self._reply = ""
        self._status: Status | None = None
        self._hidden = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._move, name="codeplan-waiting-line", daemon=True)
        self._thread.start()

    def tell(self, purpose: str) -> None:
        """A model is being called for this purpose; an empty text: no longer."""
        with self._lock:
            self._purpose, self._reply = purpose, ""
            self._restart()

    def tell_reply(self, start: int, text: str) -> None:
        """The model writes this at this place of its reply."""
        with self._lock:
            self._reply = ((self._reply if start else "") + text)[-_MAX_TAIL_CHARS:]

    def tell_plan(self) -> None:
        """A plan runs from now on: the line says that the plan or its environment works."""
        with self._lock:
            if self._working == _WITHOUT_PLAN:
                self._working = _WITH_PLAN

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Inside this context there is no line."""
        with self._lock:
            self._hidden += 1
            self._restart()
        try:
            yield
        finally:
            with self._lock:
                self._hidden -= 1
                self._since = time.monotonic()

    def close(self) -> None:
        """Remove the line for good."""
        self._ended.set()
        self._thread.join()
        with self._lock:
            self._restart()

    def _restart(self) -> None:
        self._since = time.monotonic()
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _move(self) -> None:
        while not self._ended.wait(_FRAME_SECONDS):
            with self._lock:
                if self._hidden or time.monotonic() - self._since < DELAY_SECONDS:
                    continue
                if self._status is None:
                    self._status = self._console.status("", spinner_style="dim", refresh_per_second=8)
                    self._status.start()
                self._status.update(self._text())

    def _text(self) -> Text:
        from rich.text import Text

        from codeplan.report.event_view import describe_purpose

        now = time.monotonic()
        doing = f"The model is called to {describe_purpose(self._purpose)}" if self._purpose else self._working
        told = f"{doing}: {now - self._since:.0f} s, {now - self._began:.0f} s in all"
        return Text("\n".join([told, *reply_tail(self._reply, self._console.width - 2)]))


def reply_tail(reply: str, width: int) -> list[str]:
    """The last lines of a reply that is being written, none longer than ``width``."""
    lines = [line for line in clean(reply).split("\n") if line.strip()]
    return [line if len(line) <= width else "…" + line[1 - width :] for line in lines[-_TAIL_LINES:]]


_current: WaitingLine | None = None


@contextmanager
def waiting_line(working: str = _WITHOUT_PLAN) -> Iterator[None]:
    """Show the line while the command runs, unless standard error is no terminal.

    Unless ``working`` says otherwise, the environment works until the first plan runs.
    """
    global _current
    from codeplan.recording.trace import observe_activity
    from codeplan.untrusted.console import CleanConsole

    console = CleanConsole(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal or _current is not None:
        yield
        return
    line = _current = WaitingLine(console, working)
    try:
        with observe_activity(line.tell):
            yield
    finally:
        _current = None
        line.close()


@contextmanager
def without_line() -> Iterator[None]:
    """Print or ask inside this context: the line is gone meanwhile."""
    if _current is None:
        yield
        return
    with _current.hidden():
        yield


class AboveLine:
    """The handler, with the line gone while it prints. The line learns from the events whether a plan runs, and shows
    the replies of models while they are written.
    """

    def __init__(self, show: Callable[[Event], Any]) -> None:
        self._show = show

    @property
    def hears_replies(self) -> bool:
        return _current is not None

    def __call__(self, event: Event) -> None:
        from codeplan.recording.events import PlanStarted, ReplyWritten

        if isinstance(event, ReplyWritten):
            if _current is not None:
                _current.tell_reply(event.start, event.text)
            return
        if _current is not None and isinstance(event, PlanStarted):
            _current.tell_plan()
        with without_line():
            self._show(event)


class EpisodeCounts:
    """Counts of the episodes that ended so far, and their text. ``total`` is None if unknown."""

    def __init__(self, total: int | None) -> None:
        self.total, self.ended, self.solved, self.broken, self.money = total, 0, 0, 0, 0.0
        self.unpriced = 0

    def add(self, result: Result | None, broken: bool = False) -> None:
        """Count an episode. One that was broken off will run again, so it does not count as ended."""
        broken = broken or result is None
        self.broken += broken
        self.ended += not broken
        if result:
            self.solved += result.success and not broken
            self.money += result.usage.money or 0.0
            self.unpriced += result.usage.money is None

    def __str__(self) -> str:
        ended = f"{self.ended} ended" if self.total is None else f"{self.ended}/{self.total} ended"
        parts = [ended, f"{self.solved} solved"]
        parts += [f"{self.broken} broken off"] if self.broken else []
        parts += [self._spent()] if self.money or self.unpriced else []
        return ", ".join(parts)

    def _spent(self) -> str:
        """The known money; what an episode cost is unknown if one of its calls has no price."""
        if not self.unpriced:
            return f"${self.money:.2f}"
        return f"${self.money:.2f} and an unknown cost" if self.money else "cost unknown"


class CurationProgressBar:
    """The bars of curation, one after the other: a CurationObserver. Money counts from the first phase on."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._lock = progress, threading.Lock()
        self._phase, self._counts = "", EpisodeCounts(None)
        self._bar = progress.add_task("choosing tasks", total=None)

    def begin(self, phase: str, episodes: int | None) -> None:
        """Start a new bar for the phase."""
        with self._lock:
            before, self._phase, self._counts = self._counts, one_line(phase, 30), EpisodeCounts(episodes)
            self._counts.money, self._counts.unpriced = before.money, before.unpriced
            self._progress.reset(self._bar, total=episodes, description=self._text())

    def add(self, episode: EpisodeRecord | None) -> None:
        """Count an episode that ended."""
        with self._lock:
            self._counts.add(episode.result if episode else None)
            done = self._counts.ended + self._counts.broken
            self._progress.update(self._bar, completed=done, description=self._text())

    def say(self, what: str) -> None:
        """Print a line above the bar."""
        from rich.text import Text

        from codeplan.untrusted.console import print_wrapped

        print_wrapped(self._progress.console, Text(one_line(what, 400)))

    def _text(self) -> str:
        return f"{self._phase}: {self._counts}"


@contextmanager
def bench_progress(bench: BenchRecord) -> Iterator[Callable[[EpisodeOutcome], None] | None]:
    """The callable to call with each episode that ends, given the bench as it begins; None without a terminal."""
    with _progress() as progress:
        if progress is None:
            yield None
            return
        counts = EpisodeCounts(bench.total_episodes)
        for ended in bench.outcomes:
            if not ended.broken:
                counts.add(ended.result)
        bar = progress.add_task(str(counts), total=counts.total, completed=counts.ended)

        def show(ended: EpisodeOutcome) -> None:
            counts.add(ended.result, ended.broken)
            progress.update(bar, completed=counts.ended, description=str(counts))

        yield show


@contextmanager
def learning_progress(episodes: int) -> Iterator[EventHandler | None]:
    """The handler of the events of a training of ``episodes`` episodes; None without a terminal."""
    with _progress() as progress:
        if progress is None:
            yield None
            return
        counts = EpisodeCounts(episodes)
        bar = progress.add_task(f"learning: {counts}", total=episodes)

        def show(event: Event) -> None:
            from codeplan.recording.events import EpisodeEnded

            if isinstance(event, EpisodeEnded):
                counts.add(event.result, event.broken_off)
            progress.update(bar, completed=counts.ended, description=f"learning: {counts}")

        yield show


@contextmanager
def counting_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """The handler of how many of how many are done, such as "3/8 mutants"; it shows nothing without a terminal."""
    with _progress() as progress:
        bar = progress.add_task(what, total=None) if progress else None

        def show(done: int, total: int) -> None:
            if progress and bar is not None:
                progress.update(bar, completed=done, total=total, description=f"{done}/{total} {what}")

        yield show


@contextmanager
def curation_progress() -> Iterator[CurationProgressBar | None]:
    """The observer of curation; None without a terminal."""
    with _progress() as progress:
        yield CurationProgressBar(progress) if progress else None


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A line of progress that fits the terminal: the bar gives way to the text."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    from codeplan.untrusted.console import CleanConsole

    console = CleanConsole(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=None, table_column=Column(ratio=1, min_width=4)),
        TimeElapsedColumn(),
        TextColumn("left:", style="dim"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, expand=True, refresh_per_second=4) as progress:
        yield progress


def make_console() -> Console:
    """The console of standard output: colours on a terminal, plain text elsewhere."""
    from codeplan.untrusted.console import CleanConsole

    return CleanConsole()


def print_json(value: Any) -> None:
    """Print plain data, and the frozen values in it, as JSON in ASCII."""
    echo(_json_text(value))


def print_json_list(values: Iterable[Any]) -> None:
    """Print as ``print_json`` prints a list of the values, one after the other: there may be very many."""
    before = "["
    for value in values:
        echo(f"{before}\n  " + _json_text(value).replace("\n", "\n  "), end="")
        before = ","
    echo("[]" if before == "[" else "\n]")


def _json_text(value: Any) -> str:
    from codeplan.report.json_output import to_plain_data

    text = json.dumps(to_plain_data(value), indent=2)
    return text.replace("\x7f", "\\u007f")  # the one control character that JSON in ASCII may hold


def print_output(document: Any, as_json: bool, lines: Callable[[], Iterable[str]]) -> None:
    """Print the document as JSON, or else the lines of text."""
    if as_json:
        print_json(document)
    else:
        echo("\n".join(lines()))


def warn_unpriced_models(names: Iterable[str]) -> None:
    """Say on stderr that a budget of money does not limit these models, for which no price is known."""
    for name in names:
        unpriced = f"no price is known for the model {name}: its calls do not count in the budget of money"
        echo_message(f"{unpriced}; give a table with --prices FILE", "codeplan: ", err=True)


def show_value(result: Result) -> None:
    """Print what the plan returned as JSON, on lines of its own."""
    if result.value is not None:
        print_json(result.value)


def end_episode(result: Result, document: Any, *, unverified: bool = False, files: str = "") -> NoReturn:
    """Print the document as JSON unless it is None, and exit with the code of the episode's ending.

    With ``unverified``, tools had no verifier: say on standard error how a claimed result is verified. If the episode
    waits for an approval, the command that answers is printed there, too. ``files`` are the options that name the
    user's own files again, in commands with which the episode goes on.
    """
    code, hint = _verdict(result.ending)
    if hint and unverified:
        echo_message(hint, err=True)
    if result.ending.name in ("waiting", "needs_input"):
        echo_message(_way_to_answer(result, files), "codeplan: ", err=True)
    elif way := _way_on(result, files):
        echo_message(f"to go on, run: {way}", "codeplan: ", err=True)
    if document is not None:
        print_json(document)
    raise typer.Exit(code)


def _way_to_answer(result: Result, files: str) -> str:
    """How to go on with an episode that waits for the user."""
    from pathlib import Path

    if result.trace is None:
        return f"{result.reason}; without --out there is no trace to go on with"
    if result.ending.name == "needs_input":
        way = f"codeplan resume {shell_word(Path(result.trace).parent)} --answer '…'{files}"
        return f"it waits for your answer; run: {way}; name the tools again, as before"
    return f"it waits for your approval; answer with: codeplan approve {shell_word(Path(result.trace).parent)}"


def _verdict(ending: Ending) -> tuple[int, str]:
    """The exit code of a command whose episode ended so, and a hint for an episode without a verifier."""
    from codeplan.types import result as endings

    match ending:
        case endings.Success():
            return 0, ""
        case endings.BudgetSpent() | endings.TraceFull():
            return 3, ""
        case endings.Waiting() | endings.NeedsInput():
            return 5, ""
        case endings.Claimed():
            return 1, "Nobody decides about the result; --verify FILE.py:FUNCTION names a function that does."
        case endings.GaveUp() | endings.NoProgress() | endings.Refused() | endings.NotSolved() | endings.TooLarge():
            return 1, ""
        case endings.EnvironmentEnded() | endings.TrialEnded():
            return 1, ""
        case endings.Interrupted() | endings.InfrastructureFailed() | endings.Crashed():
            return 1, ""  # as recorded in a trace; an episode that ends so now raises an error instead
    assert_never(ending)


def _way_on(result: Result, files: str) -> str:
    """The command with which an episode goes on that ended for want of something; empty if there is none."""
    from codeplan.recording.event_log import MAX_TRACE_BYTES, SIZE_VARIABLE
    from codeplan.runner.recorded_episodes import MORE_TRIES, budget_option
    from codeplan.types import BudgetSpent, TraceFull

    if result.trace is None:
        return ""
    match result.ending:
        case BudgetSpent(kind=kind, limit=limit):
            missing = budget_option(kind, 2 * limit or 1)
        case TraceFull():
            missing = f"{SIZE_VARIABLE}={2 * (MAX_TRACE_BYTES >> 20)}"
        case ending if isinstance(ending, MORE_TRIES) and result.method == "adaplanner":
            missing = "--tries 3"
        case _:
            return ""
    variable = f"{missing} " if missing.startswith("CODEPLAN") else ""
    command = f"codeplan resume {shell_word(Path(result.trace).parent)}{'' if variable else f' {missing}'}{files}"
    tools = "; name the tools again, as for this command" if result.task.env == "tools" else ""
    return f"{variable}{command}{tools}"


class RunInterruptedError(CodeplanError):
    """The user interrupted the run."""

    exit_code = 130


@contextmanager
def interruptible(way_on: str) -> Iterator[None]:
    """After Ctrl-C, say how to go on.

    Raises: RunInterruptedError: the user interrupted the command.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise RunInterruptedError(f"interrupted{way_on}") from None


@contextmanager
def playing(way_on: str, *, as_json: bool = False) -> Iterator[None]:
    """Show on a terminal what an episode waits for. After Ctrl-C, ``way_on`` says how to go on.

    If the result is printed as JSON, what the user's own code prints meanwhile goes to standard error.

    Raises: RunInterruptedError: the user interrupted the episode.
    """
    with interruptible(f"; to go on, {way_on}"), reserved_for_json(as_json), waiting_line():
        yield


def make_event_handler(as_json: bool, quiet: bool) -> Callable[[Event], None]:
    """The handler that shows an episode: only the summary if ``quiet``, nothing if the result is printed as JSON.

    In every case it warns on stderr if a budget of money cannot be enforced.
    """
    from codeplan.recording.events import EpisodeStarted

    show = None if as_json else _display(quiet)

    def on_event(event: Event) -> None:
        if isinstance(event, EpisodeStarted) and event.budget.money is not None:
            from codeplan.llm.prices import unpriced_models

            warn_unpriced_models(unpriced_models(event.model, event.model_settings))
        if show:
            show(event)

    return AboveLine(on_event)


def _display(quiet: bool) -> Callable[[Event], None]:
    from codeplan.report.live import LiveDisplay, SummaryDisplay

    return SummaryDisplay(make_console()) if quiet else LiveDisplay(make_console())
