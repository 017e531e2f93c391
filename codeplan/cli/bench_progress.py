"""The progress of a bench on standard error: a bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from codeplan.bench.store import BenchRecord, EpisodeOutcome
    from codeplan.untrusted.console import CleanConsole

LINE_INTERVAL = 10.0
"""Seconds between two lines."""


class BenchProgress:
    """Counts of the episodes that ended so far, and their text."""

    def __init__(self, bench: BenchRecord) -> None:
        self.total, self.ended, self.solved, self.broken, self.money = bench.total_episodes, 0, 0, 0, 0.0
        self.unpriced = 0
        self._began = time.monotonic()
        for one in bench.outcomes:
            if not one.broken:
                self.add(one)
        self._before = self.ended

    def add(self, one: EpisodeOutcome) -> None:
        """Count an episode. One that was broken off will run again, so it does not count as ended."""
        self.broken += one.broken
        self.ended += not one.broken
        self.solved += one.result.success and not one.broken
        self.money += one.result.usage.money or 0.0
        self.unpriced += one.result.usage.money is None

    def __str__(self) -> str:
        parts = [f"{self.ended}/{self.total} ended", f"{self.solved} solved"]
        parts += [f"{self.broken} broken off"] if self.broken else []
        parts += [self._spent()] if self.money or self.unpriced else []
        return ", ".join([*parts, f"{self.rate * 60:.0f} a minute"])

    def _spent(self) -> str:
        """The known money; what an episode cost is unknown if one of its calls has no price."""
        if not self.unpriced:
            return f"${self.money:.2f}"
        return f"${self.money:.2f} and an unknown cost" if self.money else "cost unknown"

    @property
    def rate(self) -> float:
        """Episodes a second since the start."""
        return (self.ended - self._before) / max(time.monotonic() - self._began, 0.001)


class ProgressLines:
    """Prints a line at most every ``LINE_INTERVAL`` seconds."""

    def __init__(self, console: CleanConsole, progress: BenchProgress) -> None:
        self._console, self._counts, self._last_printed = console, progress, time.monotonic()

    def __call__(self, one: EpisodeOutcome) -> None:
        self._counts.add(one)
        if time.monotonic() - self._last_printed >= LINE_INTERVAL:
            self._last_printed = time.monotonic()
            self._console.print(f"codeplan: {self._counts}", soft_wrap=True)


class BenchProgressBar:
    """Updates a progress bar twice a second."""

    def __init__(self, progress: Progress, counts: BenchProgress) -> None:
        self._progress, self._counts = progress, counts
        self._task = progress.add_task(str(counts), total=counts.total, completed=counts.ended)

    def __call__(self, one: EpisodeOutcome) -> None:
        self._counts.add(one)
        self._progress.update(self._task, completed=self._counts.ended, description=str(self._counts))


@contextmanager
def show_progress(bench: BenchRecord) -> Iterator[ProgressLines | BenchProgressBar]:
    """The callable to call with each episode that ends, given the bench as it begins."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from codeplan.untrusted.console import CleanConsole

    console, counts = CleanConsole(stderr=True), BenchProgress(bench)
    if not console.is_terminal:
        yield ProgressLines(console, counts)
        return
    folder = str(bench.folder).replace("{", "{{").replace("}", "}}")  # a column's text is a format string
    columns = (TextColumn(folder, markup=False), BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True, refresh_per_second=2) as progress:
        yield BenchProgressBar(progress, counts)
