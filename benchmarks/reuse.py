"""What skills over tools save: goals that come back in other words and with other values, and goals that only look so.

    python benchmarks/reuse.py            the table
    python benchmarks/reuse.py --missed   also the goals that went to the model, and those taken for another job
    python benchmarks/reuse.py --asks     print each skill's question for other phrases, for somebody to answer

    python benchmarks/reuse.py --unseen   with the replies of somebody who had seen no later goal
    TOOL_TASKS_SERVERS=FOLDER python benchmarks/reuse.py --tool-tasks    also the tasks on real servers

The tasks in reuse_tasks.json: forty jobs over small tools, each with a first goal, five goals of others for the same
job with other values, and ten or twenty that are about the same things and must not run its plan. Whoever wrote the
goals of the first twenty did not know how they are recognised. The replies to the question for phrases are played by
hand from its prompt: those in reuse_unseen.json.xz by two readers who saw nothing but the prompts, as a model does;
those in ``phrases`` by somebody who had seen the goals, so they show what the rule can do, and not what a model will
reply. A plan's calls are counted as a goal's own if they have its values.
"""

from __future__ import annotations

import argparse
import json
import lzma
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reuse_tool_tasks import play_tool_tasks

import codeplan
from codeplan.curation.acquisition import AcquiredSkill, acquire_from_run
from codeplan.skills.library import SkillLibrary
from codeplan.skills.selection import match_goal
from codeplan.skills.skill import Skill

TASKS = Path(__file__).with_name("reuse_tasks.json")
UNSEEN = Path(__file__).with_name("reuse_unseen.json.xz")


class Model:
    """Answers as a strong model does: the plan, the recorded phrases, the right values for a goal that is the same."""

    def __init__(self, task: dict[str, Any], values: dict[str, Any] | None = None) -> None:
        self._task, self._values = task, values
        self.calls, self.characters = 0, 0

    def __call__(self, messages: Sequence[dict[str, str]]) -> str:
        self.calls += 1
        self.characters += sum(len(m["content"]) for m in messages)
        asked = messages[-1]["content"]
        if "How else do people say it?" in asked:
            return json.dumps(self._task.get("phrases", {}))
        if "Give the parameters their values" in asked:
            return "NO" if self._values is None else by_place(asked, self._task, self._values)
        values = self._task["values"] if self._values is None else self._values
        return plan_text(self._task, values)


def by_place(asked: str, task: dict[str, Any], values: dict[str, Any]) -> str:
    """The values by the names that the prompt gives the parameters, which it shows with the first goal's values.

    NO if a value of the goal is none of the parameters: then it asks for something else than the plan does.
    """
    shown = dict(line.split(" = ", 1) for line in asked.split("<parameters>\n")[1].split("\n") if " = " in line)
    named = {name: text.partition("  (")[0] for name, text in shown.items()}
    first = {json.dumps(value): name for name, value in task["values"].items()}
    changed = {name for name in task["values"] if values[name] != task["values"][name]}
    if changed - {first[text] for text in named.values() if text in first}:
        return "NO"
    return json.dumps(
        {name: values[first[text]] if text in first else json.loads(text) for name, text in named.items()}
    )


