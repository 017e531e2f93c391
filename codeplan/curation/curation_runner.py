"""Where curation runs its episodes: one environment, one model, a folder for the traces."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from codeplan import envs
from codeplan.agent_api import agent_api
from codeplan.errors import InfrastructureError, UsageError
from codeplan.llm.background_loop import cancel_calls_on_interrupt
from codeplan.protocols import LLM, Environment
from codeplan.recording.events import Event
from codeplan.runner import live
from codeplan.runner.setup import accepted_settings
from codeplan.types.agent import AgentApi
from codeplan.types.result import Result
from codeplan.types.task import Task
from codeplan.types.value import Value

_PLAN_SETTINGS = ("budget", "limits", "allow_weak_sandbox", "record", "tape")
"""Settings that hold for a plan that is given, too."""

_A = TypeVar("_A")
_B = TypeVar("_B")


class EpisodeRecord(Value, frozen=True):
    """An episode that was run: its result, its events, and its folder, empty where it left no trace."""

    result: Result
    events: tuple[Event, ...]
    run: str


class CurationRunner:
    """Runs AdaPlanner's episodes, ``workers`` at a time; ``settings`` are those of ``codeplan.run``.

    ``env`` and ``model`` are names or objects, as ``codeplan.run`` takes them; an environment that is an object plays
    one episode at a time. ``folder`` is a folder for the traces, each in one of its own; None leaves none. A failure of
    infrastructure says nothing of a skill: such an episode comes back as None, and ``failures`` has the reasons.
    """

    def __init__(
        self,
        env: str | Environment,
        model: str | LLM = "scripted",
        *,
        folder: Path | None = None,
        workers: int = 2,
        **settings: Any,
    ) -> None:
        self._env, self._model = env, model
        self.env = env if isinstance(env, str) else env.name
        self.model = model if isinstance(model, str) else model.name
        self.workers = workers if isinstance(env, str) else 1
        self.failures: list[str] = []
        self._folder, self._settings = folder, settings
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        taken = accepted_settings({"env": env, "model": model})
        self._env_settings = {n: v for n, v in settings.items() if n in taken["env"]}
        self._plan_settings = {
            n: v for n, v in settings.items() if n in (*taken["env"], *taken["model"], *_PLAN_SETTINGS)
        }

    def tasks(self, split: str) -> list[Task]:
        """The tasks of a split. Raises UsageError where there is none of the name."""
        with self._open_env() as world:
            if split not in envs.splits(world):
                raise UsageError(f"{self.env} has no split {split}; there are: {', '.join(envs.splits(world))}")
            return list(world.tasks(split))

    def splits(self) -> tuple[str, ...]:
        """The names of the environment's splits."""
        with self._open_env() as world:
            return envs.splits(world)

    def api(self) -> AgentApi:
        """The agent's API, to check plans with."""
        with self._open_env() as world:
            return agent_api(world.agent)

    def run_planner(self, task: Task, label: str, **extra: Any) -> EpisodeRecord | None:
        """An episode in which the model plans; ``more`` are settings that come on top."""
        given = {**self._settings, **extra}
        return self._run(task, label, partial(live.run, self._env, task, "adaplanner", self._model, **given))

    def run_plan(self, source: str, task: Task, label: str) -> EpisodeRecord | None:
        """An episode that runs a plan from step 1 on, once; the model answers its questions."""

        def run(**kept: Any) -> Result:
            return live.execute(source, self._env, task, self._model, **kept, **self._plan_settings).result

        return self._run(task, label, run)

    def map_parallel(self, function: Callable[[_A], _B], values: Iterable[_A]) -> list[_B]:
        """What ``do`` makes of each value, in their order, ``workers`` at a time."""
        with cancel_calls_on_interrupt(), ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, values))

    @contextmanager
    def _open_env(self) -> Iterator[Environment]:
        """The environment; one that is made here is closed again."""
        if not isinstance(self._env, str):
            yield self._env
            return
        with closing(envs.make(self._env, **self._env_settings)) as world:
            yield world

    def _run(self, task: Task, what: str, run: Callable[..., Result]) -> EpisodeRecord | None:
        events: list[Event] = []
        out = self._new_folder(task, what)
        try:
            result = run(out=out, on_event=events.append)
        except InfrastructureError as e:
            with self._lock:
                self.failures.append(f"{task.id}: {e}")
            return None
        return EpisodeRecord(result, tuple(events), "" if out is None else str(out))

    def _new_folder(self, task: Task, what: str) -> Path | None:
        if self._folder is None:
            return None
        with self._lock:
            number = next(self._numbers)
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"{number:04}-{task.id}-{what}")
        return self._folder / name[:100]


def take_of_each_kind(tasks: Sequence[Task], count: int, skip: int = 0) -> list[Task]:
    """So many tasks of each kind, after those that are skipped."""
    numbers: dict[str, int] = {}
    chosen: list[Task] = []
    for task in tasks:
        number = numbers[task.kind] = numbers.get(task.kind, 0) + 1
        if skip < number <= skip + count:
            chosen.append(task)
    return chosen
