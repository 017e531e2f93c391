"""Compares ALFWorld's games in codeplan's engine and in its own, TextWorld; and runs 1,000 environments in one process.

    python benchmarks/alfworld.py FOLDER

FOLDER is ALFWorld's data (default: its usual places). TextWorld comes with the extra ``textworld``, or is in the Python
that CODEPLAN_TEXTWORLD_PYTHON names; without it, only codeplan's engine is measured. Both engines begin the same games
from their files, take the same actions, and list the admissible actions after each, as TextWorld always does.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from codeplan import envs
from codeplan.envs.alfworld.environment import ALFWorld, TextWorldProcess
from codeplan.errors import EnvironmentFailure
from codeplan.types import Task

GAMES, STEPS, ENVIRONMENTS = 12, 30, 1000
FASTER_RESET, FASTER_STEP, LIMIT_MB = 200, 50, 1000


def main() -> None:
    """Print the median times, the speed-up and the memory, each beside its limit."""
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    env = ALFWorld(data=folder, actions=10**6)
    tasks = all_games(env)
    chosen = tasks[:: max(1, len(tasks) // GAMES)][:GAMES]
    ours = measure(chosen, env.reset, env.step, env.admissible)
    theirs = measure_textworld(env, chosen)
    for name, i, limit in (("reset", 0, FASTER_RESET), ("step", 1, FASTER_STEP)):
        line = f"{name:6} {ours[i]:9.3f} ms ours"
        if theirs:
            line += f" {theirs[i]:9.1f} ms TextWorld; {theirs[i] / ours[i]:6,.0f} times faster; wanted {limit}"
        print(f"{line}; median over {len(chosen)} games")
    print(f"memory {megabytes(folder):9.0f} MB for {ENVIRONMENTS:,} environments in one process; limit {LIMIT_MB}")


def all_games(env: ALFWorld) -> list[Task]:
    """The games of the first split."""
    return list(env.tasks(envs.splits(env)[0]))


def measure_textworld(env: ALFWorld, tasks: list[Task]) -> tuple[float, float] | None:
    """TextWorld's times, measured after its imports; None if it is not installed."""
    engine = TextWorldProcess()
    try:
        states = [engine.load(env.data.trial_folder(tasks[0].id) / "game.tw-pddl")]

        def begin(task: Task) -> None:
            states[0] = engine.load(env.data.trial_folder(task.id) / "game.tw-pddl")

        def step(action: str) -> None:
            states[0] = engine.step(action)

        return measure(tasks, begin, step, lambda: states[0].commands)
    except EnvironmentFailure as e:
        print(f"TextWorld is not measured: {e}")
        return None
    finally:
        engine.close()


def measure(
    tasks: list[Task],
    begin: Callable[[Task], object],
    step: Callable[[str], object],
    admissible: Callable[[], Sequence[str]],
) -> tuple[float, float]:
    """The median times of a reset and of a step with its admissible actions, in milliseconds."""
    resets, steps = [], []
    for number, task in enumerate(tasks):
        resets.append(milliseconds(lambda task=task: begin(task)))
        draw = random.Random(number)
        for _ in range(STEPS):
            action = draw.choice(admissible() or ["look"])
            steps.append(milliseconds(lambda action=action: (step(action), admissible())))
    return statistics.median(resets), statistics.median(steps)


def milliseconds(do: Callable[[], object]) -> float:
    """The duration of one call."""
    started = time.perf_counter()
    do()
    return 1000 * (time.perf_counter() - started)


def megabytes(folder: str | None) -> float:
    """The peak memory of a separate process that runs many environments at once."""
    program = f"import runpy; print(runpy.run_path({__file__!r})['run_many']({folder!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def run_many(folder: str | None) -> float:
    """Begin a game in each of many environments and act in it. Returns the process's peak memory in MB."""
    environments = [ALFWorld(data=folder) for _ in range(ENVIRONMENTS)]
    for number, env in enumerate(environments):
        tasks = all_games(env)
        env.reset(tasks[number % len(tasks)])
    for env in environments:
        for action in env.admissible()[:3]:
            env.step(action)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
