"""What the sandbox costs, beside others that run the same plans: plain ``exec``, smolagents' LocalPythonExecutor, Monty.

Rivals that are not installed are left out and named (``pip install smolagents pydantic-monty``). Every time is the
median of several rounds, with the smallest beside it: on a busy machine the smallest says more. Nothing passes or fails.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.cage import launcher
from codeplan.types import Finished, Plan, Stopped

CALLS = 400
TURNS = 1_000_000
PAUSE_SECONDS = 0.01
WALL_SECONDS = 0.3

Work = Callable[[], object]


class Home:
    """An agent that answers at once. ``during`` is done within each call."""

    def __init__(self, during: Work = lambda: None) -> None:
        self.during = during

    def goto(self, receptacle: str) -> str:
        """Walk there."""
        self.during()
        return f"You are at {receptacle}."

    def report(self) -> str:
        """Where the agent is."""
        return "at home"


def plan(*lines: str) -> str:
    """A plan with these lines as its body."""
    return "def solution(agent, start_from=1):\n" + "".join(f"    {line}\n" for line in lines)


def step(number: int, *lines: str) -> list[str]:
    """A step's lines."""
    return [f"if start_from <= {number}:", f"    print('[Step {number}] go')", *(f"    {line}" for line in lines)]


def walk(number: int) -> list[str]:
    """A step that goes somewhere and asserts that it is there."""
    failure = f"f'Error in [Step {number}]: {{agent.report()}}'"
    return step(number, f"seen = agent.goto('shelf {number}')", f"assert 'shelf {number}' in seen, {failure}")


TRIVIAL = plan("pass")
THREE_STEPS = plan(*walk(1), *walk(2), *walk(3))
MANY_CALLS = plan(f"for i in range({CALLS}):", "    agent.goto('shelf')")
LONG = plan(
    *(
        line
        for number in range(1, 9)
        for line in (
            *walk(number),
            "    names = [part.strip(' .') for part in seen.split(',')]",
            "    found = [n for n in names if 'shelf' in n]",
            "    assert found, f'Error in [Step]: {agent.report()}'",
        )
    )
)
LOOP = plan("total = 0", f"for i in range({TURNS}):", "    total += i % 7", "print(total)")
WHILE = plan("i = 0", f"while i < {TURNS}:", "    i += 1", "print(i)")
ENDLESS = {
    "a loop": plan("while True:", "    pass"),
    "one long call": plan("import re", "re.match('(a|aa)+$', 'a' * 60 + 'b')"),
}


# ------------------------------------------------------------------ measuring


def milliseconds(work: Work, rounds: int, pause: float = 0.0) -> list[float]:
    """Sorted times of ``rounds`` rounds, after a tenth as many that are not counted."""
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


# ------------------------------------------------------------------ who runs plans


def plainly(source: str) -> None:
    """Run a plan in this process, as Python."""
    space: dict[str, object] = {"print": lambda *words: None}
    exec(source, space)
    space["solution"](Home())  # type: ignore[operator]  # the plan's function


def caged(source: str, home: Home | None = None) -> Finished:
    """Run a plan in the sandbox."""
    outcome = Sandbox().run(source, home or Home(), str)
    assert isinstance(outcome, Finished), outcome
    return outcome


@contextlib.contextmanager
def runners() -> Iterator[dict[str, Callable[[str], object]]]:
    """All that can run a plan here, by name."""
    found: dict[str, Callable[[str], object]] = {"plain exec (no sandbox)": plainly, "codeplan": caged}
    with contextlib.ExitStack() as stack:
        if _has("smolagents"):
            found["smolagents LocalPythonExecutor"] = _smolagents()
        if _has("pydantic_monty"):
            found["Monty"] = _monty(stack)
        yield found


def _has(module: str) -> bool:
    if find_spec(module) is None:
        print(f"{module} is not installed and is left out")
        return False
    return True


def _smolagents() -> Callable[[str], object]:
    from smolagents.local_python_executor import LocalPythonExecutor

    def run(source: str) -> object:
        executor = LocalPythonExecutor([])
        executor.send_tools({})
        executor.send_variables({"agent": Home()})
        return executor(f"{source}\nsolution(agent)")

    return run


def _monty(stack: contextlib.ExitStack) -> Callable[[str], object]:
    """Monty has no host objects: the agent's methods stand as functions, each plan in a fresh session."""
    from pydantic_monty import CollectString, Monty

    pool = stack.enter_context(Monty())
    home = Home()
    lookup = {"goto": home.goto, "report": home.report}

    def run(source: str) -> object:
        code = f"{source.replace('agent.', '')}\nsolution(None)"
        with pool.checkout() as session:
            return session.feed_run(code, external_lookup=lookup, print_callback=CollectString())

    return run


# ------------------------------------------------------------------ the tables


