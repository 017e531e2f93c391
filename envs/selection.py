"""Picking one task of an environment."""

from __future__ import annotations

from collections.abc import Iterator

from codeplan.errors import UsageError
from codeplan.protocols import Environment, GeneratesTasks
from codeplan.types.task import Task

DEFAULT_SPLITS = ("test", "dev", "train")
"""The splits of an environment that does not name its own."""


def splits(env: Environment) -> tuple[str, ...]:
    """The names of an environment's splits, the one that is taken when none is asked for first.

    They are the environment's own where it has an attribute ``splits``, else ``test``, ``dev`` and ``train``.
    """
    return tuple(getattr(env, "splits", DEFAULT_SPLITS))


def select(
    env: Environment,
    *,
    id: str | None = None,
    kind: str | None = None,
    seed: int | None = None,
    split: str | None = None,
) -> Task:
    """The one task that is meant by an id, or by a kind, a seed or both; with nothing given, the first of the split.

    Where the environment generates tasks, any kind and seed may be asked for; elsewhere the first task that fits is
    taken. ``split`` restricts the choice; None means every split for an id and for a seed, and otherwise the
    environment's first, which is ``"test"`` for most.
    Raises UsageError where there is no such task, or where an id comes with a kind or a seed.
    """
    if id is not None:
        if kind is not None or seed is not None:
            raise UsageError(f"give a task by its id ({id}), or by kind and seed, not by both")
        return _by_id(env, id, split)
    if seed is not None and isinstance(env, GeneratesTasks):
        return _within(env.task(env.kinds[0] if kind is None else kind, seed), split)
    _refuse_unknown_kind(env, kind)
    return _first(env, kind, seed, split)


def _by_id(env: Environment, id: str, split: str | None) -> Task:
    task = _generated(env, id) or next((t for t in _scan(env, split) if t.id == id), None)
    if task is None:
        where = f" in its split {split}" if split else ""
        raise UsageError(f"{env.name} has no task {id!r}{where}; an id looks like {_example(env)}")
    return _within(task, split)


def _generated(env: Environment, id: str) -> Task | None:
    """The task of an id that spells ``kind/seed``, where the environment makes just this id of them."""
    kind, _, seed = id.rpartition("/")
    if not isinstance(env, GeneratesTasks) or kind not in env.kinds or not (seed.isascii() and seed.isdigit()):
        return None
    task = env.task(kind, int(seed))
    return task if task.id == id else None


def _first(env: Environment, kind: str | None, seed: int | None, split: str | None) -> Task:
    tasks = _scan(env, split if split or seed is not None else next(iter(splits(env)), ""))
    for task in tasks:
        if kind in (None, task.kind) and seed in (None, task.seed):
            return task
    given = {"kind": kind, "seed": seed, "split": split}
    wanted = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    raise UsageError(f"{env.name} has no task{' of ' + wanted if wanted else 's'}; {_what_there_is(env)}")


def _within(task: Task, split: str | None) -> Task:
    if split not in (None, task.split):
        raise UsageError(f"the task {task.id} is in the split {task.split}, not in {split}")
    return task


def _refuse_unknown_kind(env: Environment, kind: str | None) -> None:
    if kind is not None and isinstance(env, GeneratesTasks) and kind not in env.kinds:
        raise UsageError(f"{env.name} has no tasks of kind {kind!r}; {_what_there_is(env)}")


def _scan(env: Environment, split: str | None) -> Iterator[Task]:
    for name in splits(env) if split is None else (split,):
        yield from env.tasks(name)


def _example(env: Environment) -> str:
    task = next(_scan(env, None), None)
    return repr(task.id) if task else "nothing: there are no tasks"


def _what_there_is(env: Environment) -> str:
    there = ", ".join(s for s in splits(env) if len(env.tasks(s))) or "none"
    kinds = env.kinds if isinstance(env, GeneratesTasks) else dict.fromkeys(t.kind for t in _scan(env, None))
    return f"its kinds: {', '.join(kinds) or 'none'}; its splits: {there}"
