"""The front door: one episode from names to a Result, and one plan file from text to an Execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec

import codeplan
from codeplan import envs, llm, methods, plugins
from codeplan.budget import Budget, Meter
from codeplan.episode import Episode
from codeplan.errors import BudgetExceeded, InfrastructureError, UsageError
from codeplan.events import EpisodeEnded, EpisodeStarted, Listener, Trace
from codeplan.methods.given import GivenPlan
from codeplan.protocols import LLM, Environment, Method
from codeplan.sandbox import Limits
from codeplan.types import Outcome, Rejected, Result, Task

TRACE = "trace.jsonl"
"""The name of an episode's trace in its folder."""

_SECRET = frozenset({"api_key", "base_url", "extra_body"})
"""Settings that may hold a key, or an address with a password in it."""


def run(
    env: str | Environment,
    task: Task | str | None = None,
    method: str | Method = "adaplanner",
    model: str | LLM = "scripted",
    *,
    kind: str | None = None,
    seed: int | None = None,
    budget: Budget | None = None,
    out: Path | str | None = None,
    listen: Listener | None = None,
    **settings: Any,
) -> Result:
    """Run one episode and return how it ended.

    ``env`` and ``method`` are objects, or names as ``codeplan envs`` and ``codeplan methods`` list them; ``model`` is
    an LLM, ``"scripted"``, or the name of a model at an OpenAI-compatible endpoint. ``task`` is a Task or an id;
    ``kind`` and ``seed`` choose one too; with none of them it is the first task of the test split. ``out`` is a new
    folder for the trace (None: no file). ``listen`` is called with each event as it happens. ``settings`` go to the
    environment, the method or the model: to each that is given by name and has a setting of that name.

    Raises UsageError for bad input and InfrastructureError where the model, the environment or the sandbox failed; a
    spent budget is a Result.
    """
    shares = _shares({"env": env, "method": method, "model": model}, settings)
    with ExitStack() as stack:
        solver = method if isinstance(method, Method) else methods.make(method, **shares["method"])
        answers = llm.connect(model, **shares["model"]) if isinstance(model, str) else model
        world = stack.enter_context(closing(envs.make(env, **shares["env"]))) if isinstance(env, str) else env
        chosen = task if isinstance(task, Task) else envs.select(world, id=task, kind=kind, seed=seed)
        trace = stack.enter_context(closing(Trace(Path(out) / TRACE if out else None, listen)))
        budget = budget or Budget()
        trace.append(
            EpisodeStarted(
                task=chosen,
                method=solver.name,
                model=answers.name,
                codeplan=codeplan.__version__,
                settings=_shown(settings, answers) | {"budget": msgspec.to_builtins(budget)},
            )
        )
        return _solved(solver, chosen, lambda: Episode(world, chosen, answers, Meter(budget), trace), trace)


class Execution(msgspec.Struct, frozen=True):
    """What came of a plan that was run: its own outcome, None where a spent budget cut it off; the episode's result."""

    outcome: Outcome | Rejected | None
    result: Result


def execute(
    source: str,
    env: str | Environment,
    task: Task | str | None = None,
    model: str | LLM = "scripted",
    *,
    limits: Limits | None = None,
    allow_weak_sandbox: bool = False,
    **options: Any,
) -> Execution:
    """Check a plan and run it once, without planning or refining; ``model`` answers its ``ask_llm``.

    ``options`` are the other parameters of ``run``. Raises as ``run`` does; a plan that is refused is an outcome.
    """
    given = GivenPlan(source, limits=limits, allow_weak_sandbox=allow_weak_sandbox)
    result = run(env, task, given, model, **options)
    return Execution(given.outcome, result)


def _solved(method: Method, task: Task, begin: Callable[[], Episode], trace: Trace) -> Result:
    """Let the method work; whatever happens, the trace ends with how it ended."""
    episode: Episode | None = None
    try:
        episode = begin()
        result = method.solve(task, episode)
    except BudgetExceeded as e:
        assert episode is not None, "the budget is spent by what an episode does"
        result = episode.result(f"budget: {e}", method.name)
    except BaseException as e:
        reason = _words(e)
        trace.append(
            EpisodeEnded(result=episode.result(reason, method.name) if episode else Result(task, False, reason))
        )
        raise
    trace.append(EpisodeEnded(result=result))
    return result


def _words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    kind = "infrastructure" if isinstance(error, InfrastructureError) else f"error: {type(error).__name__}"
    return f"{kind}: {error}"


def _shares(given: Mapping[str, object], settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each of environment, method and model. Raises UsageError for a setting that none of them has."""
    takes = {who: _takes(who, name) if isinstance(name, str) else () for who, name in given.items()}
    every = {name for names in takes.values() for name in names}
    for name in settings:
        if name not in every:
            raise UsageError(f"there is no setting {name!r} here; {plugins.choices(name, every)}")
    return {who: {n: v for n, v in settings.items() if n in names} for who, names in takes.items()}


def _takes(who: str, name: str) -> tuple[str, ...]:
    if who == "model":
        return llm.settings(name)
    return plugins.accepted(plugins.load("codeplan.envs" if who == "env" else "codeplan.methods", name))


def _shown(settings: Mapping[str, Any], model: LLM) -> dict[str, Any]:
    """The settings as the trace keeps them: plain values. A model tells its own (``settings``), without secrets."""
    plain = (str, int, float, bool, type(None))
    own = dict(getattr(model, "settings", {}))
    others = {n: v if isinstance(v, plain) else repr(v) for n, v in settings.items()}
    return {n: v for n, v in others.items() if n not in _SECRET} | own
