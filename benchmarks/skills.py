"""Measures the skill library: speed with 10,000 and 50,000 skills, benefit, and resistance to poisoning and crashes.

    python benchmarks/skills.py speed        retrieval, rebuild, listing, each beside its limit
    python benchmarks/skills.py bind         opening 50,000 skills over tools, and binding goals by rule
    python benchmarks/skills.py worth        discovery from one sample, then the library on new tasks
    python benchmarks/skills.py poison       poisoned and sound candidates in 100 filterings
    python benchmarks/skills.py crash        16 concurrent writers; 200 killed writers

The model is the scripted stand-in with gaps; its success rates say nothing about models.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from codeplan import envs
from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.filtering import FilterRule, filter_candidates, run_skill_alone
from codeplan.sandbox.language.extraction import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.skills import skill_folder
from codeplan.skills.library import SkillLibrary
from codeplan.skills.selection import match_goal
from codeplan.skills.skill import EvidenceRecord, Skill, SkillOrigin
from codeplan.types import Task

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS)]
made = importlib.import_module("support.curation_samples")
shelf = importlib.import_module("support.skill_samples")

SKILLS, MANY_SKILLS = 10_000, 50_000
KINDS = ("pick", "clean", "heat", "cool", "examine", "pick_two")
LIMITS = {"find, by kind and words": 5.0, "find, no kind": 5.0, "find, common words": 5.0, "list": 300.0}
THINGS = ("apple", "mug", "pan", "cup", "plate", "egg", "knife", "potato", "book", "pen", "bowl", "lettuce")
PLACES = ("fridge", "shelf", "desk", "drawer", "cabinet", "countertop", "safe", "sidetable", "dresser", "garbagecan")


def fill(root: Path) -> None:
    """Write ``SKILLS`` skills of realistic length, each with eight trials."""
    tail = "    # more\n" * 250
    for i in range(SKILLS):
        kind = KINDS[i % len(KINDS)]
        goal = f"{kind} some {THINGS[i % 12]} and put it in {PLACES[i % 10]}, as in room {i % 500}."
        plan = f"{shelf.PLAN}# {i}\n{tail}"
        origins = (SkillOrigin(f"{kind}/{i}", goal, "scripted", f"runs/{i}"),)
        status = "active" if i % 3 else "candidate"
        one = shelf.skill(
            f"{kind}-{i:05}", status, kind=kind, plan=plan, origins=origins, description=f"{kind}: {goal}"
        )
        folder = root / "household" / one.name
        folder.mkdir(parents=True)
        (folder / "plan.py").write_text(plan)
        (folder / "SKILL.md").write_text(skill_folder.format_manifest(one))
        trials = [
            EvidenceRecord(f"{kind}/{j}", j, "m", j % 2 == 0, j % 2 == 0, 1, "filter", f"runs/{i}-{j}")
            for j in range(8)
        ]
        (folder / "evidence.jsonl").write_bytes(b"".join(msgspec.json.encode(t) + b"\n" for t in trials))


def milliseconds(work: Callable[[], object], rounds: int) -> list[float]:
    """The sorted times of the rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times)


def show(name: str, times: list[float], limit: float) -> None:
    """One line of the table."""
    print(f"{name:28} {statistics.median(times):9.2f} {times[-1]:9.2f} {limit:9.0f}", flush=True)


