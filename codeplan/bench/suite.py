"""Many episodes: cells of environment, method and model over lists of tasks, on the engine of one's choice.

``plan``      what is to be played, from flags or a file       ``store``     the folder: what has ended
``conduct``   playing what is left, within a budget            ``engines``   threads, processes, Dask, Ray
``compare``   two cells, task by task                          ``papers``    what others have published
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from codeplan.bench.episode_worker import attempt_episode
from codeplan.llm.background_loop import cancel_calls_on_interrupt
from codeplan.recording.events import EventHandler
from codeplan.runner.live import run
from codeplan.statistics import wilson_interval
from codeplan.types.model import NO_USAGE
from codeplan.types.result import Result
from codeplan.types.task import Task


class TaskSuite(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of one environment, played in threads without a folder: ``workers`` at a time.

    ``settings`` are those of ``codeplan.run``.
    """

    env: str
    tasks: Sequence[Task]
    method: str = "adaplanner"
    model: str = "scripted"
    workers: int = 1
    settings: dict[str, Any] = {}

    def run(self, on_result: Callable[[Result], None] = lambda result: None) -> list[Result]:
        """Every task's Result, in the order of the tasks; ``done`` is called with each as it comes.

        A failure of infrastructure is a Result too, with a reason that begins with ``infrastructure``. An interrupt
        ends the model calls of all workers at once.
        """
        with cancel_calls_on_interrupt(), ThreadPoolExecutor(self.workers) as pool:
            return list(self._collected(pool.map(self._one, self.tasks), on_result))

    def _collected(self, results: Iterator[Result], done: Callable[[Result], None]) -> Iterator[Result]:
        for result in results:
            done(result)
            yield result

    def _one(self, task: Task) -> Result:
        def play(hear: EventHandler) -> Result:
            return run(self.env, task, self.method, self.model, on_event=hear, **self.settings)

        return attempt_episode(task, play, self.method, self.model)[0]


class KindSummary(msgspec.Struct, frozen=True):
    """One kind of task: counts over its ``episodes``; the others are sums, ``seconds`` included.

    ``low`` and ``high`` bound the success rate: the Wilson interval at 95 %. ``tokens`` and ``money`` (US dollars) are
    None where one episode's are not known.
    """

    kind: str
    episodes: int
    successes: int
    actions: int
    asks: int
    refinements: int
    model_calls: int
    seconds: float
    reasons: dict[str, int]
    low: float = 0.0
    high: float = 1.0
    tokens: int | None = None
    money: float | None = None


def summarise_results(results: Sequence[Result]) -> list[KindSummary]:
    """One row per kind in the order of first appearance, then one for all, of kind ``"all"``."""
    kinds = list(dict.fromkeys(r.task.kind for r in results))
    return [_row(k, [r for r in results if r.task.kind == k]) for k in kinds] + [_row("all", results)]


def _row(kind: str, results: Sequence[Result]) -> KindSummary:
    reasons: dict[str, int] = {}
    for r in results:
        reasons[r.reason] = reasons.get(r.reason, 0) + 1
    successes = sum(r.success for r in results)
    usage = sum((r.usage for r in results), NO_USAGE)
    return KindSummary(
        kind,
        len(results),
        successes,
        sum(r.actions for r in results),
        sum(r.asks for r in results),
        sum(r.refinements for r in results),
        sum(r.model_calls for r in results),
        sum(r.seconds for r in results),
        reasons,
        *wilson_interval(successes, len(results)),
        usage.total_tokens,
        usage.money,
    )
