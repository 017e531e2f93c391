"""What a call of a Python tool costs: ``python benchmarks/tools.py`` prints microseconds.

Each round measures all rows one after the other, so the ratio to the sandbox's own agent call in the same round says
more on a busy machine than the times; the processor time is that of this process. A row is a plan with many calls minus
one without any; the tools themselves do nothing. The limit is that of a call of a Python tool.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox_plans import InstantAgent

from codeplan.episode import Episode
from codeplan.protocols import LLM
from codeplan.recording.trace import Trace
from codeplan.sandbox import Limits, Sandbox
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.types import Finished

CALLS, ROUNDS = 400, 25
TOGETHER, SLOW_SECONDS = 20, 0.1
LIMIT = 50  # microseconds


@dataclass
class Query:
    """What to look for."""

    words: list[str]
    limit: int = 10
    order: Literal["name", "age"] = "name"


def plain(x):
    """No annotations: nothing is checked."""
    return x


def typed(name: str, number: int = 3) -> str:
    """Two annotations."""
    return name


def structured(query: Query) -> list[Query]:
    """A dataclass in, dataclasses out."""
    return [query, query]


async def waiting(name: str) -> str:
    """An asynchronous tool."""
    return name


async def slow(number: int) -> int:
    """A tool that takes its time."""
    await asyncio.sleep(SLOW_SECONDS)
    return number


LINES = {
    "plain": "agent.plain('abc')",
    "typed": "agent.typed('abc', 4)",
    "by name": "agent.typed(name='abc')",
    "structured": "agent.structured({'words': ['a', 'b'], 'order': 'age'})",
    "waiting": "agent.waiting('abc')",
}
EMPTY, OWN = "an empty plan", "the sandbox's own agent call"


class _NoModel:
    name = "none"

    def complete(self, *_: object, **__: object) -> None:
        raise AssertionError("no plan asks")


def seconds(line: str, agent: object, times: int = CALLS) -> tuple[float, float]:
    """The time of a plan that has the line in a loop, and this process's processor time for it."""
    plan = f"def solution(agent, start_from=1):\n    for i in range({times}):\n        {line}\n"
    began, used = time.perf_counter(), time.process_time()
    outcome = Sandbox(Limits()).run(plan, agent, str)
    assert isinstance(outcome, Finished), outcome
    return time.perf_counter() - began, time.process_time() - used


def tool_agent(trace: Path | None) -> object:
    """An agent with the tools, in an episode of its own."""
    env = ToolEnvironment("measure", Toolset(python_tools(plain, typed, structured, waiting, slow)))
    model: LLM = _NoModel()  # type: ignore[assignment]
    return Episode(env, env.tasks("test")[0], model, trace=Trace(trace)).agent()


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        in_memory, in_file = tool_agent(None), tool_agent(Path(folder, "trace.jsonl"))
        rows: dict[str, tuple[str, object]] = {EMPTY: ("pass", in_memory), OWN: ("agent.goto('shelf')", InstantAgent())}
        rows |= {name: (line, in_memory) for name, line in LINES.items()}
        rows |= {"plain, with its trace in a file": (LINES["plain"], in_file)}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in rows}
        seconds(*rows[EMPTY])  # the first run starts the processes that the others share
        for _ in range(ROUNDS):
            for name, (line, agent) in rows.items():
                times[name].append(seconds(line, agent))
    print(
        f"{'a call, in microseconds':34} {'median':>7} {'smallest':>9} {'processor':>10} {'ratio':>6}   limit {LIMIT}"
    )
    for name in list(rows)[1:]:
        show(name, times[name], times[EMPTY], times[OWN])
    show_together()


def show_together() -> None:
    """Print how long calls at the same time take, in terms of one of them."""
    agent, gathered = tool_agent(None), f"await asyncio.gather(*(agent.slow(n) for n in range({TOGETHER})))"
    one, several = (
        statistics.median(seconds(line, agent, times=1)[0] for _ in range(7)) for line in ("agent.slow(1)", gathered)
    )
    print(f"{TOGETHER} calls of {SLOW_SECONDS:g} s at the same time: {several:.3f} s, {several / one:.2f} of one call")


Times = list[tuple[float, float]]


def show(name: str, times: Times, empty: Times, own: Times) -> None:
    """Print a row of the table."""
    calls = [(t[0] - e[0]) / CALLS * 1e6 for t, e in zip(times, empty, strict=True)]
    smallest, used = ((min(t[i] for t in times) - min(e[i] for e in empty)) / CALLS * 1e6 for i in (0, 1))
    ratio = statistics.median((t[0] - e[0]) / (o[0] - e[0]) for t, e, o in zip(times, empty, own, strict=True))
    held = sum(call <= LIMIT for call in calls)
    print(
        f"{name:34} {statistics.median(calls):7.0f} {smallest:9.0f} {used:10.0f} {ratio:6.2f}"
        f"   held in {held} of {len(calls)} rounds"
    )


if __name__ == "__main__":
    main()
