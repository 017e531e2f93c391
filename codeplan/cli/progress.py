"""How far a bench is: a bar on a terminal, a plain line now and then elsewhere, both on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from codeplan.bench.store import Bench, Ended

EVERY = 10.0
"""Seconds between two plain lines."""


class Tally:
    """What has ended so far, in words."""

    def __init__(self, bench: Bench) -> None:
        self.total, self.ended, self.won, self.broken, self.money = bench.total, 0, 0, 0, 0.0
        self._began = time.monotonic()
        for one in bench.ended:
            if not one.broken:
                self.add(one)
        self._before = self.ended

    def add(self, one: Ended) -> None:
        """Count one more. A broken one is counted apart, and is not over."""
        self.broken += one.broken
        self.ended += not one.broken
        self.won += one.result.success and not one.broken
        self.money += one.result.usage.money or 0.0

    def __str__(self) -> str:
        parts = [f"{self.ended}/{self.total} ended", f"{self.won} won"]
        parts += [f"{self.broken} broken off"] if self.broken else []
        parts += [f"${self.money:.2f}"] if self.money else []
        return ", ".join([*parts, f"{self.rate * 60:.0f} a minute"])

    @property
    def rate(self) -> float:
        """Episodes a second since the start."""
        return (self.ended - self._before) / max(time.monotonic() - self._began, 0.001)


class Lines:
    """A plain line every so often."""

    def __init__(self, console: Console, tally: Tally) -> None:
        self._console, self._tally, self._told = console, tally, time.monotonic()

    def __call__(self, one: Ended) -> None:
        self._tally.add(one)
        if time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            self._console.print(f"codeplan: {self._tally}", markup=False, highlight=False, soft_wrap=True)


class Bar:
    """A bar that is drawn anew twice a second."""

    def __init__(self, progress: Progress, tally: Tally) -> None:
        self._progress, self._tally = progress, tally
        self._task = progress.add_task(str(tally), total=tally.total, completed=tally.ended)

    def __call__(self, one: Ended) -> None:
        self._tally.add(one)
        self._progress.update(self._task, completed=self._tally.ended, description=str(self._tally))


@contextmanager
def watching(bench: Bench) -> Iterator[Lines | Bar]:
    """What is to be told of each episode that ends, from the bench as it begins."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console, tally = Console(stderr=True), Tally(bench)
    if not console.is_terminal:
        yield Lines(console, tally)
        return
    columns = (TextColumn(str(bench.folder), markup=False), BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True, refresh_per_second=2) as progress:
        yield Bar(progress, tally)
