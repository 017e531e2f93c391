"""Compares the sandbox with plain ``exec``, smolagents' interpreter and Monty on the same plans.

Alternatives that are not installed are named and skipped (``pip install smolagents pydantic-monty``). All rows are
measured in turn, one block of each after the other, so that what else the machine does reaches all of them alike. A row
shows the median and the quartiles of all blocks together; a limit is compared with the median of each block. Nothing
passes or fails.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from sandbox_floors import PAGES, echoes, forks
from sandbox_plans import (
    CALLS,
    LONG,
    MANY_CALLS,
    THREE_STEPS,
    TRIVIAL,
    InstantAgent,
    check_plan,
    plan,
    run_caged,
    run_plainly,
    runners,
)
from sandbox_use import crowd, leaks, memory

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host import launcher
from codeplan.types import Stopped

BLOCKS = 20
TURNS = 1_000_000
PAUSE_SECONDS = 0.01
WALL_SECONDS = 0.3

Work = Callable[[], object]

LOOP = plan("total = 0", f"for i in range({TURNS}):", "    total += i % 7", "print(total)")
WHILE = plan("i = 0", f"while i < {TURNS}:", "    i += 1", "print(i)")
ENDLESS = {
    "a loop": plan("while True:", "    pass"),
    "one long call": plan("import re", "re.match('(a|aa)+$', 'a' * 60 + 'b')"),
}


class Row(NamedTuple):
    """A row of a table. ``sample`` measures once; ``share`` is the part of the rounds that it takes."""

    name: str
    sample: Callable[[], float]
    unit: str = "ms"
    limit: float | None = None
    share: float = 1.0


Tables = dict[str, list[Row]]


# ------------------------------------------------------------------ measuring


def milliseconds(work: Work, pause: float = 0.0) -> float:
    """The time that ``work`` takes, after a pause in seconds."""
    time.sleep(pause)
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def measure(tables: Tables, rounds: int) -> None:
    """Measure all rows in turn, block by block, and print the tables."""
    rows = [row for table in tables.values() for row in table]
    blocks: list[list[list[float]]] = [[] for _ in rows]
    loads = []
    for _ in range(BLOCKS):
        for row, found in zip(rows, blocks, strict=True):
            count = max(1, round(row.share * rounds / BLOCKS))
            found.append([row.sample() for _ in range(count + 1)][1:])  # the first one warms up
        loads.append(os.getloadavg()[0])
    print(f"load while measuring: {min(loads):.1f} to {max(loads):.1f}, median {statistics.median(loads):.1f}")
    shown = iter(zip(rows, blocks, strict=True))
    for title, table in tables.items():
        print(f"\n{title:46} {'median':>9} {'quartiles':>18}")
        for row, found in (next(shown) for _ in table):
            show(row, found)


def show(row: Row, blocks: list[list[float]]) -> None:
    """Print a row: the quartiles of its samples, and in how many blocks its limit held."""
    low, middle, high = statistics.quantiles([sample for block in blocks for sample in block], n=4)
    held = ""
    if row.limit is not None:
        kept = sum(statistics.median(block) <= row.limit for block in blocks)
        held = f"limit {row.limit:g}, held in {kept} of {len(blocks)} blocks"
    print(f"  {row.name:44} {middle:9.3f} {low:9.3f} {high:8.3f} {row.unit:4} {held}")


# ------------------------------------------------------------------ the tables


def plans(found: dict[str, Callable[[str], object]]) -> Tables:
    """Whole plans and single calls, by every runner."""

    def each(source: str, limit: float | None = None) -> list[Row]:
        usual = [
            Row(name, partial(milliseconds, partial(run, source)), limit=limit if run is run_caged else None)
            for name, run in found.items()
        ]
        return [*usual, Row("codeplan, checked before", partial(milliseconds, checked_run(source)), limit=limit)]

    apart = Row("codeplan, 10 ms apart", lambda: milliseconds(lambda: run_caged(TRIVIAL), PAUSE_SECONDS), limit=3)
    calls = [
        Row(name, partial(call_microseconds, run), "µs", 50 if run is run_caged else None, share=0.1)
        for name, run in found.items()
    ]
    return {
        "a trivial plan, end to end": [*each(TRIVIAL, limit=3), apart],
        "three steps with three agent calls": each(THREE_STEPS),
        "an agent call, over the agent's own time": calls,
    }


def checked_run(source: str) -> Work:
    """A run of a checked plan, which includes its code, as in an episode."""
    sandbox = Sandbox()
    found = check_plan(sandbox, source)
    return lambda: sandbox.run(found, InstantAgent(), str)


def call_microseconds(run: Callable[[str], object]) -> float:
    """The time per call: of a plan with many, minus a plan without any, minus the agent's own."""
    home = InstantAgent()
    own = milliseconds(lambda: [home.goto("shelf") for _ in range(CALLS)])
    without = milliseconds(lambda: run(TRIVIAL))
    return 1000 * (milliseconds(lambda: run(MANY_CALLS)) - without - own) / CALLS


