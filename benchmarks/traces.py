"""The memory of a long episode: ``python benchmarks/traces.py [CALLS]`` prints peaks as ratios, long to short.

An episode with CALLS calls of a tool that answers with fifty rows, and one with a hundredth of them, are played, shown,
replayed, branched and reported, each by a process of its own. A peak is that of this process or of a worker of it; a
ratio near one means that memory does not grow with the trace. The processor's time is that of both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

CALLS = 20_000
PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        print("[Step 1] look")
        found = 0
        for n in range({calls}):
            found += len(agent.look(n))
        assert found, f"Error in [Step 1]: nothing was found. {{agent.report()}}"
    return found
"""
TOOLS = '''def look(number: int) -> list[dict[str, object]]:
    """The rows of a number."""
    return [{"id": n, "name": f"row {n} of {number}", "tags": ["a", "b"], "price": n + 0.5} for n in range(50)]
'''
LIMITS = 'limits={"calls": 10000000, "wall": 100000, "cpu": 100000}'


class Use(NamedTuple):
    """What a command took: its peak of memory in MB, and its processor time in seconds."""

    peak: float
    seconds: float


def main(calls: int) -> None:
    """Print a line for each command."""
    few = calls // 100
    with tempfile.TemporaryDirectory() as place:
        short, long = play(Path(place, "short"), few), play(Path(place, "long"), calls)
        sizes = [Path(place, name, "run", "trace.jsonl").stat().st_size / 1e6 for name in ("short", "long")]
    print(f"a trace of {few:,} calls, {sizes[0]:.1f} MB, and one of {calls:,} calls, {sizes[1]:.0f} MB")
    print(f"{'':14} {'short, MB':>10} {'long, MB':>9} {'ratio':>6}   {'long, µs of processor a call':>29}")
    for name, one in short.items():
        other = long[name]
        each = (other.seconds - one.seconds) / (calls - few) * 1e6
        print(f"{name:14} {one.peak:10.0f} {other.peak:9.0f} {other.peak / one.peak:6.2f}   {each:29.0f}")


def play(folder: Path, calls: int) -> dict[str, Use]:
    """What an episode with so many calls takes, and what it takes to look at it."""
    folder.mkdir()
    plan, tools, run = folder / "plan.py", folder / "tools.py", folder / "run"
    plan.write_text(PLAN.format(calls=calls), encoding="utf-8")
    tools.write_text(TOOLS, encoding="utf-8")
    commands = {
        "exec (the host)": ("exec", plan, "--tools", tools, "--out", run, "--quiet", "--set", LIMITS),
        "show": ("show", run),
        "show --json": ("show", run, "--json"),
        "show --event": ("show", run, "--event", calls),
        "replay": ("replay", run, "--set", LIMITS),
        "fork": ("fork", run, "--at", 2 * calls, "--tools", tools, "--out", folder / "branch", "--set", LIMITS, "-q"),
        "report": ("report", run, "--out", folder / "report"),
    }
    return {name: use_of(*command) for name, command in commands.items()}


def use_of(*command: object) -> Use:
    """What a command of codeplan takes. This process stays small, because a child's peak is at least its parent's."""
    started = subprocess.Popen(
        [sys.executable, "-m", "codeplan", *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert started.stderr is not None
    said = started.stderr.read()
    _, status, used = os.wait4(started.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):  # a result that nobody verified is 1
        sys.exit(said.decode(errors="replace"))
    return Use(used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)
