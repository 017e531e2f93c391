"""Plays the twenty tasks of benchmarks/tool_tasks again, in other words and in another folder, for benchmarks/reuse.py.

The first success of each comes from its recorded replies, and becomes a skill. Then reuse_tool_tasks.json has five
goals in other words, and a reply to the question for phrases. Each is played in a world of its own, with the real
servers, and the task's own check judges it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench.bench_spec import read_spec
from codeplan.bench.tool_tasks import TaskWorld, ToolTask, ToolTaskSet
from codeplan.curation.acquisition import AcquiredSkill, acquire_from_run
from codeplan.skills.library import SkillLibrary

HERE = Path(__file__).with_name("tool_tasks")
GOALS = Path(__file__).with_name("reuse_tool_tasks.json")
PLACE = "@FOLDER@"


class RecordedPlans:
    """Answers with the recorded plans, the recorded phrases, and the right values: the first folder is another now."""

    def __init__(self, task: ToolTask, folder: Path, phrases: dict[str, Any], first: str = "") -> None:
        lines = (HERE / "replies" / f"{task.name}.plans.jsonl").read_text().splitlines()
        self._plans = iter([json.loads(line)["reply"].replace(PLACE, str(folder)) for line in lines])
        self._folder, self._phrases, self._first = str(folder), phrases, first
        self.calls, self.characters = 0, 0

    def __call__(self, messages: Sequence[dict[str, str]]) -> str:
        self.calls += 1
        self.characters += sum(len(m["content"]) for m in messages)
        asked = messages[-1]["content"]
        if "How else do people say it?" in asked:
            return json.dumps(self._phrases)
        if "Give the parameters their values" in asked:
            lines = (line.split(" = ", 1) for line in asked.split("<parameters>\n")[1].split("\n") if " = " in line)
            values = {name: json.loads(text.partition("  (")[0]) for name, text in lines}
            moved = {n: v.replace(self._first, self._folder) if isinstance(v, str) else v for n, v in values.items()}
            return json.dumps(moved)
        return next(self._plans)


def play_tool_tasks(library: SkillLibrary, root: Path, counted: Counter[str], missed: list[str]) -> None:
    """Learn each task once, and play its other goals with the library."""
    tasks = read_spec(HERE / "tasks.toml").tool_tasks
    assert tasks is not None, "tasks.toml has tasks"
    for each in json.loads(GOALS.read_text()):
        task = tasks.find(each["id"])
        first, why = _learn(tasks, task, each["phrases"], library, root / each["id"])
        counted["learnt"] += bool(first)
        if why:
            missed.append(f"{task.name}: {why}")
        for i, goal in enumerate(each["same"]):
            again = msgspec.structs.replace(task, goal=goal)
            with tasks.open_world(again) as world:
                _play(tasks, again, world, first, library, root / f"{each['id']}-{i}", counted, missed)


def _learn(
    tasks: ToolTaskSet, task: ToolTask, phrases: dict[str, Any], library: SkillLibrary, out: Path
) -> tuple[str, str]:
    """The folder in which the task was learnt, empty if it was not; and why it knows no phrases."""
    with tasks.open_world(task) as world:
        model = RecordedPlans(task, world.folder, phrases)
        tasks.run_in(world, task, method="adaplanner", model=model, out=out)
        found = acquire_from_run(out, library, model=model)
        if not isinstance(found, AcquiredSkill):
            return "", found.reason
        library.change(found.skill, status="active")
        return str(world.folder), found.unsaid


def _play(
    tasks: ToolTaskSet,
    task: ToolTask,
    world: TaskWorld,
    first: str,
    library: SkillLibrary,
    out: Path,
    counted: Counter[str],
    missed: list[str],
) -> None:
    """Play a goal in other words with the library. Without it, a plan takes what the recorded success took."""
    model = RecordedPlans(task, world.folder, {}, first)
    result = tasks.run_in(world, task, method="adaplanner", model=model, out=out, library=library, reuse=True)
    with tasks.open_world(task) as other:
        plain = RecordedPlans(task, other.folder, {})
        tasks.run_in(other, task, method="adaplanner", model=plain)
    counted["goals"] += 1
    counted["without a model"] += model.calls == 0
    counted["model calls"] += model.calls
    counted["most calls more"] = max(counted["most calls more"], model.calls - plain.calls)
    counted["characters"] += model.characters
    counted["calls without"] += plain.calls
    counted["characters without"] += plain.characters
    if not result.success:
        counted["wrong"] += 1
        missed.append(f"WRONG {task.name}: {world.goal} -> {result.reason}")
    if model.calls:
        missed.append(f"ASKED {task.name}: {task.goal}")
