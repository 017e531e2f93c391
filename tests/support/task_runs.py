"""Runs tasks in threads, without a bench's folder."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from codeplan.bench.bench_runner import attempt_episode
from codeplan.llm.connections import cancel_calls_on_interrupt
from codeplan.runner.episodes import run
from codeplan.types import Result, Task


def run_tasks(
    env: str, tasks: Sequence[Task], model: str = "scripted", workers: int = 1, **settings: Any
) -> list[Result]:
    """The results in the order of the tasks; an episode that broke off has the ending that says why."""

    def one(task: Task) -> Result:
        play = lambda on_event: run(env, task, "adaplanner", model, on_event=on_event, **settings)  # noqa: E731
        return attempt_episode(task, play, "adaplanner", model)[0]

    with cancel_calls_on_interrupt(), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, tasks))
