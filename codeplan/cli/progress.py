"""Progress on a terminal's standard error: a bar that moves, with counts, money, elapsed time and an estimate.

Nothing is shown where standard error is no terminal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codeplan.untrusted.texts import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from codeplan.bench.store import BenchRecord, EpisodeOutcome
    from codeplan.curation.curation_runner import EpisodeRecord
    from codeplan.recording.events import Event, EventHandler
    from codeplan.types import Result


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


def count_bench(bench: BenchRecord) -> EpisodeCounts:
    """The counts of a bench that begins, or goes on."""
    counts = EpisodeCounts(bench.total_episodes)
    for one in bench.outcomes:
        if not one.broken:
            counts.add(one.result)
    return counts


class BenchProgressBar:
    """The bar of a bench; called with each episode that ends."""

    def __init__(self, progress: Progress, counts: EpisodeCounts) -> None:
        self._progress, self._counts = progress, counts
        self._bar = progress.add_task(str(counts), total=counts.total, completed=counts.ended)

    def __call__(self, one: EpisodeOutcome) -> None:
        self._counts.add(one.result, one.broken)
        self._progress.update(self._bar, completed=self._counts.ended, description=str(self._counts))


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
def bench_progress(bench: BenchRecord) -> Iterator[BenchProgressBar | None]:
    """The callable to call with each episode that ends, given the bench as it begins; None without a terminal."""
    with _progress() as progress:
        yield BenchProgressBar(progress, count_bench(bench)) if progress else None


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
