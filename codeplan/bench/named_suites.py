"""Suites by name: the task lists that papers report on, or the tasks of an environment's split."""

from __future__ import annotations

from collections import Counter

import msgspec

from codeplan import envs, plugins
from codeplan.envs.selection import require_recordable, take_of_each_kind
from codeplan.errors import UsageError
from codeplan.protocols import Environment
from codeplan.types import Task
from codeplan.untrusted.values import in_quotes

__all__ = ["NAMED_SUITES", "SuiteDefinition", "resolve_suite", "select_tasks"]


class SuiteDefinition(msgspec.Struct, frozen=True):
    """A split of an environment, or its ``first`` tasks, or the first ``of_each_kind``."""

    env: str
    split: str | None
    first: int | None = None
    of_each_kind: int | None = None


NAMED_SUITES = {
    "alfworld-unseen": SuiteDefinition("alfworld", "valid_unseen"),
    "alfworld-seen": SuiteDefinition("alfworld", "valid_seen"),
    "household-134": SuiteDefinition("household", "test", first=134),
    "miniwob-53": SuiteDefinition("miniwob", "test"),
    "miniwob-feedback": SuiteDefinition("miniwob", "feedback"),
    "hotpotqa-500": SuiteDefinition("hotpotqa", "react-500"),
    "hotpotqa-200": SuiteDefinition("hotpotqa", "dev", first=200),
    "scienceworld-test": SuiteDefinition("scienceworld", "test"),
    "scienceworld-271": SuiteDefinition("scienceworld", "test", of_each_kind=10),
    "webshop-100": SuiteDefinition("webshop", "test", first=100),
}
"""The suites by name."""


def resolve_suite(suite: str) -> SuiteDefinition:
    """Return the suite with this name; for an environment's name, one with an open split (None).

    Raises: UsageError for an unknown name.
    """
    if suite in NAMED_SUITES:
        return NAMED_SUITES[suite]
    every = (*NAMED_SUITES, *envs.names())
    if suite not in every:
        raise UsageError(f"there is no suite or environment {in_quotes(suite)}; {plugins.suggest_names(suite, every)}")
    return SuiteDefinition(suite, None)


def select_tasks(
    suite: str, env: Environment, *, split: str | None = None, kind: str | None = None, n: int | None = None
) -> tuple[Task, ...]:
    """Return a suite's tasks in this environment, always the same: those of ``kind``, at most ``n`` of each kind.

    ``split`` is for suites without a split of their own. Raises: UsageError if there is no such task or split, if
    two of the tasks have the same id, or if no trace could hold one of them.
    """
    named = resolve_suite(suite)
    if named.split and split:
        raise UsageError(f"the suite {suite} is the split {named.split} of {env.name}; leave the split out")
    there = envs.splits(env)
    wanted = named.split or split or there[0]
    if wanted not in there:
        raise UsageError(f"{env.name} has no split {wanted} here; there are: {', '.join(there)}")
    every = take_of_each_kind(envs.tasks_of(env, wanted)[: named.first], named.of_each_kind)
    found = take_of_each_kind([task for task in every if kind in (None, task.kind)], n)
    if not found:
        of_kind = f" of kind {kind}" if kind else ""
        has = ", ".join(dict.fromkeys(task.kind for task in every)) or "no tasks at all"
        raise UsageError(f"{env.name} has no task{of_kind} in its split {wanted}; that split has: {has}")
    for task in found:
        require_recordable(task, env.name)
    if twice := [id for id, count in Counter(task.id for task in found).items() if count > 1]:
        which = f"the id {in_quotes(twice[0])} in its split {wanted}"
        raise UsageError(f"{env.name} has several tasks with {which}; give each an id of its own")
    return tuple(found)
