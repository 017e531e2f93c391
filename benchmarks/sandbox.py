"""Compares the sandbox with plain ``exec``, smolagents' interpreter and Monty on the same plans.

Alternatives that are not installed are named and skipped (``pip install smolagents pydantic-monty``). Each time is the
median of several rounds, with the minimum beside it, which says more on a busy machine. Nothing passes or fails.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

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
from sandbox_use import crowd, leaks, memory, processor_milliseconds, zygote_pid

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host import launcher
from codeplan.types import Plan, Stopped

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


# ------------------------------------------------------------------ measuring


def milliseconds(work: Work, rounds: int, pause: float = 0.0) -> list[float]:
    """Sorted times of ``rounds`` rounds, after a tenth as many warm-up rounds."""
    times = []
    for i in range(-max(2, rounds // 10), rounds):
        time.sleep(pause)
        began = time.perf_counter()
        work()
        if i >= 0:
            times.append(1000 * (time.perf_counter() - began))
    return sorted(times)


def show(name: str, times: list[float], unit: str = "ms", limit: str = "") -> None:
    """Print a row of a table."""
    print(f"  {name:44} {statistics.median(times):9.3f} {times[0]:9.3f} {unit:4} {limit}")


def head(title: str) -> None:
    """Print a table's head."""
    print(f"\n{title:46} {'median':>9} {'smallest':>9}      limit")


# ------------------------------------------------------------------ the tables


