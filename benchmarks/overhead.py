"""Measures codeplan's own time per plan: an episode's wall time minus the model's and the environment's.

It includes checking, compiling, sandbox start, running, checkpoints and the trace on disk, in real episodes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import codeplan
from codeplan import envs
from codeplan.recording.events import CallAnswered, ModelCalled, PlanDrafted
from codeplan.recording.trace import Trace

EPISODES = 60
LIMIT_MS = 50


def main() -> None:
    """Print the median and the 90th percentile beside the limit."""
    tasks = envs.make("household").tasks("test")[:EPISODES]
    codeplan.run("household", tasks[0])  # the first run starts the sandbox's zygote
    with tempfile.TemporaryDirectory() as folder:
        own = [ms for i, task in enumerate(tasks) for ms in own_ms(task, Path(folder, str(i)))]
    own.sort()
    print(
        f"own time a plan   {statistics.median(own):6.1f} ms   median of {len(own)} plans in {EPISODES} episodes; "
        f"90 % under {own[int(0.9 * len(own))]:.1f}; limit {LIMIT_MS}"
    )


def own_ms(task: codeplan.Task, out: Path) -> list[float]:
    """An episode's own time in milliseconds, divided evenly among its plans."""
    started = time.perf_counter()
    codeplan.run("household", task, out=out)
    wall = time.perf_counter() - started
    events = Trace.read(out / "trace.jsonl")
    others = sum(e.seconds for e in events if isinstance(e, CallAnswered | ModelCalled))
    plans = sum(isinstance(e, PlanDrafted) for e in events)
    return [1000 * (wall - others) / plans] * plans


if __name__ == "__main__":
    main()
