"""The classes and functions behind the fixtures for tests of plans in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codeplan import envs, plugins
from codeplan.agent_interface import agent_api
from codeplan.envs.household.faults import EditableHousehold
from codeplan.episode.episode import agent_class
from codeplan.errors import AgentError, UsageError
from codeplan.protocols import LLM, Environment, GeneratesTasks
from codeplan.recording.tape import Tape, TapeRecorder
from codeplan.runner import models
from codeplan.sandbox import Limits
from codeplan.testing.answers import ScriptedLLM
from codeplan.testing.cases import find_resume_differences, find_steps_not_entered, format_report
from codeplan.testing.plan_runs import PlanRun, run_once, run_with_agent
from codeplan.types import AgentMethod, Outcome, Rejected, Task
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


MAX_PLAN_FILE_BYTES = 1_000_000
"""A larger plan is not read."""

ScriptedLLMFactory = Callable[[Any], ScriptedLLM]
FakeAgentFactory = Callable[..., Any]


class PlanRunner:
    """Runs plans in the sandbox. ``plan`` is a plan's text or its file."""

    def __call__(
        self,
        plan: str | Path,
        env: str | Environment,
        task: Task | str | None = None,
        *,
        kind: str | None = None,
        seed: int | None = None,
        model: str | LLM = "scripted",
        pause_at: int | None = None,
        limits: Limits | None = None,
        **settings: Any,
    ) -> PlanRun:
        """Run a plan once on a task, named as in ``codeplan.run``; ``model`` answers its ``ask_llm``.

        With ``pause_at``, the run is interrupted where that step begins, and resumed there. ``settings`` are those of
        an environment given by name. Raises as ``codeplan.run`` does.
        """
        with ExitStack() as stack:
            environment = env
            if isinstance(environment, str):
                environment = stack.enter_context(closing(envs.make(environment, **settings)))
            chosen = task if isinstance(task, Task) else envs.select(environment, id=task, kind=kind, seed=seed)
            answering = models.connect(model) if isinstance(model, str) else model
            return run_once(_text(plan), environment, chosen, answering, limits=limits, pause_at=pause_at)

    def with_agent(
        self, plan: str | Path, agent: Any, model: LLM | None = None, *, limits: Limits | None = None
    ) -> Outcome | Rejected:
        """Run a plan with an agent alone, such as a fake one, without an environment."""
        no_model = ScriptedLLM(lambda question: None, "no model was given")
        return run_with_agent(_text(plan), agent, model or no_model, limits=limits)


def assert_steps(run: PlanRun, *steps: int) -> None:
    """Raise AssertionError with a report if the run did not enter these steps in this order."""
    if run.steps != steps:
        entered, wanted = (", ".join(map(str, s)) or "none" for s in (run.steps, steps))
        raise AssertionError(format_report("plan", [(f"it entered the steps {entered}; expected {wanted}", run)]))


def assert_resumes(plan: str | Path, env: str | Environment, task: Task | str, *, at: int, **options: Any) -> None:
    """Raise AssertionError if a run interrupted at the entry of step ``at`` does not continue unchanged.

    ``options`` are those of ``plan_runner``.
    """
    runner = PlanRunner()
    whole = runner(plan, env, task, **options)
    if missing := list(find_steps_not_entered(whole, (at,))):
        raise AssertionError(format_report("plan", [(missing[0], whole)]))
    resumed = runner(plan, env, task, pause_at=at, **options)
    found = [(message, resumed) for message in find_resume_differences(whole, resumed, at)]
    if found:
        raise AssertionError(format_report("plan", found))


class EpisodeTape:
    """Tapes in a folder: ``episode_tape("name")`` returns an argument for ``codeplan.run`` that replays or records."""

    def __init__(self, folder: Path, record: bool) -> None:
        """``record``: whether to record missing tapes."""
        self._folder, self._record = folder, record
        self._recorders: list[TapeRecorder] = []

    def __call__(self, name: str) -> dict[str, TapeRecorder | Tape]:
        """Return the tape ``tapes/name.jsonl``. Raises UsageError if it is missing and may not be recorded."""
        path = self._folder / "tapes" / f"{name}.jsonl"
        if path.is_file():
            return {"tape": Tape(path)}
        if not self._record:
            raise UsageError(f"there is no tape {path}; run the test once with --live-llm to record it")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._recorders.append(TapeRecorder(path))
        return {"record": self._recorders[-1]}

    def close(self) -> None:
        """Finish the recordings."""
        for recorder in self._recorders:
            recorder.close()


def _text(plan: str | Path) -> str:
    return read_user_text(plan, MAX_PLAN_FILE_BYTES) if isinstance(plan, Path) else plan


