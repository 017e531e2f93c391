"""Runs that the papers' authors recorded with real models, as benches of codeplan, for tests of the papers' tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplan import envs
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.papers import find_experiment
from codeplan.bench.store import BenchRecord, EpisodeOutcome
from codeplan.types import NotSolved, Result, Success, Task

FIXTURES = Path(__file__).resolve().parents[2] / ".." / "shared" / "fixtures"
_ALFWORLD_KINDS = {
    "pick_and_place": "pick",
    "pick_clean_then_place": "clean",
    "pick_heat_then_place": "heat",
    "pick_cool_then_place": "cool",
    "look_at_obj": "examine",
    "pick_two_obj": "pick_two",
}

Recorded = Iterator[tuple[Task, bool, float]]
"""A task, whether it was solved, and the reward."""


def recorded_bench(experiment: str, part: int, row: int, model: str) -> BenchRecord:
    """The recorded episodes as the bench of one row of a preset. Skips the test where the recordings are not here."""
    of = find_experiment(experiment).parts[part]
    env = of.published[0].environment
    file = FIXTURES / f"{env}_transcripts.jsonl"
    if not file.is_file():
        pytest.skip("the recorded runs are not here (../shared/fixtures)")
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    ends = list(_READERS[env](lines))
    played = of.rows[row]
    settings = {"data": "webshop"} if env == "webshop" else {}
    cell = BenchCell(f"{of.suite}.{played.name}.{model}", of.suite, env, played.method, model, settings)
    grid = BenchGrid((cell,), {of.suite: tuple(task for task, _, _ in ends)})
    return BenchRecord(Path(), grid, tuple(_outcome(cell, *end) for end in ends))


def _outcome(cell: BenchCell, task: Task, success: bool, reward: float) -> EpisodeOutcome:
    ending = Success() if success else NotSolved("recorded")
    return EpisodeOutcome(cell.name, task, 0, "", Result(task, ending, reward=reward))


def _alfworld(lines: list[dict[str, Any]]) -> Recorded:
    for line in lines:
        task = Task(line["id"], "alfworld", _ALFWORLD_KINDS[line["type"]], line["goal"], split="valid_unseen")
        yield task, line["success"], float(line["reward"])


def _textcraft(lines: list[dict[str, Any]]) -> Recorded:
    tasks = {task.seed: task for task in envs.make("textcraft").tasks("test")}
    for line in lines:
        task = tasks[line["seed"]]
        assert line["goal"] in task.goal.lower() or task.goal in line["goal"], (line["goal"], task.goal)
        yield task, line["success"], float(line["reward"])


def _webshop(lines: list[dict[str, Any]]) -> Recorded:
    """ReAct's run over goals 0 to 499, of which every fourth was recorded; the paper's suite has the first hundred."""
    for line in lines:
        number = int(line["id"].removeprefix("fixed_"))
        if number < 100:
            task = Task(line["id"], "webshop", "buy", line["goal"], number, split="test")
            yield task, line["success"], line["score"]


_READERS: dict[str, Callable[[list[dict[str, Any]]], Recorded]] = {
    "alfworld": _alfworld,
    "textcraft": _textcraft,
    "webshop": _webshop,
}
