"""Kills or stops a process and waits for it: a signal takes its time on a busy machine."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

SECONDS = 20.0


def kill(pid: int) -> None:
    """Kill the process, and return once none of its threads runs any more."""
    os.kill(pid, signal.SIGKILL)
    _wait(pid, "ZX")


def stop(pid: int) -> None:
    """Stop the process, and return once all of its threads stand still."""
    os.kill(pid, signal.SIGSTOP)
    _wait(pid, "TZX")


def _wait(pid: int, states: str) -> None:
    until = time.monotonic() + SECONDS
    while any(state not in states for state in _thread_states(pid)):
        assert time.monotonic() < until, f"the threads of {pid} have the states {_thread_states(pid)}"
        time.sleep(0.005)


def _thread_states(pid: int) -> list[str]:
    """The states of the threads, as in proc(5); of threads and processes that are gone there is none."""
    found: list[str] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return []
    for thread in threads:
        try:
            found.append(Path(f"/proc/{pid}/task/{thread}/stat").read_text().rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
