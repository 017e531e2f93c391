"""Commands of a long episode take little more memory than those of a short one: the host, show, replay and fork."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPT = f"""
import json, pathlib, sys
sys.path.insert(0, {str(BENCHMARKS)!r})
from traces import play
few, many = (play(pathlib.Path(name), calls) for name, calls in (("few", 40), ("many", 1500)))
print(json.dumps({{name: many[name].peak - few[name].peak for name in few}}))
"""


@pytest.mark.long
def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    """Held whole, its events take 32 MB more. A small process starts the commands, whose peaks are at least its own."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=True)
    more = json.loads(done.stdout)
    assert (tmp_path / "many/run/trace.jsonl").stat().st_size > 4.8e6
    assert len(more) == 7 and max(more.values()) < 22, more