def plans(rounds: int) -> None:
    """Whole plans and single calls, by every runner."""
    with runners() as found:
        head("a trivial plan, end to end")
        for name, run in found.items():
            show(name, milliseconds(partial(run, TRIVIAL), rounds), limit="3" if run is run_caged else "")
        show("codeplan, 10 ms apart", milliseconds(lambda: run_caged(TRIVIAL), rounds, PAUSE_SECONDS), limit="3")
        show("codeplan, checked before", milliseconds(checked_run(TRIVIAL), rounds), limit="3")
        head("three steps with three agent calls")
        for name, run in found.items():
            show(name, milliseconds(partial(run, THREE_STEPS), rounds))
        show("codeplan, checked before", milliseconds(checked_run(THREE_STEPS), rounds))
        head("an agent call, over the agent's own time")
        for name, run in found.items():
            show(name, call_microseconds(run, max(1, rounds // 10)), "µs", "50" if run is run_caged else "")
        show("the floor: 60 bytes there and back", round_trips(max(1, rounds // 10)), "µs")


def checked_run(source: str) -> Work:
    """A run of a checked plan, which includes its code, as in an episode."""
    sandbox = Sandbox()
    found = check_plan(sandbox, source)
    return lambda: sandbox.run(found, InstantAgent(), str)


def call_microseconds(run: Callable[[str], object], rounds: int) -> list[float]:
    """The time per call: of a plan with many, minus a plan without any, minus the agent's own."""
    home = InstantAgent()
    own = milliseconds(lambda: [home.goto("shelf") for _ in range(CALLS)], rounds)[0]
    without = statistics.median(milliseconds(lambda: run(TRIVIAL), rounds))
    return [max(0.0, 1000 * (t - without - own) / CALLS) for t in milliseconds(lambda: run(MANY_CALLS), rounds)]


def round_trips(rounds: int) -> list[float]:
    """The time for two processes to exchange a message and its answer over a socket pair."""
    ours, theirs = socket.socketpair()
    code = f"import socket; s = socket.socket(fileno={theirs.fileno()})\nwhile d := s.recv(100): s.send(d)"
    with ours, subprocess.Popen([sys.executable, "-c", code], pass_fds=(theirs.fileno(),)):
        theirs.close()

        def exchange() -> None:
            for _ in range(CALLS):
                ours.send(b"x" * 60)
                ours.recv(100)

        exchange()
        found = [1000 * t / CALLS for t in milliseconds(exchange, rounds)]
        ours.shutdown(socket.SHUT_RDWR)
    return found


def checks(rounds: int) -> None:
    """A plan's check."""
    assert isinstance(Sandbox().check(LONG, InstantAgent), Plan)
    head("a check")
    show(
        f"{LONG.count(chr(10))}-line plan",
        milliseconds(lambda: Sandbox().check(LONG, InstantAgent), max(1, rounds // 4)),
    )
    show("three steps", milliseconds(lambda: Sandbox().check(THREE_STEPS, InstantAgent), max(1, rounds // 4)))
    libcst_part(max(1, rounds // 4))


def libcst_part(rounds: int) -> None:
    """What libcst adds to a check: each round checks once with and once without it."""
    usual, without = launcher.check_workers, launcher.WorkerLauncher("sandbox_without_libcst")
    entries = {usual: "cage.check_zygote", without: "sandbox_without_libcst"}
    times: dict[launcher.WorkerLauncher, list[float]] = {usual: [], without: []}
    used: dict[launcher.WorkerLauncher, float] = {}
    try:
        for i in range(-3, rounds):
            for workers, found in times.items():
                launcher.check_workers = workers  # type: ignore[misc]  # what the sandbox uses from now on
                duration = milliseconds(lambda: Sandbox().check(LONG, InstantAgent), 1)
                found += duration if i >= 0 else []
                used[workers] = used[workers] if i > 0 else processor_milliseconds(zygote_pid(entries[workers]))
        spent = [processor_milliseconds(zygote_pid(entries[workers])) - used[workers] for workers in times]
    finally:
        launcher.check_workers = usual  # type: ignore[misc]
        without.close()
    show("of it libcst", sorted(a - b for a, b in zip(*times.values(), strict=True)), limit="4")
    each = 3 * (rounds - 1)  # a measurement has two rounds before it
    added, whole = (spent[0] - spent[1]) / each, spent[0] / each
    print(f"  {'of it libcst, processor time':44} {added:9.3f} {'':9} ms   of {whole:.3f}")


def loops(rounds: int) -> None:
    """Slow-down of loops compared with plain Python, without a plan's start and end."""
    head(f"a loop of {TURNS:,} turns, times plain Python")
    start = statistics.median(milliseconds(lambda: run_caged(TRIVIAL), rounds))
    for name, source in {"for, total += i % 7": LOOP, "while, i += 1": WHILE}.items():
        plain = milliseconds(partial(run_plainly, source), max(3, rounds // 40))
        guarded = milliseconds(partial(run_caged, source), max(3, rounds // 40))
        show(name, sorted((g - start) / p for g, p in zip(guarded, plain, strict=True)), "×", "2")


def stops(rounds: int) -> None:
    """The delay of a stop by the wall limit."""
    head(f"a stop by a wall limit of {WALL_SECONDS} s, later than that")
    limits = Limits(wall=WALL_SECONDS, turns=10**12)
    for name, source in ENDLESS.items():

        def stopped(source: str = source) -> None:
            outcome = Sandbox(limits).run(source, InstantAgent(), str)
            assert isinstance(outcome, Stopped), outcome
            assert outcome.limit == "wall", outcome

        late = [t - 1000 * WALL_SECONDS for t in milliseconds(stopped, max(3, rounds // 20))]
        show(name, late, limit=f"150   (latest {late[-1]:.0f})")


def starts() -> None:
    """The first check and the first run of a process, which start the zygotes."""
    head("the first of a process, with its zygote")
    for name, work, zygotes in (
        ("check", lambda: Sandbox().check(TRIVIAL, InstantAgent), launcher.check_workers),
        ("run", lambda: run_caged(TRIVIAL), launcher.run_workers),
    ):
        times = []
        for _ in range(5):
            zygotes.close()
            began = time.perf_counter()
            work()
            times.append(1000 * (time.perf_counter() - began))
        show(name, sorted(times))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the short measurements (default 200)")
    rounds = parser.parse_args().rounds
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    starts()
    plans(rounds)
    checks(rounds)
    loops(rounds)
    stops(rounds)
    memory()
    leaks(5 * rounds)
    crowd(64)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
