"""Finds environments by name, and selects their tasks."""

from __future__ import annotations

import inspect
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from codeplan import plugins
from codeplan.errors import CodeplanError, EnvironmentFailure, UsageError
from codeplan.protocols import BaseEnvironment, Environment, GeneratesTasks, require_members
from codeplan.types import Task
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.texts import MAX_REASON_CHARS, message_text, one_line, with_article
from codeplan.untrusted.tracebacks import broken_environment, place_of
from codeplan.untrusted.values import in_quotes, type_name


def names() -> tuple[str, ...]:
    """Return the names of all installed environments, sorted, without loading them."""
    return plugins.names("codeplan.envs")


def make(name: str, **settings: Any) -> Environment:
    """Build an environment from its name and settings, as in ``make("household", actions=30)``.

    Raises:
        UsageError: the name or a setting is unknown, a value has the wrong type, or the factory's result lacks members
        of an Environment. EnvironmentFailure: the factory raised an exception.
    """
    return build(plugins.load_factory("codeplan.envs", name), settings, f"the environment {name}")


def build(factory: Callable[..., Any], settings: Mapping[str, Any], what: str) -> Environment:
    """Build an environment from its factory; ``what`` names it in messages, as in "the environment X". Raises as
    ``make``.
    """
    try:
        env: Environment = plugins.build(factory, settings, what)
    except CodeplanError:
        raise
    except (Exception, SystemExit) as e:
        said = one_line(f"{type_name(e)}: {message_text(e)}", MAX_REASON_CHARS) + place_of(e)
        broken = EnvironmentFailure(f"{what} cannot be built: {said}")
        broken.is_users_bug = True
        raise broken from e
    if inspect.iscoroutine(env):
        env.close()
        raise UsageError(f"{what} comes from an asynchronous function; write one that returns an Environment")
    require_members(env, Environment, what)
    return env


_SEED = re.compile("[0-9]{1,20}")

DEFAULT_SPLITS = ("test", "dev", "train")
"""The splits of an environment that does not name its own."""


def splits(env: BaseEnvironment) -> tuple[str, ...]:
    """Return the names of an environment's splits; the first one is the default.

    They are the environment's attribute ``splits`` if it has one, otherwise ``DEFAULT_SPLITS``.
    """
    return tuple(getattr(env, "splits", DEFAULT_SPLITS))


def tasks_of(env: BaseEnvironment, split: str) -> Sequence[Task]:
    """Return the tasks of a split, as ``env.tasks`` has them; what it yields one by one becomes a list.

    Raises: EnvironmentFailure: the environment breaks, or gives something else than tasks.
    """
    try:
        tasks: object = env.tasks(split)
        if isinstance(tasks, Iterable) and not isinstance(tasks, Sequence):
            tasks = list(tasks)
    except CodeplanError:
        raise
    except (Exception, SystemExit) as e:  # sys.exit(0) in an environment must not end the program as a success
        raise broken_environment(env.name, f"listing the tasks of its split {split}", e) from e
    if not isinstance(tasks, Sequence) or isinstance(tasks, str):
        raise _no_tasks(env, split, with_article(type(tasks).__name__))
    if isinstance(tasks, list | tuple) and (others := [t for t in tasks if not isinstance(t, Task)]):
        raise _no_tasks(env, split, f"a list with {with_article(type(others[0]).__name__)}")
    return tasks


def _no_tasks(env: BaseEnvironment, split: str, found: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"the environment {env.name} gave {found} for its split {split}; tasks must return a list of codeplan.Task"
    )


def select(
    env: BaseEnvironment,
    *,
    id: str | None = None,
    kind: str | None = None,
    seed: int | None = None,
    split: str | None = None,
) -> Task:
    """Return the task with an id, or the first task with a kind, a seed or both; without any, the split's first task.

    An environment that generates tasks has one for every kind and seed. ``split`` restricts the choice; None allows
    every split for an id or a seed, and otherwise means the environment's first split.
    Raises: UsageError if there is no such task or split, or if an id comes with a kind or a seed.
    """
    if split is not None and split not in (there := splits(env)):
        raise UsageError(f"{env.name} has no split {in_quotes(split)}; there are: {', '.join(there)}")
    if id is not None:
        if kind is not None or seed is not None:
            raise UsageError(f"give a task by its id ({id}), or by kind and seed, not by both")
        return _find_by_id(env, id, split)
    if seed is not None and isinstance(env, GeneratesTasks):
        return _require_split(_make_task(env, env.name, env.kinds[0] if kind is None else kind, seed), split)
    if kind is not None and isinstance(env, GeneratesTasks) and kind not in env.kinds:
        raise UsageError(
            f"{env.name} has no tasks of kind {in_quotes(kind)}; {_nearest(kind, env.kinds)}{_describe_choices(env)}"
        )
    return _find_first(env, kind, seed, split)