def calls_of(task: dict[str, Any], values: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a task's plan for these values."""

    def fill(given: Any) -> Any:
        return values.get(given[1:-1], given) if isinstance(given, str) and given[:1] == "{" else given

    return [
        (tool, {name: fill(given) for name, given in arguments.items()}) for tool, arguments in task["plan"]["calls"]
    ]


def plan_text(task: dict[str, Any], values: dict[str, Any]) -> str:
    """A plan that makes the task's calls, each in a step."""
    lines = ["def solution(agent, start_from=1):"]
    for i, (tool, arguments) in enumerate(calls_of(task, values), 1):
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        lines += [
            f"    if start_from <= {i}:",
            f"        print('[Step {i}] {tool.replace('_', ' ')}')",
            f"        answer_{i} = agent.{tool}({given})",
            f"        assert answer_{i} is not None, 'Error in [Step {i}]: no answer'",
        ]
    return "\n".join([*lines, f"    return answer_{i}"])


def make_tools(task: dict[str, Any], made: list[tuple[str, dict[str, Any]]]) -> list[Callable[..., Any]]:
    """The task's tools, which note their calls."""
    tools: list[Callable[..., Any]] = []

    def note(name: str, arguments: dict[str, Any]) -> str:
        made.append((name, dict(arguments)))
        return "done"

    for head in task["tools"]:
        signature, _, doc = head.rpartition(": '")
        name = signature.split("def ")[1].split("(")[0]
        signature = signature.partition("->")[0].rstrip()
        space: dict[str, Any] = {"note": note}
        body = f"    {doc.rstrip(chr(39))!r}\n    return note({name!r}, dict(locals()))"
        exec(f"{signature} -> str:\n{body}", space)
        tools.append(space[name])
    return tools


def learn(task: dict[str, Any], library: SkillLibrary, folder: Path) -> tuple[Skill | None, str]:
    """The skill that the first goal yields, and why there is none."""
    model = Model(task)
    codeplan.do(task["goal"], tools=make_tools(task, []), model=model, out=folder, verify=lambda value: True)
    found = acquire_from_run(folder, library, model=model)
    if not isinstance(found, AcquiredSkill):
        return None, found.reason
    return library.change(found.skill, status="active"), found.unsaid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missed", action="store_true", help="show the goals that went to the model")
    parser.add_argument("--asks", action="store_true", help="print the questions for phrases")
    parser.add_argument("--tasks", type=Path, default=TASKS, help="a file of tasks")
    parser.add_argument("--unseen", action="store_true", help="with the replies of readers who saw no goal")
    parser.add_argument("--tool-tasks", action="store_true", help="also those of benchmarks/tool_tasks, which see")
    given = parser.parse_args()
    tasks = json.loads(given.tasks.read_text())
    if given.unseen:
        unseen = json.loads(lzma.decompress(UNSEEN.read_bytes()))
        tasks = [task | {"phrases": unseen[task["id"]]} for task in tasks]
    root = Path(tempfile.mkdtemp())
    library = SkillLibrary(root / "skills")
    if given.asks:
        print_asks(tasks, library, root)
        return
    counted: Counter[str] = Counter()
    skills: dict[str, Skill] = {}
    for task in tasks:
        skill, why = learn(task, library, root / f"{task['id']}-first")
        counted["learnt"] += skill is not None
        if skill:
            skills[task["id"]] = skill
        if why and given.missed:
            print(f"{task['id']}: {why}")
    missed: list[str] = []
    on_servers: Counter[str] = Counter()
    if given.tool_tasks:
        play_tool_tasks(library, root / "tool-tasks", on_servers, missed)
    for task in tasks:
        for i, each in enumerate(task["same"]):
            play(task, each, library, root / f"{task['id']}-{i}", counted, missed)
    again: Counter[str] = Counter()
    for task in tasks:
        for i, each in enumerate(with_others_values(task)):
            play(task, each, library, root / f"{task['id']}-again-{i}", again, missed)
    for task in tasks:
        for goal in task["other"]:
            wrong = match_goal(library, goal)
            counted["others"] += 1
            counted["others taken"] += bool(wrong)
            missed += [f"WRONG {task['id']}: {goal} -> {s.name} {v}" for s, v in wrong]
    if given.missed:
        print("\n".join(missed))
    print(f"{counted['learnt']} of {len(tasks)} jobs learnt, each from one success")
    print_table("goals for the same jobs, in words of others", counted)
    print_table("the same words again, with others' values", again)
    if given.tool_tasks:
        print(f"{on_servers['learnt']} of the 20 tasks of tool_tasks learnt, each from one success")
        print_table("goals for them in other words and in another folder", on_servers)
    print(f"{counted['others']} goals for other jobs: {counted['others taken']} taken for a skill's")


def play(
    task: dict[str, Any],
    each: dict[str, Any],
    library: SkillLibrary,
    folder: Path,
    counted: Counter[str],
    missed: list[str],
) -> None:
    """Play a goal for the same job with the library, and without."""
    made: list[tuple[str, dict[str, Any]]] = []
    model, plain = Model(task, each["values"]), Model(task, each["values"])
    result = codeplan.do(
        each["goal"],
        tools=make_tools(task, made),
        model=model,
        out=folder,
        verify=lambda value: True,
        library=library,
        reuse=True,
    )
    codeplan.do(each["goal"], tools=make_tools(task, []), model=plain, verify=lambda value: True)
    counted["goals"] += 1
    counted["without a model"] += model.calls == 0
    counted["model calls"] += model.calls
    counted["most calls more"] = max(counted["most calls more"], model.calls - plain.calls)
    counted["characters"] += model.characters
    counted["calls without"] += plain.calls
    counted["characters without"] += plain.characters
    if not (result.success and made == calls_of(task, each["values"])):
        counted["wrong"] += 1
        missed.append(f"WRONG {task['id']}: {each['goal']} -> {made}")
    if model.calls:
        missed.append(f"ASKED {task['id']}: {each['goal']}")


def print_asks(tasks: list[dict[str, Any]], library: SkillLibrary, root: Path) -> None:
    """The questions for other ways of saying each task's goal."""
    for task in tasks:
        said: list[str] = []

        def ask(messages: Sequence[dict[str, str]], task: dict[str, Any] = task, said: list[str] = said) -> str:
            said[:] = [f"{m['role'].upper()}\n{m['content']}" for m in messages]
            return plan_text(task, task["values"])

        codeplan.do(
            task["goal"], tools=make_tools(task, []), model=ask, out=root / task["id"], verify=lambda value: True
        )
        acquire_from_run(root / task["id"], library, model=ask)
        print(f"=== {task['id']}\n" + (said[1] if "How else" in said[-1] else "no question"))


def with_others_values(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Each goal with the values of the next one."""
    made = []
    for one, other in zip(task["same"], [*task["same"][1:], task["same"][0]], strict=True):
        goal = one["goal"]
        for name, value in one["values"].items():
            goal = goal.replace(str(value), f"\0{name}\0", 1)
        for name, value in other["values"].items():
            goal = goal.replace(f"\0{name}\0", str(value), 1)
        if all(str(value) in goal for value in other["values"].values()):  # those that no goal writes in another form
            made.append({"goal": goal, "values": other["values"]})
    return made


def print_table(what: str, counted: Counter[str]) -> None:
    """What the goals of a sort cost with the library and without."""
    with_it, without = counted["characters"], counted["characters without"]
    ratio = with_it / max(1, without)
    print(f"{counted['goals']} {what}: {counted['without a model']} ran without a model call")
    print(f"  model calls: {counted['model calls']} with the library, {counted['calls without']} without")
    print(f"  characters of prompts: {with_it:,} with, {without:,} without ({ratio:.2f})")
    print(f"  at most {counted['most calls more']} calls more for a goal")
    print(f"  {counted['wrong']} runs with other calls than the goal's own")


if __name__ == "__main__":
    main()
