"""Runs a bench from Python in one call, also with an environment that is the caller's object or class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codeplan import plugins
from codeplan.bench.bench_runner import BenchOutcome, run_bench
from codeplan.bench.bench_spec import BenchSpec, resolve_bench
from codeplan.bench.engines import make_engine
from codeplan.bench.store import BenchRecord, EpisodeOutcome
from codeplan.budget import Budget, TotalBudget
from codeplan.errors import UsageError
from codeplan.protocols import Environment, has_members, require_members
from codeplan.recording.cancellation import current_cancellation
from codeplan.runner.async_episodes import in_thread
from codeplan.runner.environment_files import name_of_factory
from codeplan.untrusted.noun_phrases import with_article
from codeplan.untrusted.values import in_quotes


def run(
    env: str | Environment | Callable[[], Environment],
    method: str | Sequence[str] = "adaplanner",
    model: str | Sequence[str] = "scripted",
    *,
    split: str | None = None,
    kind: str | None = None,
    n: int | None = None,
    repeats: int = 1,
    jobs: int | None = None,
    budget: Budget | None = None,
    bench_budget: TotalBudget | None = None,
    out: Path | str | None = None,
    on_outcome: Callable[[EpisodeOutcome], None] | None = None,
    **settings: Any,
) -> BenchOutcome:
    """Play an environment's tasks with each method and each model, in threads of this process.

    ``env`` is the name of a suite or an environment, an environment's class or another
    function that makes one, or an object. An
    object plays one episode after the other; the others play ``jobs`` at a time (default 2). ``split``, ``kind`` and
    ``n`` select tasks: at most ``n`` of each kind. ``budget`` is for each episode, ``bench_budget`` for all. ``out`` is
    the bench's folder, in which an unfinished bench continues; None writes nothing. ``on_outcome`` is called with each
    episode that ends. ``settings`` are those of ``codeplan.run``, for all cells.

    Raises: UsageError: the input is wrong, such as several jobs for one object.
    """
    _require_whole(n=n, repeats=repeats, jobs=jobs)
    name, environments = _name_environment(env)
    if environments and jobs not in (None, 1):
        raise UsageError(f"one environment object plays one episode at a time, not {jobs}; give its class, or jobs=1")
    spec = BenchSpec(
        suites=(name,),
        methods=_listed("method", method),
        models=_listed("model", model),
        common=settings,
        repeats=repeats,
        split=split,
        kind=kind,
        n=n,
        budget=budget or Budget(),
    )
    plan = resolve_bench(spec, environments=environments)

    @contextmanager
    def observe(bench: BenchRecord) -> Iterator[Callable[[EpisodeOutcome], None] | None]:
        yield on_outcome

    engine = make_engine("threads", jobs or (1 if environments else 2))
    own: dict[str, Any] = {"environments": environments, "cancellation": current_cancellation()}
    return run_bench(plan, engine, Path(out) if out else None, budget=bench_budget, observer=observe, **own)


async def abench(env: str | Environment | Callable[[], Environment], *arguments: Any, **options: Any) -> BenchOutcome:
    """``codeplan.bench.run`` for a running event loop, such as a notebook's.

    ``on_outcome`` is called in another thread. If the awaiting task is cancelled, the running episodes are interrupted
    as by Ctrl-C; with ``out``, the bench continues when it is started again.
    """
    return await in_thread(lambda: run(env, *arguments, **options))


def _require_whole(**numbers: object) -> None:
    """Raise UsageError unless each number is None or a whole number from 1 up."""
    for name, number in numbers.items():
        if number is not None and (type(number) is not int or number < 1):
            raise UsageError(f"{name} is {in_quotes(number)}; give a whole number from 1 up")


def _listed(what: str, given: object) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"a bench takes the name of a {what}, or several names, not {with_article(type(given).__name__)}; "
            f"codeplan.run takes a {what} of yours"
        )
    return tuple(names)


def _name_environment(env: Any) -> tuple[str, dict[str, Environment]]:
    """The name of an environment, which this process then knows, and the object behind it if it is one."""
    if isinstance(env, str):
        return env, {}
    what = f"the environment {type(env).__name__}"
    if isinstance(env, type) or not has_members(env, Environment, what):
        if not callable(env):
            raise UsageError(
                f"give a codeplan.Environment, its class or a name, not {with_article(type(env).__name__)}"
            )
        name = name_of_factory(env, "the environment")
        try:
            plugins.register("codeplan.envs", name, env)
        except UsageError as e:
            raise UsageError(f"{e}, or give an object in place of what makes it") from None
        return name, {}
    require_members(env, Environment, what)
    if env.name not in plugins.names("codeplan.envs"):
        plugins.register("codeplan.envs", env.name, lambda: env)
    return env.name, {env.name: env}