def speed(rounds: int) -> None:
    """Retrieval, listing and rebuild with 10,000 skills."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "skills"
        fill(root)
        began = time.perf_counter()
        library = SkillLibrary(root)
        first = 1000 * (time.perf_counter() - began)
        tasks = {
            "find, by kind and words": Task(
                "t", "household", "heat", "heat some egg and put it in safe, as in room 44."
            ),
            "find, no kind": Task("t", "household", "", "heat some egg and put it in safe, as in room 44."),
            "find, common words": Task("t", "household", "heat", "put some"),
        }
        print(f"{SKILLS:,} skills, ms{'':12} {'median':>9} {'worst':>9} {'limit':>9}")
        for name, task in tasks.items():
            assert len(library.find(task, 3)) == 3
            show(name, milliseconds(lambda task=task: library.find(task, 3), rounds), LIMITS[name])
        show("list, opening included", milliseconds(lambda: SkillLibrary(root).entries(), 5), LIMITS["list"])
        command = [sys.executable, "-m", "codeplan", "skills", "list", "--library", str(root)]
        show("list, the whole command", milliseconds(lambda: subprocess.run(command, stdout=-3, check=True), 5), 300)
        show("index, made the first time", [first], 5_000)
        show("rebuild", milliseconds(library.rebuild, 3), 5_000)


VERBS = "order buy send pay book cancel move share mail remind meet refund plan list print close open count check file"
NOUNS = (
    "lamps invoices rooms meetings letters desks reports tickets contracts chairs folders files books cars flights pens"
)


def fill_with_tools(root: Path, skills: int) -> None:
    """Write skills over tools: each does one thing with some fruit, in a place of its own."""
    verbs, nouns = VERBS.split(), NOUNS.split()
    for i in range(skills):
        verb, noun, place = verbs[i % 20], nouns[i // 20 % 16], f"shop{i // 320}"
        goal = f"{verb} apples of {noun} at {place} up to 10"
        head = f'{PARAMETERS_OPENING} {goal}\n    the_item = "apples"\n    the_number = 10\n    {PARAMETERS_CLOSING}'
        step = f"if start_from <= 1:\n        agent.do(the_item, {i})\n"
        plan = f"def solution(agent, start_from=1):\n    {head}\n    {step}"
        origins = (SkillOrigin("goal", goal, "m", f"runs/{i}"),)
        names = ("the_item", "the_number")
        one = Skill(f"{verb}-{i:05}", "tools", plan, "", goal, names, status="active", origins=origins)
        folder = root / "tools" / one.name
        folder.mkdir(parents=True)
        (folder / "plan.py").write_text(plan)
        (folder / "SKILL.md").write_text(skill_folder.format_manifest(one))


def bind(rounds: int) -> None:
    """Open 50,000 skills over tools, and bind goals that one of them knows, or none."""
    goals = {
        "order pears of lamps at shop77 up to 25": 1,
        "please pay pears of rooms at shop3 up to 7": 1,
        "pay pears of rooms at shop3 up to 7, and tell Bob": 0,
        "water the plants": 0,
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "skills"
        fill_with_tools(root, MANY_SKILLS)
        began = time.perf_counter()
        SkillLibrary(root)
        first = 1000 * (time.perf_counter() - began)
        print(f"{MANY_SKILLS:,} skills, ms{'':12} {'median':>9} {'worst':>9} {'limit':>9}")
        show("opened", milliseconds(lambda: SkillLibrary(root), 5), 1_000)
        library = SkillLibrary(root)
        for goal, sure in goals.items():
            assert len(match_goal(library, goal)) == sure, goal
            show(f"bind, {goal[:21]}", milliseconds(lambda goal=goal: match_goal(library, goal), rounds), 10)
        show("index, made the first time", [first], 30_000)


def worth(rounds: int) -> None:
    """Discover skills for all kinds from one sample with one command."""
    command = [sys.executable, "-m", "codeplan", "skills", "discover", "household", "-n", str(rounds), "--pairs", "24"]
    with tempfile.TemporaryDirectory() as folder:
        settings = ["--set", "gaps=0.8", "--set", "sample_kinds=pick"]
        print("codeplan", *command[3:], *settings, flush=True)
        subprocess.run([*command, *settings], cwd=folder, check=True)
        alone(SkillLibrary(Path(folder) / "skills"))


def alone(library: SkillLibrary) -> None:
    """Run every promoted skill's own plan, from step 1, on ten new tasks of its kind."""
    lab = CurationRunner("household", gaps=0.8, sample_kinds="pick")
    print("\nthe promoted skills' own plans, bound by one question, on ten other tasks")
    for entry in library.entries(status="active"):
        tasks = [t for t in lab.tasks("dev") if t.kind == entry.kind][:10]
        solved = run_skill_alone(lab, library, library.get(entry.env, entry.name), tasks)
        print(f"{entry.name:24} {sum(solved)}/{len(solved)}", flush=True)


def poison(rounds: int) -> None:
    """Count the poisoned and sound candidates that the paired test promotes."""
    env = envs.make("household")
    kinds = ("heat", "clean", "cool", "pick_two")
    lab = CurationRunner("household", gaps=0.8, sample_kinds="pick")
    counts = {
        "sound": {"active": 0, "candidate": 0, "retired": 0},
        "poisoned": {"active": 0, "candidate": 0, "retired": 0},
    }
    rule = FilterRule(alone=0, pairs=20, level=0.05)
    for number in range(rounds):
        kind, first = kinds[number % len(kinds)], 100_000 + 100 * number
        own = env.task(kind, first)
        pair = [made.made(kind, first), made.poisoned(kind, first)]
        won = lab.run_plan(pair[1].plan, own, "own")
        assert won is not None
        assert won.result.success, f"the poisoned skill is right on its own task {own.id}"
        tasks = [env.task(kind, first + i) for i in range(1, 40)]
        with tempfile.TemporaryDirectory() as folder:
            library = SkillLibrary(Path(folder) / "skills")
            rows = filter_candidates(lab, library, tasks, [library.add(s) for s in pair], rule)
        for what, row in zip(counts, rows, strict=True):
            counts[what][row.status] += 1
        if number % 10 == 9:
            print(f"  {number + 1} filterings: {counts['poisoned']['active']} poisoned promoted", flush=True)
    print(f"{rounds} filterings at level {rule.level:g}, {rule.pairs} pairs at most; status afterwards")
    for what, found in counts.items():
        print(f"{what:10} {found}")


def crash(rounds: int) -> None:
    """Run sixteen writers at once, then kill writers."""
    script = TESTS / "support" / "skill_writers.py"
    with tempfile.TemporaryDirectory() as folder:
        library = SkillLibrary(Path(folder) / "skills")
        library.add(shelf.skill())
        began = time.perf_counter()
        subprocess.run([sys.executable, script, "record", str(library.path), "16", "50"], check=True)
        seconds = time.perf_counter() - began
        print(
            f"16 processes, 50 trials each: {len(library.read_evidence(shelf.skill()))} of 800 there, {seconds:.1f} s"
        )
        subprocess.run([sys.executable, script, "crash", str(library.path), str(rounds)], check=True)


def main() -> None:
    """Run the named parts, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {
        "speed": (speed, 50),
        "bind": (bind, 50),
        "worth": (worth, 16),
        "poison": (poison, 100),
        "crash": (crash, 200),
    }
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="what to run (all)")
    parser.add_argument("--rounds", type=int, help="rounds, tasks of a kind, filterings, or killed writers")
    given = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for part in given.parts or parts:
        run, rounds = parts[part]
        print(f"\n{part}", flush=True)
        run(given.rounds or rounds)


if __name__ == "__main__":
    main()
