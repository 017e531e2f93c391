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
from codeplan.llm.background import interruptible
from codeplan.protocols import LLM, Environment
from codeplan.recording.events import Event
from codeplan.runner import live
from codeplan.runner.setup import takes
from codeplan.types import AgentApi, Result, Task, Value

_ANY_PLAN = ("budget", "limits", "allow_weak_sandbox", "record", "tape")
"""Settings that hold for a plan that is given, too."""

_A = TypeVar("_A")
_B = TypeVar("_B")


class Ran(Value, frozen=True):
    """An episode that was run: its result, its events, and its folder, empty where it left no trace."""

    result: Result
    events: tuple[Event, ...]
    run: str


class Lab:
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
        taken = takes({"env": env, "model": model})
        self._world = {n: v for n, v in settings.items() if n in taken["env"]}
        self._planless = {n: v for n, v in settings.items() if n in (*taken["env"], *taken["model"], *_ANY_PLAN)}

    def tasks(self, split: str) -> list[Task]:
        """The tasks of a split. Raises UsageError where there is none of the name."""
        with self._world_itself() as world:
            if split not in envs.splits(world):
                raise UsageError(f"{self.env} has no split {split}; there are: {', '.join(envs.splits(world))}")
            return list(world.tasks(split))

    def splits(self) -> tuple[str, ...]:
        """The names of the environment's splits."""
        with self._world_itself() as world:
            return envs.splits(world)

    def api(self) -> AgentApi:
        """The agent's API, to check plans with."""
        with self._world_itself() as world:
            return agent_api(world.agent)

    def plan(self, task: Task, what: str, **more: Any) -> Ran | None:
        """An episode in which the model plans; ``more`` are settings that come on top."""
        given = {**self._settings, **more}
        return self._run(task, what, partial(live.run, self._env, task, "adaplanner", self._model, **given))

    def execute(self, source: str, task: Task, what: str) -> Ran | None:
        """An episode that runs a plan from step 1 on, once; the model answers its questions."""

        def run(**kept: Any) -> Result:
            return live.execute(source, self._env, task, self._model, **kept, **self._planless).result

        return self._run(task, what, run)

    def each(self, do: Callable[[_A], _B], values: Iterable[_A]) -> list[_B]:
        """What ``do`` makes of each value, in their order, ``workers`` at a time."""
        with interruptible(), ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(do, values))

    @contextmanager
    def _world_itself(self) -> Iterator[Environment]:
        """The environment; one that is made here is closed again."""
        if not isinstance(self._env, str):
            yield self._env
            return
        with closing(envs.make(self._env, **self._world)) as world:
            yield world

    def _run(self, task: Task, what: str, run: Callable[..., Result]) -> Ran | None:
        events: list[Event] = []
        out = self._new_folder(task, what)
        try:
            result = run(out=out, listen=events.append)
        except InfrastructureError as e:
            with self._lock:
                self.failures.append(f"{task.id}: {e}")
            return None
        return Ran(result, tuple(events), "" if out is None else str(out))

    def _new_folder(self, task: Task, what: str) -> Path | None:
        if self._folder is None:
            return None
        with self._lock:
            number = next(self._numbers)
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"{number:04}-{task.id}-{what}")
        return self._folder / name[:100]


def of_each_kind(tasks: Sequence[Task], count: int, skip: int = 0) -> list[Task]:
    """So many tasks of each kind, after those that are skipped."""
    numbers: dict[str, int] = {}
    chosen: list[Task] = []
    for task in tasks:
        number = numbers[task.kind] = numbers.get(task.kind, 0) + 1
        if skip < number <= skip + count:
            chosen.append(task)
    return chosen
