"""A few seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[2] / "fuzz"


def test_neither_lying_workers_nor_broken_plans_nor_forged_tables_find_anything() -> None:
    command = [sys.executable, "-X", "faulthandler", str(FUZZ), "--frames", "5000", "--seconds", "6"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr[-4_000:]
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["frames", "analyses", "check", "cage", "codec"]
