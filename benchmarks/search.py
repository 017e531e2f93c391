"""Compares search over plans with AdaPlanner and Reflexion, and a snapshot's speed with that of a replay.

    python benchmarks/search.py [TASKS OF EACH ENVIRONMENT]

Its model is the scripted stand-in with its usual mistakes. It answers a question that comes again as with another seed,
so that plans differ from sample to sample. The rates show what each method costs and is good for; they say nothing
about language models. Reflexion's executor is ReAct, and the stand-in then forgets things until a reflection tells it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table

from codeplan import envs
from codeplan.episode.episode import Episode
from codeplan.episode.method import Method
from codeplan.episode.rewind import actions_since_reset, rewind
from codeplan.errors import ModelError, UsageError
from codeplan.methods.registry import make
from codeplan.protocols import Environment
from codeplan.recording.events import CallBegun
from codeplan.runner.episodes import run
from codeplan.standin.model import ScriptedModel
from codeplan.types import Completion, Message, Purpose, Result, Task

TASKS = 24
ENVIRONMENTS = ("household", "textcraft", "scienceworld")
SNAPSHOTS = ("household", "textcraft", "webshop")
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "adaplanner": ("adaplanner", {}),
    "adaplanner, 1 try": ("adaplanner", {"tries": 1}),
    "best-of-4": ("best-of-n", {"n": 4}),
    "best-of-4, 2 tries each": ("best-of-n", {"n": 4, "executor": {"name": "adaplanner", "tries": 2}}),
    "tree": ("tree", {}),
    "tree, no rating": ("tree", {"word": 0.0}),
    "reflexion over react": ("reflexion", {}),
}
SCIENCE_KINDS = (
    *("find-plant", "find-animal", "find-living-thing", "find-non-living-thing"),
    *("lifespan-longest-lived", "lifespan-shortest-lived", "use-thermometer", "chemistry-mix-paint-secondary-color"),
)
"""The kinds of ScienceWorld that the stand-in can plan."""
REPEATS = 50
LEAST_RATIO = 10


class SampledStandIn:
    """The stand-in as a model that is sampled: the same question gets the answer of the next seed each time."""

    name = "scripted"

    def __init__(self) -> None:
        self._asked: Counter[tuple[str, str]] = Counter()

    def for_episode(self) -> SampledStandIn:
        """A model that was asked nothing yet."""
        return SampledStandIn()

    def count_call(self, messages: Sequence[Message], *, purpose: Purpose, **_: Any) -> None:
        """Count a question."""
        self._asked[purpose, repr(messages)] += 1

    def complete(self, messages: Sequence[Message], *, purpose: Purpose, **_: Any) -> Completion:
        """The answer of the seed whose turn it is."""
        seed = self._asked[purpose, repr(messages)]
        self.count_call(messages, purpose=purpose)
        model = ScriptedModel(model_seed=seed, mistakes="some", weakness="forgetful")
        return model.complete(messages, purpose=purpose)


def main() -> int:
    """Print the tables; 1 if going back by snapshot is less than LEAST_RATIO times as quick as by replay."""
    count, console = int(sys.argv[1]) if len(sys.argv) > 1 else TASKS, Console(width=140)
    for name in ENVIRONMENTS:
        console.print(compare(name, count) if (why := missing(name)) is None else f"{name} is left out: {why}")
    table = Table("environment", "actions", "replay, µs", "snapshot, µs", "ratio", title="The way back to a state")
    ratios = [add_speed(table, name) for name in SNAPSHOTS]
    console.print(table)
    return int(min(ratios) < LEAST_RATIO)


def missing(name: str) -> str | None:
    """Why an environment cannot be played here; None if it can."""
    try:
        env = envs.make(name)
        env.reset(next(iter(env.tasks("test"))))
        env.close()
    except UsageError as e:
        return str(e)
    return None


def compare(name: str, count: int) -> Table:
    """The table of one environment: each method on the same tasks."""
    tasks = select_tasks(name, count)
    title = f"{name}, {len(tasks)} tasks, sampled stand-in (not a language model)"
    columns = ("success", "model calls", "tokens", "actions", "successes/100 calls", "successes/100,000 tokens")
    table = Table("method", title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right")
    for label, (method, settings) in METHODS.items():
        table.add_row(label, *cells(name, make(method, **settings), tasks))
    return table


def select_tasks(name: str, count: int) -> list[Task]:
    """Tasks of the test split that the stand-in can plan, the kinds in turn."""
    env = envs.make(name)
    kinds: dict[str, list[Task]] = {}
    for task in islice(env.tasks("test"), 10_000):
        if name != "scienceworld" or task.kind in SCIENCE_KINDS:
            kinds.setdefault(task.kind, []).append(task)
    in_turn = sorted((n, kind, task.id, task) for kind, of_kind in kinds.items() for n, task in enumerate(of_kind))
    env.close()
    return [task for *_, task in in_turn[:count]]


def cells(env: str, method: Method, tasks: Sequence[Task]) -> list[str]:
    """Successes, the means over the episodes, and the successes for what they cost."""
    try:
        results = [run(env, task, method, SampledStandIn()) for task in tasks]
    except (ModelError, UsageError):
        return ["the stand-in cannot act here", *["–"] * 5]
    successes = sum(r.success for r in results)
    calls, tokens = sum(r.model_calls for r in results), sum(r.usage.total_tokens or 0 for r in results)
    actions, number = sum(r.actions for r in results), len(results)
    means = (f"{total / number:,.1f}" for total in (calls, tokens, actions))
    return [show_rate(results), *means, f"{100 * successes / calls:.1f}", f"{100_000 * successes / tokens:.1f}"]


def show_rate(results: Sequence[Result]) -> str:
    """The successes as a share and a count."""
    successes = sum(r.success for r in results)
    return f"{successes / len(results):.0%} ({successes})"


def add_speed(table: Table, name: str) -> float:
    """Measure an episode's way back to the state after a solved task's actions but the last; returns the ratio."""
    env = envs.make(name)
    task = select_tasks(name, 1)[0]
    actions: list[str] = []
    run(env, task, "adaplanner", ScriptedModel(mistakes="none"), on_event=lambda e: note_action(e, actions))
    seconds = {}
    for way in ("replay", "snapshot"):
        seconds[way] = statistics.median(time_way_back(env, task, actions, way) for _ in range(REPEATS))
    env.close()
    ratio = seconds["replay"] / seconds["snapshot"]
    table.add_row(
        name, str(len(actions) - 1), *(f"{seconds[way] * 1e6:,.0f}" for way in ("replay", "snapshot")), f"{ratio:.0f}"
    )
    return ratio


def note_action(event: object, actions: list[str]) -> None:
    """Keep the words of an action that began."""
    if isinstance(event, CallBegun):
        actions.append(event.call.name)


def time_way_back(env: Environment, task: Task, actions: Sequence[str], way: str) -> float:
    """The seconds of one way back after a further action, with its events in a trace in memory."""
    episode = Episode(env, task, ScriptedModel())
    for action in actions[:-1]:
        episode.act(action)
    state, done = episode.mark(), actions_since_reset(episode)
    episode.act(actions[-1])
    started = time.perf_counter()
    if way == "replay":
        rewind(episode, done)
    else:
        episode.go_back(state)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
