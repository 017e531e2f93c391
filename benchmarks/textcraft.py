"""Measures TextCraft: a reset, a step, and a thousand environments in one process.

Times are medians over all test tasks, each solved by its walkthrough.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable

from codeplan.envs.textcraft.environment import TextCraft

ENVIRONMENTS = 1000


def main() -> None:
    """Print the figures."""
    first = time_call(lambda: TextCraft().reset(TextCraft().tasks("test")[0]))
    print(f"first reset       {first / 1e3:8.2f} ms   reads the recipes and makes all tasks, once in a process")
    env = TextCraft()
    tasks = env.tasks("test")
    resets, steps = [], []
    for _ in range(5):
        for task in tasks:
            resets.append(time_call(lambda task=task: env.reset(task)))
            steps += [time_call(lambda action=action: env.step(action)) for action in env.walkthrough(task)]
    print(f"reset             {statistics.median(resets):8.1f} µs   median; {max(resets):.0f} at most")
    print(f"step              {statistics.median(steps):8.1f} µs   median; {max(steps):.0f} at most")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    environments = [TextCraft() for _ in range(ENVIRONMENTS)]
    for i, env in enumerate(environments):
        env.reset(tasks[i % len(tasks)])
        env.step("get 1 string")
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{ENVIRONMENTS} environments {seconds * 1e3:8.1f} ms   one step each; {(after - before) / 1024:.1f} MB more")
    print(f"the process       {after / 1024:8.1f} MB   resident at most")


def time_call(do: Callable[[], object]) -> float:
    """The duration of a call in microseconds."""
    started = time.perf_counter()
    do()
    return (time.perf_counter() - started) * 1e6


if __name__ == "__main__":
    main()
