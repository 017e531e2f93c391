"""Runs the episodes of curation."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from codeplan import envs
from codeplan.agent_interface import agent_api
from codeplan.budget import Spending
from codeplan.errors import InfrastructureError, UsageError
from codeplan.llm.callable_model import CallableModel, ModelFunction
from codeplan.llm.connections import cancel_calls_on_interrupt
from codeplan.protocols import LLM, BaseEnvironment
from codeplan.recording.events import Event
from codeplan.recording.trace import EventsOnly
from codeplan.runner import episodes, given_plans, models
from codeplan.runner.recorded_calls import UnrecordedCall
from codeplan.runner.setup import accepted_settings
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidencePhase, EvidenceRecord, Skill
from codeplan.types import AgentApi, Completion, Message, Result, Task, Value
from codeplan.untrusted import files

PLAN_SETTINGS = ("budget", "limits", "allow_weak_sandbox", "backend", "record", "tape")
"""Settings that also apply to an episode that runs a given plan."""

_A = TypeVar("_A")
_B = TypeVar("_B")


class EpisodeRecord(Value, frozen=True):
    """A finished episode: its result, its events, and its folder (empty without a trace)."""

    result: Result
    events: tuple[Event, ...]
    run: str


class CurationObserver(Protocol):
    """Follows the episodes of curation. Its methods are called from any thread."""

    def begin(self, phase: str, episodes: int | None) -> None:
        """A phase begins, with at most this many episodes; None if their number is unknown."""

    def add(self, episode: EpisodeRecord | None) -> None:
        """An episode ended; None if infrastructure broke it off."""


class CurationRunner:
    """Runs episodes with AdaPlanner, ``workers`` at a time; ``settings`` are those of ``codeplan.run``.

    ``env`` and ``model`` are names or objects, as in ``codeplan.run``; an environment object runs one episode at a
    time. Each trace gets a folder of its own in ``folder``; None writes none. An infrastructure failure says nothing
    about a skill. The episode then returns None, and ``failures`` holds the reason. Once the budget of ``spending`` is
    spent, no episode starts: each returns None. ``made_new_call`` says whether a plan called what the recorded answers
    that stand for its tools do not have.
    """

    def __init__(
        self,
        env: str | BaseEnvironment,
        model: str | LLM | ModelFunction = "scripted",
        *,
        folder: Path | None = None,
        workers: int = 2,
        observer: CurationObserver | None = None,
        spending: Spending | None = None,
        **settings: Any,
    ) -> None:
        self._env, self._model = env, model if isinstance(model, str | LLM) else CallableModel(model)
        self.env = env if isinstance(env, str) else env.name
        self.model = self._model if isinstance(self._model, str) else self._model.name
        self.workers = workers if isinstance(env, str) else 1
        self.failures: list[str] = []
        self.made_new_call = False
        self.observer = observer
        self.spending = spending or Spending()
        self._folder, self._settings = folder, settings
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        taken = accepted_settings({"env": env, "model": self._model})
        self._env_settings = {n: v for n, v in settings.items() if n in taken["env"]}
        of_plans = {*taken["env"], *taken["model"], *PLAN_SETTINGS}
        self._plan_settings = {n: v for n, v in settings.items() if n in of_plans}

    def tasks(self, split: str) -> list[Task]:
        """Return the tasks of a split. Raises: UsageError if there is no such split."""
        with self._open_env() as env:
            if split not in envs.splits(env):
                raise UsageError(f"{self.env} has no split {split}; there are: {', '.join(envs.splits(env))}")
            return list(envs.tasks_of(env, split))

    def find_task(self, id: str) -> Task:
        """Return the environment's task with this id. Raises: UsageError if there is none."""
        with self._open_env() as env:
            return envs.select(env, id=id)

    def splits(self) -> tuple[str, ...]:
        """Return the names of the environment's splits."""
        with self._open_env() as env:
            return envs.splits(env)

    def api(self) -> AgentApi:
        """Return the agent's API, for checking plans."""
        with self._open_env() as env:
            return agent_api(env.agent)

    def run_planner(self, task: Task, label: str, **extra: Any) -> EpisodeRecord | None:
        """Run an episode in which the model plans; ``extra`` settings override the runner's."""
        given = {**self._settings, **extra}
        return self._run(task, label, partial(episodes.run, self._env, task, "adaplanner", self._model, **given))

    def run_plan(self, source: str, task: Task, label: str) -> EpisodeRecord | None:
        """Run a given plan once from step 1; the model answers its questions."""

        def run(**kept: Any) -> Result:
            return given_plans.execute(source, self._env, task, self._model, **kept, **self._plan_settings).result

        return self._run(task, label, run)

    def ask(self, messages: Sequence[Message]) -> Completion:
        """The model's reply, outside an episode. Raises: UsageError, ModelError."""
        model = self._model
        if isinstance(model, str):
            taken = accepted_settings({"model": model})["model"]
            model = models.connect(model, **{n: v for n, v in self._settings.items() if n in taken})
        return model.complete(messages, purpose="bind")

    def record_evidence(
        self, library: SkillLibrary, skill: Skill, episode: EpisodeRecord, phase: EvidencePhase, *, shown: bool = True
    ) -> None:
        """Record an episode as evidence for a skill."""
        task, success = episode.result.task, episode.result.success
        record = EvidenceRecord(task.id, task.seed, self.model, shown, success, skill.version, phase, episode.run)
        library.record(skill, record)

    def begin(self, phase: str, episodes: int | None = None) -> None:
        """Tell the observer that a phase begins, with at most this many episodes; None if unknown."""
        if self.observer:
            self.observer.begin(phase, episodes)

    def map_parallel(self, function: Callable[[_A], _B], values: Iterable[_A]) -> list[_B]:
        """Return the function's result for each value, in order; ``workers`` calls run at a time."""
        with cancel_calls_on_interrupt(), ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, values))

    @contextmanager
    def _open_env(self) -> Iterator[BaseEnvironment]:
        """Yield the environment; close it afterwards if it was created here."""
        if not isinstance(self._env, str):
            yield self._env
            return
        with closing(envs.make(self._env, **self._env_settings)) as env:
            yield env

    def _run(self, task: Task, what: str, run: Callable[..., Result]) -> EpisodeRecord | None:
        if self.spending.refuses():
            return None
        events: list[Event] = []
        out = self._new_folder(task, what)
        ended: EpisodeRecord | None = None
        try:
            result = run(out=out, on_event=EventsOnly(events.append))
            ended = EpisodeRecord(result, tuple(events), "" if out is None else str(out))
            self.spending.add(result)
        except InfrastructureError as e:
            with self._lock:
                self.failures.append(f"{task.id}: {e}")
                self.made_new_call |= isinstance(e, UnrecordedCall)
        if self.observer:
            self.observer.add(ended)
        return ended

    def _new_folder(self, task: Task, what: str) -> Path | None:
        if self._folder is None:
            return None
        with self._lock:
            number = next(self._numbers)
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"{number:04}-{task.id}-{what}")
        folder = self._folder / name[:100]
        files.refuse_links(folder, self._folder)
        return folder