def checks() -> Tables:
    """A plan's check."""
    rows = [
        Row(f"{LONG.count(chr(10))}-line plan", partial(milliseconds, lambda: check_plan(Sandbox(), LONG)), share=0.5),
        Row("three steps", lambda: milliseconds(lambda: Sandbox().check(THREE_STEPS, InstantAgent)), share=0.5),
    ]
    return {"a check": rows}


def loops() -> Tables:
    """Slow-down of loops compared with plain Python, without a plan's start and end."""

    def slowdown(source: str) -> float:
        start = milliseconds(lambda: run_caged(TRIVIAL))
        return (milliseconds(lambda: run_caged(source)) - start) / milliseconds(lambda: run_plainly(source))

    found = {"for, total += i % 7": LOOP, "while, i += 1": WHILE}
    rows = [Row(name, partial(slowdown, source), "×", limit=2, share=0.02) for name, source in found.items()]
    return {f"a loop of {TURNS:,} turns, times plain Python": rows}


def stops() -> Tables:
    """The delay of a stop by the wall limit."""
    limits = Limits(wall=WALL_SECONDS, turns=10**12)

    def late(source: str) -> float:
        began = time.perf_counter()
        outcome = Sandbox(limits).run(source, InstantAgent(), str)
        assert isinstance(outcome, Stopped), outcome
        assert outcome.limit == "wall", outcome
        return 1000 * (time.perf_counter() - began - WALL_SECONDS)

    rows = [Row(name, partial(late, source), limit=150, share=0.02) for name, source in ENDLESS.items()]
    return {f"lateness of a stop by a wall limit of {WALL_SECONDS} s": rows}


def starts() -> Tables:
    """The first check and the first run of a process, which start the zygotes."""
    works: dict[str, tuple[Work, launcher.WorkerLauncher]] = {
        "check": (lambda: Sandbox().check(TRIVIAL, InstantAgent), launcher.check_workers),
        "run": (lambda: run_caged(TRIVIAL), launcher.run_workers),
    }

    def first(work: Work, workers: launcher.WorkerLauncher) -> float:
        workers.close()
        return milliseconds(work)

    rows = [Row(name, partial(first, *work), share=0.02) for name, work in works.items()]
    return {"the first of a process, with its zygote": rows}


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the short measurements (default 200)")
    rounds = parser.parse_args().rounds
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with ExitStack() as stack:
        tables = plans(stack.enter_context(runners()))
        fork, echo = stack.enter_context(forks()), stack.enter_context(echoes(CALLS))
        tables["a trivial plan, end to end"].append(
            Row(f"the floor: a fork that writes to {PAGES} pages", partial(milliseconds, fork))
        )
        tables["an agent call, over the agent's own time"].append(
            Row("the floor: 60 bytes there and back", lambda: 1000 * milliseconds(echo) / CALLS, "µs", share=0.1)
        )
        measure({**tables, **checks(), **loops(), **stops(), **starts()}, rounds)
    memory()
    leaks(5 * rounds)
    crowd(64)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
