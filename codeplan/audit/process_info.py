"""Reads a process's memory and descendants from ``/proc``."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path


def reset_peak_bytes(pid: int) -> int:
    """Restart the measurement of peak memory. Returns the bytes in use, or the old peak if it cannot be reset."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    return peak_bytes(pid)


def peak_bytes(pid: int) -> int:
    """The peak of a process's resident memory in bytes; 0 if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def find_descendants(pid: int) -> frozenset[int]:
    """All processes below this one. It is a subreaper, so the kernel also gives it the orphans among them."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() and (parent := _parent(entry.name)):
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return frozenset(found)


def is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie that waits to be reaped."""
    return _parent(str(pid)) != 0


def is_first_of_namespace(pid: int) -> bool:
    """Whether the process holds a pid namespace open, as one below each zygote does. False if it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^NSpid:\t\d+\t(?:\d+\t)*1$", text, re.MULTILINE) is not None


def _parent(pid: str) -> int:
    """The parent's pid; 0 if the process is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, parent = stat.rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else int(parent)