def take_of_each_kind(tasks: Iterable[Task], count: int | None, skip: int = 0) -> list[Task]:
    """Return up to ``count`` tasks of each kind (None: all) after the first ``skip`` of that kind, in their order."""
    numbers: Counter[str] = Counter()
    chosen = []
    for task in tasks:
        numbers[task.kind] += 1
        if skip < numbers[task.kind] and (count is None or numbers[task.kind] <= skip + count):
            chosen.append(task)
    return chosen


def list_tasks(env: BaseEnvironment, split: str, kind: str | None = None) -> list[Task]:
    """Return all tasks of a split, or those of a kind.

    Raises: UsageError: there are none.
    """
    tasks = [task for task in tasks_of(env, split) if kind in (None, task.kind)]
    if not tasks:
        of_kind = f" of kind {kind}" if kind else ""
        kinds = getattr(env, "kinds", ())
        near = _nearest(kind, kinds) if kind else ""
        raise UsageError(
            f"{env.name} has no tasks{of_kind} in its split {split}; {near}its kinds: {', '.join(kinds) or 'none'}; "
            f"its splits: {', '.join(splits(env))}"
        )
    return tasks


def draw_order(tasks: Iterable[Task], seed: int | None) -> list[Task]:
    """Return the tasks in an order drawn at random by ``seed``; None keeps their own."""
    order = list(tasks)
    if seed is not None:
        random.Random(seed).shuffle(order)
    return order


def _find_by_id(env: BaseEnvironment, id: str, split: str | None) -> Task:
    if generated := _generate(env, id):
        return _require_split(generated, split)
    task = next((t for t in _iterate(env, split) if t.id == id), None)
    if task is None:
        where = f" in its split {split}" if split else ""
        first = next(_iterate(env, None), None)
        example = in_quotes(first.id) if first else "nothing: there are no tasks"
        kinds = env.kinds if isinstance(env, GeneratesTasks) else {t.kind for t in _iterate(env, None)}
        advice = f"; this is a kind: --kind {id} (kind={in_quotes(id)}) takes one of its tasks" if id in kinds else ""
        raise UsageError(f"{env.name} has no task {in_quotes(id)}{where}{advice}; an id looks like {example}")
    return task


def _generate(env: BaseEnvironment, id: str) -> Task | None:
    """The generated task of an id ``kind/seed``; None if the environment does not generate a task with this id."""
    kind, _, seed = id.rpartition("/")
    if not isinstance(env, GeneratesTasks) or kind not in env.kinds or not _SEED.fullmatch(seed):
        return None
    task = _make_task(env, env.name, kind, int(seed))
    return task if task.id == id else None


def _make_task(env: GeneratesTasks, name: str, kind: str, seed: int) -> Task:
    """Raises: EnvironmentFailure: the environment breaks, or gives something else than a task."""
    try:
        task: object = env.task(kind, seed)
    except CodeplanError:
        raise
    except (Exception, SystemExit) as e:
        raise broken_environment(name, f"making the task {kind}/{seed}", e) from e
    if not isinstance(task, Task):
        found = with_article(type(task).__name__)
        raise EnvironmentFailure(
            f"the environment {name} gave {found} for {kind}/{seed}; task must return a codeplan.Task"
        )
    return task


def _find_first(env: BaseEnvironment, kind: str | None, seed: int | None, split: str | None) -> Task:
    for task in _iterate(env, split if split or seed is not None else next(iter(splits(env)), "")):
        if kind in (None, task.kind) and seed in (None, task.seed):
            return task
    given = {"kind": kind, "seed": seed, "split": split}
    wanted = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    raise UsageError(f"{env.name} has no task{' of ' + wanted if wanted else 's'}; {_describe_choices(env)}")


def _require_split(task: Task, split: str | None) -> Task:
    if split not in (None, task.split):
        raise UsageError(f"the task {task.id} is in the split {task.split}, not in {split}")
    return task


def _iterate(env: BaseEnvironment, split: str | None) -> Iterator[Task]:
    for name in splits(env) if split is None else (split,):
        yield from tasks_of(env, name)


def _nearest(kind: str, kinds: Iterable[str]) -> str:
    """The first part of an advice: the kind that was probably meant; empty if ``kind`` exists or no kind is similar."""
    near = nearest_name(kind, kinds)
    return f"did you mean {in_quotes(near)}? " if near not in (None, kind) else ""


def _describe_choices(env: BaseEnvironment) -> str:
    names = ", ".join(s for s in splits(env) if len(tasks_of(env, s))) or "none"
    kinds = env.kinds if isinstance(env, GeneratesTasks) else dict.fromkeys(t.kind for t in _iterate(env, None))
    return f"its kinds: {', '.join(kinds) or 'none'}; its splits: {names}"
