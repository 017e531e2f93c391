"""The crash test: kills episodes with SIGKILL at random points, resumes them, and compares them event by event.

Each round runs a task in a separate process, kills it a random moment after its trace reaches a random size, resumes
the episode here, and compares the trace with that of the undisturbed run: the same actions, asks and checkpoints,
each once. It exits 1 if any round differs. Methods that compensate for a weak executor run with a weak stand-in.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from codeplan import envs
from codeplan.errors import CodeplanError, UsageError
from codeplan.recording.events import EpisodeEnded, Event
from codeplan.recording.trace import Trace, describe_difference
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import resume

ROUNDS = 500
PLAYED = ["household", "textcraft"]
TASKS = 25
SEED = 2023
METHOD = "adaplanner"
SETTINGS: dict[str, dict[str, Any]] = {
    "adapt": {"weakness": "span"},
    "autoplan": {"weakness": "forgetful", "executor": "try-again"},
    "reflexion": {"weakness": "forgetful"},
    "try-again": {"weakness": "forgetful"},
}
"""Weaknesses of the scripted model with which a method does more than its executor alone."""
SOUND = {"resumed, identical", "killed before the first event", "ended before the kill, identical"}
PLAY = "import json, sys, codeplan; codeplan.run(*sys.argv[1:4], out=sys.argv[4], **json.loads(sys.argv[5]))"


class CrashTarget(NamedTuple):
    """What to crash: an environment with a method and its settings."""

    env: str
    method: str
    settings: dict[str, Any]


class UndisturbedRun(NamedTuple):
    """An undisturbed episode: its task, its events, the size of its trace in bytes, its duration."""

    task: str
    events: list[Event]
    size: int
    seconds: float


def main() -> int:
    """Run the rounds and print their outcomes."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("rounds", type=int, nargs="?", default=ROUNDS)
    options.add_argument(
        "played", type=parse_target, nargs="*", default=[parse_target(env) for env in PLAYED], metavar="ENV[:METHOD]"
    )
    given = options.parse_args()
    rounds, played = given.rounds, given.played
    if rounds < 1:
        options.error(f"rounds must be 1 or more (got {rounds})")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        references = [run_undisturbed(one, folder / f"reference-{i}") for i, one in enumerate(played)]
        jobs = [(played[i % len(played)], i, references[i % len(played)], folder / str(i)) for i in range(rounds)]
        with ThreadPoolExecutor(2) as pool:
            ends = Counter(pool.map(lambda job: run_round(*job), jobs))
    for end, count in ends.most_common():
        print(f"{count:5}  {end}")
    return 0 if set(ends) <= SOUND else 1


def parse_target(argument: str) -> CrashTarget:
    """Parse ENV or ENV:METHOD."""
    env, _, method = argument.partition(":")
    return CrashTarget(env, method or METHOD, SETTINGS.get(method, {}))


def run_undisturbed(played: CrashTarget, folder: Path) -> list[UndisturbedRun]:
    """Run the environment's first tasks, one by one."""
    runs = []
    for i, task in enumerate(envs.make(played.env).tasks("test")[:TASKS]):
        run(played.env, task, played.method, out=folder / str(i), **played.settings)
        trace = folder / str(i) / "trace.jsonl"
        events = Trace.read(trace)
        runs.append(UndisturbedRun(task.id, events, trace.stat().st_size, events[-1].at - events[0].at))
    return runs


def run_round(played: CrashTarget, number: int, references: list[UndisturbedRun], folder: Path) -> str:
    """Kill and resume one episode. Returns its outcome in words."""
    draw = random.Random(f"{SEED} {number}")
    reference = references[draw.randrange(len(references))]
    what = f"{played.env} {played.method} {reference.task}, round {number}"
    trace = folder / "trace.jsonl"
    kill(played, reference.task, folder, draw.randrange(reference.size), draw.uniform(0, reference.seconds / 10))
    if not trace.exists() or not (before := Trace.read(trace)):
        return "killed before the first event"
    try:
        resume(folder)
    except CodeplanError as e:
        return f"{what}: {e}"
    for was, now in zip_longest(reference.events, Trace.read(trace)):
        differs = describe_difference(was, now) if was and now else "not as many events"
        if differs:
            return f"{what}: {differs}"
    return ("ended before the kill" if isinstance(before[-1], EpisodeEnded) else "resumed") + ", identical"


def kill(played: CrashTarget, task: str, folder: Path, size: int, delay: float) -> None:
    """Run a task in a separate process; send SIGKILL ``delay`` seconds after its trace reaches ``size`` bytes."""
    given = [played.env, task, played.method, str(folder), json.dumps(played.settings)]
    child = subprocess.Popen([sys.executable, "-c", PLAY, *given])
    trace = folder / "trace.jsonl"
    while child.poll() is None and not (trace.exists() and trace.stat().st_size >= size):
        time.sleep(0.0003)
    time.sleep(delay)
    child.kill()  # does nothing if it has ended
    child.wait()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UsageError as error:
        sys.exit(f"crash.py: {error}")
