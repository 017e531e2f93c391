"""Submits jobs so that a limited number is in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from codeplan.bench.engines.engine import J


def submit_in_window(
    jobs: Iterable[J], submit: Callable[[J], Any], wait: Callable[[Sequence[Any]], Iterable[Any]], size: int
) -> Iterator[tuple[J, Any]]:
    """Yield each job with its future as it completes; at most ``size`` are in flight.

    ``submit`` starts a job and returns its future; ``wait`` blocks until some of the futures are done and returns
    those.
    """
    source, running = iter(jobs), dict[Any, J]()
    while True:
        for job in islice(source, size - len(running)):
            running[submit(job)] = job
        if not running:
            return
        for future in wait(list(running)):
            yield running.pop(future), future
