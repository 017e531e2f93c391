"""A bench that is killed with SIGKILL, whenever that is, comes to the same table. The benchmark kills it more often."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.bench_samples import Play, bare, plan

from codeplan.bench.store import read_bench

pytestmark = pytest.mark.long

COMMAND = [sys.executable, "-m", "codeplan", "bench", "household", "-n", "2"]


def killed(command: list[str], folder: Path, lines: int) -> None:
    """Run the command until this many episodes have finished, then kill it."""
    results = folder / "results.jsonl"
    child = subprocess.Popen([*command, "--out", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and (results.read_bytes().count(b"\n") if results.exists() else 0) < lines:
        time.sleep(0.002)
    child.kill()  # does nothing if it has ended
    child.wait()


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_killed_bench_continues_and_runs_nothing_twice(engine: str, tmp_path: Path, play: Play) -> None:
    command = [*COMMAND, "--engine", engine]
    for lines in (1, 5):
        killed(command, tmp_path / "killed", lines)
    before = read_bench(tmp_path / "killed").outcomes
    assert 0 < len(before) < 12
    done = subprocess.run([*command, "--out", str(tmp_path / "killed")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole = read_bench(tmp_path / "killed")
    assert (tmp_path / "killed" / "results.jsonl").read_bytes().count(b"\n") == 12
    assert [e for e in whole.outcomes if e in before] == list(before)
    assert bare(whole) == bare(play(plan(kind=None, n=2)).bench)
