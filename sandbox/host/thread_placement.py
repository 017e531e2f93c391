"""Keeps the thread that serves a run off its worker's processor.

Linux often starts both on one processor. There they take turns: each polls for a frame that the other could send only
if it ran. Linux separates them after some milliseconds, which is as long as a hundred agent calls take.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PROCESSOR_FIELD: Final = 36  # of the fields after the program's name in /proc/PID/stat


def leave_processor_of(pid: int) -> bool:
    """Move this thread to another processor if the process last ran on the thread's own. Returns whether it moved.

    Afterwards the thread may run on the same processors as before. Where the system does not tell, nothing happens.
    """
    try:
        allowed = os.sched_getaffinity(0)
        own = _last_processor("/proc/thread-self/stat")
        if not allowed - {own} or own != _last_processor(f"/proc/{pid}/stat"):
            return False
        _move(allowed - {own}, allowed)
    except (OSError, ValueError, IndexError):
        return False
    return True


def _move(others: set[int], allowed: set[int]) -> None:
    """Run this thread on one of the others, then let it run on all that were allowed."""
    try:
        os.sched_setaffinity(0, others)
    finally:
        os.sched_setaffinity(0, allowed)


def _last_processor(stat_file: str) -> int:
    """The processor that a process or thread runs on, or ran on last."""
    return int(Path(stat_file).read_bytes().rpartition(b")")[2].split()[_PROCESSOR_FIELD])
