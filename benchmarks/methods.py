"""Runs every method on the same tasks with a weak stand-in and prints one table per environment and weakness.

AutoPlan first learns from train tasks. The rates show what each method is good for, not what language models achieve.
``python benchmarks/methods.py [TASKS OF EACH KIND]``
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from codeplan import envs
from codeplan.budget import Budget
from codeplan.episode.method import Method
from codeplan.methods.registry import make
from codeplan.runner.episodes import learn, run
from codeplan.types import Result, Task

PER_KIND = 10
LEARNT_FROM = 6
BUDGET = Budget(model_calls=400)
ENVIRONMENTS = ("household", "textcraft")
METHODS: dict[str, tuple[tuple[str, str, dict[str, Any]], ...]] = {
    "span": (
        ("react", "react", {}),
        ("try-again", "try-again", {}),
        ("plan-and-execute", "plan-and-execute", {}),
        *((f"adapt, depth {depth}", "adapt", {"max_depth": depth}) for depth in (1, 2, 3, 4)),
    ),
    "forgetful": (
        ("react", "react", {}),
        ("try-again", "try-again", {}),
        ("reflexion", "reflexion", {}),
        ("text-planner", "text-planner", {"tries": 3}),
        ("autoplan, no plan", "autoplan", {}),
    ),
}


def main() -> None:
    """Print the tables."""
    per_kind = int(sys.argv[1]) if len(sys.argv) > 1 else PER_KIND
    for env in ENVIRONMENTS:
        tasks = select_tasks(env, per_kind)
        for weakness in METHODS:
            table = make_table(f"{env}, stand-in with weakness={weakness}, {len(tasks)} tasks", tasks)
            for label, method in methods(env, weakness):
                results = [run(env, t, method, budget=BUDGET, weakness=weakness) for t in tasks]
                table.add_row(label, *cells(results))
            Console(width=140).print(table)


def select_tasks(env: str, per_kind: int) -> list[Task]:
    """The first test tasks of each kind."""
    found: dict[str, list[Task]] = {}
    for task in envs.make(env).tasks("test"):
        if len(found.setdefault(task.kind, [])) < per_kind:
            found[task.kind].append(task)
    return [task for kind in sorted(found) for task in found[kind]]


def methods(env: str, weakness: str) -> Iterator[tuple[str, Method]]:
    """The methods of a table with their labels; the last one is AutoPlan after learning."""
    for label, name, settings in METHODS[weakness]:
        yield label, make(name, **settings)
    if weakness == "forgetful":
        train = list(envs.make(env).tasks("train")[:LEARNT_FROM])
        with tempfile.TemporaryDirectory() as folder:
            yield "autoplan, learnt", learn(env, train, "autoplan", out=Path(folder), weakness=weakness)


def make_table(title: str, tasks: list[Task]) -> Table:
    """A table with a column for each kind of task."""
    table = Table("method", title=title, title_justify="left")
    for kind in (*dict.fromkeys(t.kind for t in tasks), "all", "actions", "calls", "tokens"):
        table.add_column(kind, justify="right")
    return table


def cells(results: list[Result]) -> list[str]:
    """Success by kind and overall, then means over the episodes."""
    kinds = dict.fromkeys(r.task.kind for r in results)
    rates = [rate([r for r in results if r.task.kind == kind]) for kind in kinds]
    sums = (r.actions for r in results), (r.model_calls for r in results), (r.usage.total_tokens or 0 for r in results)
    return [*rates, rate(results), *(f"{sum(s) / len(results):,.1f}" for s in sums)]


def rate(results: list[Result]) -> str:
    """The share of successes."""
    return f"{sum(r.success for r in results) / len(results):.0%}"


if __name__ == "__main__":
    main()
