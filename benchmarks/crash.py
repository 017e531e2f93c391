"""The crash test: episodes whose process is killed with SIGKILL at random points, resumed, and compared event by event.

Each round runs a task in a process of its own, kills it when its trace has grown to a random size (and a random
moment later), resumes the episode here, and demands the trace of the undisturbed run: the same actions,
asks and checkpoints, each once. It exits 1 when any round differs. A method that is there for what its executor is
weak in is played with such a weakness.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
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
from codeplan.recording.comparison import describe_difference
from codeplan.recording.events import EpisodeEnded, Event
from codeplan.recording.trace import Trace
from codeplan.runner.live import run
from codeplan.runner.recorded import resume

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
"""What the scripted model has to be weak in for a method to do more than its executor alone would."""
SOUND = {"resumed, identical", "killed before the first event", "ended before the kill, identical"}
PLAY = "import json, sys, codeplan; codeplan.run(*sys.argv[1:4], out=sys.argv[4], **json.loads(sys.argv[5]))"


class Played(NamedTuple):
    """What is crashed: an environment, played by a method with settings."""

    env: str
    method: str
    settings: dict[str, Any]


class Whole(NamedTuple):
    """An episode that nobody disturbed: its task, its events, the size of its trace, how many seconds it took."""

    task: str
    events: list[Event]
    size: int
    seconds: float


def main() -> int:
    """Run the rounds and print what came of them."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("rounds", type=int, nargs="?", default=ROUNDS)
    options.add_argument(
        "played", type=named, nargs="*", default=[named(env) for env in PLAYED], metavar="ENV[:METHOD]"
    )
    given = options.parse_args()
    rounds, played = given.rounds, given.played
    if rounds < 1:
        options.error(f"there is at least one round, not {rounds}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wholes = [undisturbed(one, folder / f"whole-{i}") for i, one in enumerate(played)]
        jobs = [(played[i % len(played)], i, wholes[i % len(played)], folder / str(i)) for i in range(rounds)]
        with ThreadPoolExecutor(2) as pool:
            ends = Counter(pool.map(lambda job: one_round(*job), jobs))
    for end, count in ends.most_common():
        print(f"{count:5}  {end}")
    return 0 if set(ends) <= SOUND else 1


def named(argument: str) -> Played:
    """What ENV or ENV:METHOD means."""
    env, _, method = argument.partition(":")
    return Played(env, method or METHOD, SETTINGS.get(method, {}))


def undisturbed(played: Played, folder: Path) -> list[Whole]:
    """The environment's first tasks, each run by itself."""
    runs = []
    for i, task in enumerate(envs.make(played.env).tasks("test")[:TASKS]):
        run(played.env, task, played.method, out=folder / str(i), **played.settings)
        trace = folder / str(i) / "trace.jsonl"
        events = Trace.read(trace)
        runs.append(Whole(task.id, events, trace.stat().st_size, events[-1].at - events[0].at))
    return runs


def one_round(played: Played, number: int, wholes: list[Whole], folder: Path) -> str:
    """Kill and resume one episode; says how it went."""
    dice = random.Random(f"{SEED} {number}")
    whole = wholes[dice.randrange(len(wholes))]
    what = f"{played.env} {played.method} {whole.task}, round {number}"
    trace = folder / "trace.jsonl"
    kill(played, whole.task, folder, dice.randrange(whole.size), dice.uniform(0, whole.seconds / 10))
    if not trace.exists() or not (before := Trace.read(trace)):
        return "killed before the first event"
    try:
        resume(folder)
    except CodeplanError as e:
        return f"{what}: {e}"
    for was, now in zip_longest(whole.events, Trace.read(trace)):
        differs = describe_difference(was, now) if was and now else "not as many events"
        if differs:
            return f"{what}: {differs}"
    return ("ended before the kill" if isinstance(before[-1], EpisodeEnded) else "resumed") + ", identical"


def kill(played: Played, task: str, folder: Path, size: int, delay: float) -> None:
    """Run a task in a process of its own until its trace has this size, and so many seconds longer; then SIGKILL."""
    given = [played.env, task, played.method, str(folder), json.dumps(played.settings)]
    child = subprocess.Popen([sys.executable, "-c", PLAY, *given])
    trace = folder / "trace.jsonl"
    while child.poll() is None and not (trace.exists() and trace.stat().st_size >= size):
        time.sleep(0.0003)
    time.sleep(delay)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UsageError as error:
        sys.exit(f"crash.py: {error}")