def plans(rounds: int) -> None:
    """Whole plans and single calls, by everyone."""
    with runners() as found:
        head("a trivial plan, end to end")
        for name, run in found.items():
            show(name, milliseconds(lambda run=run: run(TRIVIAL), rounds), limit="3" if run is caged else "")
        show("codeplan, 10 ms apart", milliseconds(lambda: caged(TRIVIAL), rounds, PAUSE_SECONDS), limit="3")
        head("three steps with three agent calls")
        for name, run in found.items():
            show(name, milliseconds(lambda run=run: run(THREE_STEPS), rounds))
        head("an agent call, over the agent's own time")
        for name, run in found.items():
            show(name, call_microseconds(run, rounds // 10), "µs", "50" if run is caged else "")


def call_microseconds(run: Callable[[str], object], rounds: int) -> list[float]:
    """One call's time: that of many in a plan, less a plan without any, less the agent's own."""
    home = Home()
    own = milliseconds(lambda: [home.goto("shelf") for _ in range(CALLS)], rounds)[0]
    without = statistics.median(milliseconds(lambda: run(TRIVIAL), rounds))
    return [max(0.0, 1000 * (t - without - own) / CALLS) for t in milliseconds(lambda: run(MANY_CALLS), rounds)]


def checks(rounds: int) -> None:
    """A plan's check."""
    assert isinstance(Sandbox().check(LONG, Home), Plan)
    head("a check")
    show(f"{LONG.count(chr(10))}-line plan", milliseconds(lambda: Sandbox().check(LONG, Home), rounds // 4))
    show("three steps", milliseconds(lambda: Sandbox().check(THREE_STEPS, Home), rounds // 4))


def loops(rounds: int) -> None:
    """How much slower loops turn than in plain Python; a plan's start and end are not counted."""
    head(f"a loop of {TURNS:,} turns, times plain Python")
    start = statistics.median(milliseconds(lambda: caged(TRIVIAL), rounds))
    for name, source in {"for, total += i % 7": LOOP, "while, i += 1": WHILE}.items():
        plain = milliseconds(lambda source=source: plainly(source), max(3, rounds // 40))
        guarded = milliseconds(lambda source=source: caged(source), max(3, rounds // 40))
        show(name, sorted((g - start) / p for g, p in zip(guarded, plain, strict=True)), "×", "2")


def stops(rounds: int) -> None:
    """How late a stop by the wall limit comes."""
    head(f"a stop by a wall limit of {WALL_SECONDS} s, later than that")
    limits = Limits(wall=WALL_SECONDS, turns=10**12)
    for name, source in ENDLESS.items():

        def stopped(source: str = source) -> None:
            outcome = Sandbox(limits).run(source, Home(), str)
            assert isinstance(outcome, Stopped), outcome
            assert outcome.limit == "wall", outcome

        late = [t - 1000 * WALL_SECONDS for t in milliseconds(stopped, max(3, rounds // 20))]
        show(name, late, limit=f"150   (latest {late[-1]:.0f})")


def starts() -> None:
    """The first check and the first run of a process, which start the zygotes."""
    head("the first of a process, with its zygote")
    for name, work, zygotes in (
        ("check", lambda: Sandbox().check(TRIVIAL, Home), launcher.checks),
        ("run", lambda: caged(TRIVIAL), launcher.runs),
    ):
        times = []
        for _ in range(5):
            zygotes.close()
            began = time.perf_counter()
            work()
            times.append(1000 * (time.perf_counter() - began))
        show(name, sorted(times))


# ------------------------------------------------------------------ what is used, and what is left


def below(pid: int) -> list[int]:
    """A process's children."""
    return [int(c) for t in Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text().split()]


def private_kilobytes(pid: int) -> int:
    """Memory that the process shares with nobody, in kB, as the kernel counts. Raises OSError where it may not be read."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))


def resident_kilobytes(pid: int) -> int:
    """Memory that the process has, in kB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def memory() -> None:
    """A worker's own memory while it waits in an agent call. Workers cannot be looked into but by root."""
    print("\nprivate memory of a worker that waits in an agent call      limit 3.00 MB")
    for name, source in {"one call": plan("agent.goto('shelf')"), "three steps": THREE_STEPS}.items():
        found: list[int] = []

        def look(found: list[int] = found) -> None:
            time.sleep(0.05)  # the next worker is forked ahead meanwhile, and is the younger of the two
            found.append(private_kilobytes(min(below(_zygote()), key=_age)))

        caged(plan("pass"))
        try:
            look_home = Home(look)
            Sandbox().run(source, look_home, str)
            print(f"  {name:44} {found[0] / 1024:9.2f} MB")
        except IndexError:
            print(f"  {name:44}   cannot be read: the benchmark must be root")


def _zygote() -> int:
    """The zygote for runs."""
    return next(pid for pid in below(os.getpid()) if b"cage.running" in Path(f"/proc/{pid}/cmdline").read_bytes())


def _age(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])


def leaks(runs: int) -> None:
    """What many runs leave behind, in this process and in its zygotes."""
    for _ in range(50):
        caged(THREE_STEPS)
    before = _holdings()
    for _ in range(runs):
        caged(THREE_STEPS)
    after = _holdings()
    print(f"\nleft behind by {runs:,} runs")
    for name, was, now in zip(("processes", "descriptors", "memory, kB"), before, after, strict=True):
        print(f"  {name:44} {now - was:+9}      0   ({was} before, {now} after)")


def _holdings() -> tuple[int, int, int]:
    gc.collect()
    time.sleep(0.3)
    family = [os.getpid(), *below(os.getpid())]
    return (
        sum(len(below(pid)) for pid in family),
        sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in family),
        sum(map(resident_kilobytes, family)),
    )


def crowd(count: int) -> None:
    """Many sandboxes at once."""
    ended: list[Finished] = []
    patient = Sandbox(Limits(wall=60.0))

    def one() -> None:
        outcome = patient.run(THREE_STEPS, Home(), str)
        assert isinstance(outcome, Finished), outcome
        ended.append(outcome)

    threads = [threading.Thread(target=one) for _ in range(count)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    print(f"\n{count} at once: {len(ended)} came to their end in {seconds:.2f} s ({count / seconds:.0f} plans a second)")


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
