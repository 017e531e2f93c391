"""How far a bench is: a bar on a terminal, a plain line now and then elsewhere, both on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from codeplan.bench.store import BenchRecord, EpisodeOutcome

LINE_INTERVAL = 10.0
"""Seconds between two plain lines."""


class BenchProgress:
    """What has ended so far, in words."""

    def __init__(self, bench: BenchRecord) -> None:
        self.total, self.ended, self.solved, self.broken, self.money = bench.total_episodes, 0, 0, 0, 0.0
        self._began = time.monotonic()
        for one in bench.outcomes:
            if not one.broken:
                self.add(one)
        self._before = self.ended

    def add(self, one: EpisodeOutcome) -> None:
        """Count one more. A broken one is counted apart, and is not over."""
        self.broken += one.broken
        self.ended += not one.broken
        self.solved += one.result.success and not one.broken
        self.money += one.result.usage.money or 0.0

    def __str__(self) -> str:
        parts = [f"{self.ended}/{self.total} ended", f"{self.solved} won"]
        parts += [f"{self.broken} broken off"] if self.broken else []
        parts += [f"${self.money:.2f}"] if self.money else []
        return ", ".join([*parts, f"{self.rate * 60:.0f} a minute"])

    @property
    def rate(self) -> float:
        """Episodes a second since the start."""
        return (self.ended - self._before) / max(time.monotonic() - self._began, 0.001)


class ProgressLines:
    """A plain line every so often."""

    def __init__(self, console: Console, progress: BenchProgress) -> None:
        self._console, self._tally, self._told = console, progress, time.monotonic()

    def __call__(self, one: EpisodeOutcome) -> None:
        self._tally.add(one)
        if time.monotonic() - self._told >= LINE_INTERVAL:
            self._told = time.monotonic()
            self._console.print(f"codeplan: {self._tally}", markup=False, highlight=False, soft_wrap=True)


class BenchProgressBar:
    """A bar that is drawn anew twice a second."""

    def __init__(self, progress: Progress, tally: BenchProgress) -> None:
        self._progress, self._tally = progress, tally
        self._task = progress.add_task(str(tally), total=tally.total, completed=tally.ended)

    def __call__(self, one: EpisodeOutcome) -> None:
        self._tally.add(one)
        self._progress.update(self._task, completed=self._tally.ended, description=str(self._tally))


@contextmanager
def show_progress(bench: BenchRecord) -> Iterator[ProgressLines | BenchProgressBar]:
    """What is to be told of each episode that ends, from the bench as it begins."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console, tally = Console(stderr=True), BenchProgress(bench)
    if not console.is_terminal:
        yield ProgressLines(console, tally)
        return
    columns = (TextColumn(str(bench.folder), markup=False), BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True, refresh_per_second=2) as progress:
        yield BenchProgressBar(progress, tally)
