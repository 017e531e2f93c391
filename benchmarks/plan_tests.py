"""Measures 500 tests of plans on two pytest-xdist processes, compared with as many empty tests."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = 500
PROCESSES = 2
LIMIT_SECONDS = 30

MANIFEST = """\
env = "household"
sample = "{kind}"

[[tasks]]
ids = {ids}
"""
TASKS = ("clean/418", "cool/260", "examine/2", "heat/418", "pick_two/1561")
"""Tasks that the worked samples solve in six to fourteen actions."""


def main() -> None:
    """Print wall and processor seconds of both, and the difference per test."""
    with tempfile.TemporaryDirectory() as folder:
        plans, nothing = Path(folder, "plans"), Path(folder, "nothing")
        plans.mkdir()
        nothing.mkdir()
        for task in TASKS:
            kind = task.split("/")[0]
            ids = json.dumps([task] * (TESTS // len(TASKS)))
            (plans / f"{kind}.plan.toml").write_text(MANIFEST.format(kind=kind, ids=ids))
        body = f"@pytest.mark.parametrize('n', range({TESTS}))\ndef test_it(n):\n    pass\n"
        (nothing / "test_nothing.py").write_text(f"import pytest\n\n{body}")
        plan_wall, plan_cpu = seconds(plans)
        none_wall, none_cpu = seconds(nothing)
    load = os.getloadavg()[0]
    print(
        f"{TESTS} tests on {PROCESSES} processes   wall s   processor s   (load {load:.1f} on {os.cpu_count()} cores)"
    )
    print(f"  tests that do nothing       {none_wall:7.1f}   {none_cpu:11.1f}")
    print(f"  tests of plans              {plan_wall:7.1f}   {plan_cpu:11.1f}   limit {LIMIT_SECONDS} s of wall time")
    print(f"  a plan's test costs         {1000 * (plan_cpu - none_cpu) / TESTS:7.1f} ms of processor time")


def seconds(folder: Path) -> tuple[float, float]:
    """Wall and processor time of a whole pytest run with its processes. Exits if a test fails."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(PROCESSES), str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    total = done.stdout.strip().rsplit("\n", 1)[-1]
    if done.returncode:
        raise SystemExit(f"pytest could not run the tests: {done.stdout}{done.stderr}")
    print(f"{folder.name}: {total.strip('= ')}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
