"""Times resets and actions in ScienceWorld, beside those of its package by itself, in the same run: ``load`` and
``reset`` of the package, without its search for a gold path; ``step`` of both.

The two take turns, task by task, so that both see the same load of the machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

from scienceworld import ScienceWorldEnv

from codeplan.envs.scienceworld.environment import VARIATIONS, ScienceWorld, find_task
from codeplan.types import Task

ROUNDS = 4
ACTIONS = ("look around", "open door to kitchen", "open door to hallway", "inventory", "wait1")


def timed(do: Callable[[], object]) -> float:
    """The milliseconds that a call takes."""
    started = time.perf_counter()
    do()
    return (time.perf_counter() - started) * 1000


def begin(package: ScienceWorldEnv, kind: str, variation: int) -> None:
    """Begin a game with the package by itself."""
    package.load(kind, variation)
    package.reset()


def main() -> None:
    """Print the medians over all kinds, and their ratios."""
    ours, package = ScienceWorld(), ScienceWorldEnv()
    resets: list[tuple[float, float]] = []
    steps: list[tuple[float, float]] = []
    for round in range(ROUNDS + 1):
        for kind in VARIATIONS:
            task = find_task(Task(f"{kind}/{round}"))
            resets.append((timed(partial(ours.reset, task)), timed(partial(begin, package, kind, round))))
            steps.extend((timed(partial(ours.step, a)), timed(partial(package.step, a))) for a in ACTIONS)
        if round == 0:  # both engines are cold
            resets, steps = [], []
    for name, pairs in (("reset", resets), ("action", steps)):
        here, there = (statistics.median(side) for side in zip(*pairs, strict=True))
        print(f"{name:7} codeplan {here:8.1f} ms   package {there:8.1f} ms   ratio {here / there:.2f}")
    ours.close()
    package.close()


if __name__ == "__main__":
    main()
