"""Episodes that are killed by SIGKILL when their trace has grown to a given size."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def kill_command(arguments: Sequence[str], folder: Path, size: int) -> None:
    """Run ``codeplan`` in a process of its own, and kill it when the trace in ``folder`` has ``size`` bytes."""
    child = subprocess.Popen([sys.executable, "-m", "codeplan", *arguments], stdout=subprocess.DEVNULL)
    trace = folder / "trace.jsonl"
    while child.poll() is None and not (trace.exists() and trace.stat().st_size >= size):
        time.sleep(0.0002)
    child.kill()  # does nothing if it has ended: its number may be another process's by then
    child.wait()
