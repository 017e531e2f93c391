"""Handing jobs to whoever does them, so many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

J = TypeVar("J")


def submit_in_window(
    jobs: Iterable[J], submit: Callable[[J], Any], wait: Callable[[Sequence[Any]], Iterable[Any]], size: int
) -> Iterator[tuple[J, Any]]:
    """Each job with its future, as these are done: at most ``size`` are under way.

    ``submit`` begins a job and returns its future; ``wait`` returns, of some futures, those that are done, once one is.
    """
    source, running = iter(jobs), dict[Any, J]()
    while True:
        for job in islice(source, size - len(running)):
            running[submit(job)] = job
        if not running:
            return
        for future in wait(list(running)):
            yield running.pop(future), future
