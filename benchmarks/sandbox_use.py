"""Measures the sandbox's memory, its leftover processes and descriptors, and many sandboxes at once."""

from __future__ import annotations

import gc
import os
import threading
import time
from pathlib import Path

from sandbox_plans import THREE_STEPS, InstantAgent, check_plan, plan, run_caged

from codeplan.audit.auditor import is_first_of_namespace
from codeplan.sandbox import Limits, Sandbox
from codeplan.types import Finished, Plan


def below(pid: int) -> list[int]:
    """A process's children."""
    return [int(c) for t in Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text().split()]


def private_kilobytes(pid: int) -> int:
    """The process's private memory in kB. Raises: OSError if it is not readable."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))


def resident_kilobytes(pid: int) -> int:
    """The process's resident memory in kB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def memory() -> None:
    """Print a worker's private memory while it waits for an agent call. Only root can read it.

    A checked plan, the usual case, includes its code; the worker compiles plain text.
    """
    print("\nprivate memory of a worker that waits in an agent call      limit 3.00 MB")
    sandbox = Sandbox()
    texts = {"one call": plan("agent.goto('shelf')"), "three steps": THREE_STEPS}
    plans = {name: check_plan(sandbox, source) for name, source in texts.items()}
    for name, source in (*plans.items(), *((f"{name}, as text", text) for name, text in texts.items())):
        found: list[int] = []

        def look(found: list[int] = found) -> None:
            time.sleep(0.05)  # meanwhile the next worker is forked; it is the younger of the two
            workers = [pid for pid in below(zygote_pid("cage.run_zygote")) if not is_first_of_namespace(pid)]
            found.append(private_kilobytes(min(workers, key=_age)))

        try:
            (sandbox if isinstance(source, Plan) else Sandbox()).run(source, InstantAgent(look), str)
            print(f"  {name:44} {found[0] / 1024:9.2f} MB")
        except IndexError:
            print(f"  {name:44}   cannot be read: the benchmark must be root")


def zygote_pid(entry: str) -> int:
    """The zygote of this process that runs the module ``entry``."""
    named = os.fsencode(entry)
    return next(pid for pid in below(os.getpid()) if named in Path(f"/proc/{pid}/cmdline").read_bytes())


def _age(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])


def leaks(runs: int) -> None:
    """Print what many runs leave behind in this process and its zygotes."""
    for _ in range(50):
        run_caged(THREE_STEPS)
    before = _holdings()
    for _ in range(runs):
        run_caged(THREE_STEPS)
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
    """Run many sandboxes at once."""
    ended: list[Finished] = []
    sandbox = Sandbox(Limits(wall=60.0))

    def one() -> None:
        outcome = sandbox.run(THREE_STEPS, InstantAgent(), str)
        assert isinstance(outcome, Finished), outcome
        ended.append(outcome)

    threads = [threading.Thread(target=one) for _ in range(count)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    print(f"\n{count} at once: {len(ended)} finished in {seconds:.2f} s ({count / seconds:.0f} plans a second)")