FakeCall = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A method's name and the arguments of the call."""


def fake_agent(env: str | Environment | type, **given: Any) -> Any:
    """Make an agent with the methods and attributes of an environment's Agent class, and given answers.

    ``env`` is an environment, its name, or an Agent class. A method's answer is a value, a list of values in order, or
    a function; an attribute has a value. ``calls_of(agent)`` returns the calls so far. A method without an answer
    raises AgentError, as does a call that does not fit the real signature.

    Raises: UsageError: the real agent lacks a name.
    """
    real = _class_of(env)
    api = agent_api(real)
    for name in given:
        if name not in api.names:
            raise UsageError(f"{real.__name__} has no {in_quotes(name)}; {plugins.suggest_names(name, api.names)}")
    methods = {m.name: _method(real, m, given.get(m.name, _NO_ANSWER)) for m in api.methods}
    values = {a.name: given.get(a.name) for a in api.attributes}
    about: dict[str, Any] = {"__doc__": real.__doc__, "__annotations__": dict.fromkeys(values, "object"), "_calls": []}
    return type(f"Fake{real.__name__}", (), {**about, **values, **methods})()


def calls_of(agent: Any) -> list[FakeCall]:
    """Return the calls of a fake agent's methods, in order."""
    calls: list[FakeCall] = agent._calls
    return calls


_NO_ANSWER = object()


def _class_of(env: str | Environment | type) -> type:
    if isinstance(env, type):
        return env
    return agent_class(envs.make(env) if isinstance(env, str) else env)


def _method(real: type, method: AgentMethod, given: Any) -> Callable[..., Any]:
    signature = inspect.signature(getattr(real, method.name))
    answers = _answers(method.name, given)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            signature.bind(self, *args, **kwargs)
        except TypeError as error:
            why = method.explain_misfit(kwargs, error)
            raise AgentError(f"call it as {method.name}{method.signature}: {why}") from None
        self._calls.append((method.name, args, kwargs))
        return answers(*args, **kwargs)

    call.__name__ = call.__qualname__ = method.name
    call.__doc__, call.__signature__ = method.doc, signature  # type: ignore[attr-defined]  # what inspect reads
    return call


def _answers(name: str, given: Any) -> Callable[..., Any]:
    """Return the function that answers a method's calls."""
    if callable(given):
        return given  # type: ignore[no-any-return]  # a test's own function
    if isinstance(given, Sequence) and not isinstance(given, str):
        left: Iterator[Any] = iter(list(given))
        return lambda *args, **kwargs: _next(name, left)
    if given is not _NO_ANSWER:
        return lambda *args, **kwargs: given
    return lambda *args, **kwargs: _next(name, iter(()))


def _next(name: str, left: Iterator[Any]) -> Any:
    for answer in left:
        return answer
    raise AgentError(f"the fake agent has no further answer for {name}")


DEFAULT_SEEDS = range(300)
"""The seeds of the tasks if none are given."""


def tasks(
    env: str,
    *,
    kind: str | None = None,
    seeds: Iterable[int] = DEFAULT_SEEDS,
    where: Callable[[Task], bool] = lambda task: True,
    **settings: Any,
) -> SearchStrategy[Task]:
    """Draw generated tasks of a kind (None: all kinds) and of these seeds, if ``where`` returns True.

    A failing example shrinks towards the task with the smallest household. ``settings`` are the environment's.

    Raises: UsageError: the environment generates no tasks, lacks the kind, or no task fits.
    """
    from hypothesis.strategies import sampled_from

    found = [task for task in _tasks_by_size(env, kind, tuple(seeds), tuple(sorted(settings.items()))) if where(task)]
    if not found:
        raise UsageError(f"none of the {env} tasks of these seeds fits; add seeds or relax 'where'")
    return sampled_from(found)


@lru_cache(maxsize=32)
def _tasks_by_size(
    env: str, kind: str | None, seeds: tuple[int, ...], settings: tuple[tuple[str, Any], ...]
) -> list[Task]:
    """Return the tasks, the smallest first."""
    with closing(envs.make(env, **dict(settings))) as environment:
        if not isinstance(environment, GeneratesTasks):
            raise UsageError(f"the environment {env} does not generate tasks from seeds")
        kinds = environment.kinds if kind is None else (kind,)
        drawn = [environment.task(k, seed) for seed in seeds for k in kinds]
        return sorted(drawn, key=lambda task: (_task_size(environment, task), task.seed))


def _task_size(env: Environment, task: Task) -> int:
    """Return the number of a household's things, or else the length of the first observation."""
    if isinstance(env, EditableHousehold):
        game = env.game(task)
        return len(game.receptacles) + len(game.objects)
    return len(env.reset(task).text)
