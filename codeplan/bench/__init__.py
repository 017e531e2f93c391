"""Many episodes: the same method and model over a list of tasks, in threads, each in an environment of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from codeplan.errors import InfrastructureError
from codeplan.events import EpisodeEnded, Event
from codeplan.llm import interruptible
from codeplan.runner import run
from codeplan.types import Result, Task

__all__ = ["Row", "Suite", "summarise"]


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """What is run: ``tasks`` of ``env``, ``workers`` at a time; ``settings`` are those of ``codeplan.run``."""

    env: str
    tasks: Sequence[Task]
    method: str = "adaplanner"
    model: str = "scripted"
    workers: int = 1
    settings: dict[str, Any] = {}

    def run(self, done: Callable[[Result], None] = lambda result: None) -> list[Result]:
        """Every task's Result, in the order of the tasks; ``done`` is called with each as it comes.

        A failure of infrastructure is a Result too, with a reason that begins with ``infrastructure``. An interrupt
        ends the model calls of all workers at once.
        """
        with interruptible(), ThreadPoolExecutor(self.workers) as pool:
            return list(self._collected(pool.map(self._one, self.tasks), done))

    def _collected(self, results: Iterator[Result], done: Callable[[Result], None]) -> Iterator[Result]:
        for result in results:
            done(result)
            yield result

    def _one(self, task: Task) -> Result:
        ended: list[Result] = []

        def hear(event: Event) -> None:
            if isinstance(event, EpisodeEnded):
                ended.append(event.result)

        try:
            return run(self.env, task, self.method, self.model, listen=hear, **self.settings)
        except InfrastructureError as e:
            return ended[0] if ended else Result(task, False, f"infrastructure: {e}", self.method, self.model)


class Row(msgspec.Struct, frozen=True):
    """One kind of task: counts over its ``episodes``; the others are sums, ``seconds`` included."""

    kind: str
    episodes: int
    successes: int
    actions: int
    asks: int
    refinements: int
    model_calls: int
    seconds: float
    reasons: dict[str, int]


def summarise(results: Sequence[Result]) -> list[Row]:
    """One row per kind in the order of first appearance, then one for all, of kind ``"all"``."""
    kinds = list(dict.fromkeys(r.task.kind for r in results))
    return [_row(k, [r for r in results if r.task.kind == k]) for k in kinds] + [_row("all", results)]


def _row(kind: str, results: Sequence[Result]) -> Row:
    reasons: dict[str, int] = {}
    for r in results:
        reasons[r.reason] = reasons.get(r.reason, 0) + 1
    return Row(
        kind,
        len(results),
        sum(r.success for r in results),
        sum(r.actions for r in results),
        sum(r.asks for r in results),
        sum(r.refinements for r in results),
        sum(r.model_calls for r in results),
        sum(r.seconds for r in results),
        reasons,
    )
