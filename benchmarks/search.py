"""Compares search over plans with AdaPlanner and Reflexion, and a snapshot's speed with that of a replay.

    python benchmarks/search.py [TASKS OF EACH ENVIRONMENT]
    python benchmarks/search.py --played

The table has two models. One is the scripted stand-in with its usual mistakes. It answers a question that comes again
as with another seed, so that plans differ from sample to sample. Its rates show what each method costs and is good for;
they say nothing about language models. Reflexion's executor is ReAct, and the stand-in then forgets things until a
reflection tells it.

The other is a strong language model whose replies were written once, from the prompts' text, and are kept in
``search_played.jsonl.xz``; docs/methods.md says how they were written. With ``--played``, the table has this model
alone. The replies no longer fit when the words of a prompt change, and the benchmark then ends with a sentence. Where
they still make sense, ``--played --keep-replies`` takes them for the present prompts, and the table says how many.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from codeplan import envs
from codeplan.episode.episode import Episode, actions_since_reset, rewind
from codeplan.errors import ModelError, UsageError
from codeplan.methods.registry import make
from codeplan.protocols import LLM, Environment
from codeplan.recording.events import CallBegun
from codeplan.runner.episodes import run
from codeplan.standin.model import ScriptedModel
from codeplan.types import Completion, Message, Purpose, Result, Task, Usage

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
PLAYED_FILE = Path(__file__).with_name("search_played.jsonl.xz")
PLAYED = {"household": 8, "textcraft": 6, "scienceworld": 6, "scienceworld, other kinds": 6}
PLAYED_SEED = 42
REPEATS = 50
LEAST_RATIO = 10
COLUMNS = (
    *("success", "model calls", "tokens in", "tokens out", "actions"),
    *("successes/100 calls", "successes/million tokens"),
)


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


class NotPlayed(Exception):
    """No reply was written for a prompt. The message says for which."""


class PlayedReplies:
    """The replies of the played episodes, from PLAYED_FILE.

    A line of the file is an episode: its method, its task, and for each model call the purpose, a digest of the prompt,
    the reply, and whether the reply was written for other words of the prompt. With ``keep``, replies are taken for
    changed prompts, too.
    """

    def __init__(self, keep: bool = False) -> None:
        lines = [json.loads(line) for line in lzma.decompress(PLAYED_FILE.read_bytes()).decode().splitlines()]
        self.episodes = {(line["method"], line["task"]): line["calls"] for line in lines}
        self.keep = keep

    def count_kept(self) -> int:
        """How many replies were written for other words of their prompts."""
        return sum(kept for calls in self.episodes.values() for *_, kept in calls)

    def save(self) -> None:
        """Write the file anew."""
        lines = [{"method": m, "task": t, "calls": calls} for (m, t), calls in self.episodes.items()]
        PLAYED_FILE.write_bytes(lzma.compress("".join(json.dumps(line) + "\n" for line in lines).encode(), preset=9))


class ReplayedModel:
    """Answers the calls of one episode with the replies that were written for it, in their order."""

    name = "played"

    def __init__(self, replies: PlayedReplies, method: str, task: Task) -> None:
        self._replies, self._where = replies, f"{method} on {task.env} {task.id}"
        self._calls = replies.episodes.get((method, task.id), [])
        self._next = 0

    @property
    def calls_left(self) -> int:
        """How many replies were not asked for."""
        return len(self._calls) - self._next

    def complete(self, messages: Sequence[Message], *, purpose: Purpose, **_: Any) -> Completion:
        """The next reply; four characters count as a token. Raises: NotPlayed."""
        prompt = digest(messages)
        said = self._calls[self._next] if self.calls_left else None
        if said is None or said[0] != purpose or (said[1] != prompt and not self._replies.keep):
            raise NotPlayed(
                f"{PLAYED_FILE.name} has no reply for call {self._next + 1} ({purpose}) of {self._where}: the words of "
                "the prompt, or what happened before it, have changed since the replies were written; take the old "
                "replies by --played --keep-replies if they still make sense, or play the episode again"
            )
        if said[1] != prompt:
            said[1], said[3] = prompt, True
        self._next += 1
        read, reply = sum(len(m["content"]) for m in messages), said[2]
        return Completion(reply, Usage(read // 4, len(reply) // 4, money=0.0), model=self.name)


def digest(messages: Sequence[Message]) -> str:
    """What tells a prompt from others."""
    said = json.dumps([[m["role"], m["content"]] for m in messages])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def main() -> int:
    """Print the tables. 1 if going back by snapshot is less than LEAST_RATIO times as quick as by replay, 2 if played
    replies do not fit."""
    options, numbers = {a for a in sys.argv[1:] if a.startswith("-")}, [a for a in sys.argv[1:] if a[0] != "-"]
    console, table = Console(width=160), Table("method", title="Search over plans", title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    if "--played" not in options:
        add_stand_in(table, int(numbers[0]) if numbers else TASKS)
    try:
        kept = add_played(table, "--keep-replies" in options)
    except NotPlayed as e:
        print(e, file=sys.stderr)
        return 2
    console.print(table)
    if kept:
        console.print(f"{kept} replies were written for other words of their prompts.")
    return 0 if "--played" in options else show_speed(console)


def show_speed(console: Console) -> int:
    """Print the table of ways back; 1 if a snapshot is too slow."""
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


def add_stand_in(table: Table, count: int) -> None:
    """A section for each environment with the sampled stand-in."""
    for name in ENVIRONMENTS:
        if (why := missing(name)) is not None:
            add_section(table, f"{name} is left out: {why}")
            continue
        tasks = select_tasks(name, count)
        add_section(table, f"{name}, {len(tasks)} tasks, sampled stand-in (not a language model)")
        for label in METHODS:
            try:
                table.add_row(label, *cells(play(label, tasks, lambda *_: SampledStandIn())))
            except (ModelError, UsageError):
                table.add_row(label, "cannot act here", *["–"] * (len(COLUMNS) - 1))


def add_played(table: Table, keep: bool = False) -> int:
    """A section for each environment with the played replies, and one for all. Returns how many replies were kept.

    Raises: NotPlayed: a prompt is not one that the replies were written for, and ``keep`` is false.
    """
    replies = PlayedReplies(keep)
    of_all: dict[str, list[Result]] = {label: [] for label in METHODS}
    for name, count in PLAYED.items():
        env = name.partition(",")[0]
        if (why := missing(env)) is not None:
            add_section(table, f"{name} is left out: {why}")
            continue
        add_section(table, f"{name}, {count} tasks, played once")
        tasks = draw_tasks(env, count, other_kinds=env != name)
        for label, results in of_all.items():
            played = play(label, tasks, lambda label, task: ReplayedModel(replies, label, task))
            table.add_row(label, *cells(played))
            results += played
    add_section(table, f"all {len(of_all['tree'])} tasks, played once")
    for label, results in of_all.items():
        table.add_row(label, *cells(results))
    if keep:
        replies.save()
    return replies.count_kept()


def add_section(table: Table, title: str) -> None:
    """A line that says what the following rows are about."""
    table.add_section()
    table.add_row(f"[bold]{title}[/bold]")


def select_tasks(name: str, count: int) -> list[Task]:
    """Tasks of the test split that the stand-in can plan, the kinds in turn."""
    kinds = tasks_by_kind(name)
    return take_in_turn([kinds[kind] for kind in sorted(kinds)], count)


def draw_tasks(name: str, count: int, other_kinds: bool = False) -> list[Task]:
    """Tasks of the test split, the kinds in turn, drawn by PLAYED_SEED; with ``other_kinds`` of those that the stand-in
    cannot plan."""
    draw, kinds = random.Random(PLAYED_SEED), tasks_by_kind(name, other_kinds)
    order = sorted(kinds)
    for kind in order:
        draw.shuffle(kinds[kind])
    draw.shuffle(order)
    return take_in_turn([kinds[kind] for kind in order], count)


def tasks_by_kind(name: str, other_kinds: bool = False) -> dict[str, list[Task]]:
    """The test split's tasks that the stand-in can plan, or those that it cannot, by kind."""
    env = envs.make(name)
    kinds: dict[str, list[Task]] = {}
    for task in islice(env.tasks("test"), 10_000):
        if name != "scienceworld" or (task.kind in SCIENCE_KINDS) != other_kinds:
            kinds.setdefault(task.kind, []).append(task)
    env.close()
    return kinds


def take_in_turn(kinds: Sequence[Sequence[Task]], count: int) -> list[Task]:
    """The first task of each kind, then the second of each, and so on."""
    in_turn = (task for turn in zip_longest(*kinds) for task in turn if task is not None)
    return list(islice(in_turn, count))


def play(label: str, tasks: Sequence[Task], model: Callable[[str, Task], LLM]) -> list[Result]:
    """Play tasks with a method of METHODS."""
    name, settings = METHODS[label]
    method = make(name, **settings)
    return [run(task.env, task, method, model(label, task)) for task in tasks]


def cells(results: Sequence[Result]) -> list[str]:
    """Successes, the means over the episodes, and the successes for what they cost."""
    successes, number = sum(r.success for r in results), len(results)
    calls, read = sum(r.model_calls for r in results), sum(r.usage.input_tokens or 0 for r in results)
    written, actions = sum(r.usage.output_tokens or 0 for r in results), sum(r.actions for r in results)
    means = (f"{total / number:,.1f}" for total in (calls, read, written, actions))
    per_cost = (f"{100 * successes / calls:.1f}", f"{1e6 * successes / (read + written):.0f}")
    return [f"{successes / number:.0%} ({successes})", *means, *per_cost]


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
