"""The crash test: episodes whose process is killed with SIGKILL at random points, resumed, and compared event by event.

Each round runs a task in a process of its own, kills it when its trace has grown to a random size (and a few
random milliseconds later), resumes the episode here, and demands the trace of the undisturbed run: the same actions,
asks and checkpoints, each once. ``python benchmarks/crash.py [ROUNDS] [ENV …]`` exits 1 when any round differs.
"""

from __future__ import annotations

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

from codeplan import CodeplanError, Trace, envs, resume, run
from codeplan.events import EpisodeEnded, Event
from codeplan.journal import difference

ROUNDS = 500
ENVIRONMENTS = ["household", "textcraft"]
TASKS = 25
SEED = 2023


def main() -> int:
    """Run the rounds and print what came of them."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    names = sys.argv[2:] or ENVIRONMENTS
    with tempfile.TemporaryDirectory() as folder:
        whole = {name: undisturbed(name, Path(folder, name)) for name in names}
        jobs = [
            (name, i, whole[name], Path(folder, f"{name}-{i}"))
            for i in range(rounds)
            for name in [names[i % len(names)]]
        ]
        with ThreadPoolExecutor(2) as pool:
            ends = Counter(pool.map(lambda job: one_round(*job), jobs))
    for end, count in ends.most_common():
        print(f"{count:5}  {end}")
    return (
        0
        if set(ends) <= {"resumed, identical", "killed before the first event", "ended before the kill, identical"}
        else 1
    )


def undisturbed(name: str, folder: Path) -> list[tuple[str, list[Event], int]]:
    """Tasks of an environment, each with the events and the trace size of a run that nobody disturbs."""
    runs = []
    for i, task in enumerate(envs.make(name).tasks("test")[:TASKS]):
        run(name, task, out=folder / str(i))
        trace = folder / str(i) / "trace.jsonl"
        runs.append((task.id, Trace.read(trace), trace.stat().st_size))
    return runs


def one_round(name: str, number: int, whole: list[tuple[str, list[Event], int]], folder: Path) -> str:
    """Kill and resume one episode; says how it went."""
    dice = random.Random(f"{SEED} {number}")
    task, expected, size = whole[dice.randrange(len(whole))]
    trace = folder / "trace.jsonl"
    kill(name, task, folder, dice.randrange(size), dice.uniform(0, 0.01))
    if not trace.exists() or not (before := Trace.read(trace)):
        return "killed before the first event"
    try:
        resume(folder)
    except CodeplanError as e:
        return f"{name} {task}: {e}"
    for was, now in zip_longest(expected, Trace.read(trace)):
        if was is None or now is None or (differs := difference(was, now)):
            return f"{name} {task}, round {number}: {differs if was and now else 'not as many events'}"
    return ("ended before the kill" if isinstance(before[-1], EpisodeEnded) else "resumed") + ", identical"


def kill(name: str, task: str, folder: Path, size: int, delay: float) -> None:
    """Run a task in a process of its own until its trace has this size, and a little longer; then SIGKILL."""
    code = "import sys, codeplan; codeplan.run(sys.argv[1], sys.argv[2], out=sys.argv[3])"
    child = subprocess.Popen([sys.executable, "-c", code, name, task, str(folder)])
    trace = folder / "trace.jsonl"
    while child.poll() is None and not (trace.exists() and trace.stat().st_size >= size):
        time.sleep(0.0003)
    time.sleep(delay)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()


if __name__ == "__main__":
    sys.exit(main())
