"""A shop of fruits as tools, plans for it, and what runs them for a server's clients."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from codeplan.mcp_server.plan_runner import RunnerSettings, ToolPlanRunner
from codeplan.mcp_server.run_folders import RunFolders
from codeplan.runner.tools import ToolSources, open_tools

PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] list the fruits')
        names = set(agent.fruits())
        assert names, f'Error in [Step 1]: there are none. {agent.report()}'
    if start_from <= 2:
        print('[Step 2] count them')
        counts = {name: agent.count(name) for name in sorted(names)}
        assert counts, f'Error in [Step 2]: nothing was counted. {agent.report()}'
    return counts
"""
COUNTS = {"apples": 3, "pears": 12}

KIWI = PLAN.replace("sorted(names)}", "[*sorted(names), 'kiwi']}")
"""The same plan, whose second step fails after two counts."""

STEP_2 = PLAN[PLAN.index("    if start_from <= 2") : PLAN.index("    return counts")]
SELL = PLAN.replace(
    "    return counts", "    if start_from <= 3:\n        agent.sell('pears')\n        assert True\n    return counts"
)

SPIN = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        while True:\n            agent.fruits()\n"


class Shop:
    """Fruits in stock, and what was called."""

    def __init__(self) -> None:
        self._stock = dict(COUNTS)
        self._calls: list[str] = []
        self._open = threading.Event()

    def fruits(self) -> list[str]:
        """The names of all fruits."""
        self._calls.append("fruits")
        return list(self._stock)

    def count(self, fruit: str) -> int:
        """How many there are of a fruit."""
        self._calls.append(f"count {fruit}")
        return self._stock[fruit]

    def sell(self, fruit: str) -> int:
        """Sell all of a fruit."""
        self._calls.append(f"sell {fruit}")
        return self._stock.pop(fruit)

    async def wait(self, seconds: float) -> str:
        """Wait."""
        self._calls.append("wait")
        await asyncio.sleep(seconds)
        return "waited"

    def hold(self) -> str:
        """Return when the shop opens."""
        self._calls.append("hold")
        return "open" if self._open.wait(60) else "closed"


@contextmanager
def plan_runner(
    folder: Path, shop: object, keep: int = 100, sources: Mapping[str, Any] = {}, **settings: Any
) -> Iterator[ToolPlanRunner]:
    """What runs plans with the shop's tools; the runs stand in ``folder``. ``sources`` are fields of ToolSources."""
    with (
        open_tools(ToolSources([shop], **sources)) as tools,
        closing(ToolPlanRunner(tools, RunFolders(folder, keep), RunnerSettings(**settings))) as runner,
    ):
        yield runner


TOOLS_FILE = '''
import os, subprocess, sys, time

print("printed at the import")
STOCK = {"apples": 3, "pears": 12}


def fruits() -> list[str]:
    """The names of all fruits."""
    print("printed by a tool")
    os.write(1, b"written to the descriptor\\\\n")
    subprocess.run(["echo", "printed by a program"], check=True)
    assert sys.stdin.read() == ""
    return list(STOCK)


def count(fruit: str) -> int:
    """How many there are of a fruit."""
    return STOCK[fruit]


def sell(fruit: str) -> int:
    """Sell all of a fruit."""
    return STOCK.pop(fruit)


def sleep(seconds: float) -> None:
    """Sleep."""
    time.sleep(seconds)
'''
"""A file of tools that print, read standard input and sleep."""


def tools_file(folder: Path) -> Path:
    """The file of tools in a folder."""
    (folder / "tools.py").write_text(TOOLS_FILE)
    return folder / "tools.py"


def processes_of(group: int) -> list[int]:
    """The running processes whose parent, or an earlier one, is the process ``group``."""
    parents = {}
    for entry in Path("/proc").iterdir():
        try:
            status = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and status[0] != "Z":
            parents[int(entry.name)] = int(status[1])
    found = {group}
    while more := {p for p, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {group})


def still_running(pids: list[int], seconds: float = 10.0) -> list[int]:
    """Those of the processes that do not end in time."""
    deadline = time.monotonic() + seconds
    while (left := [p for p in pids if _runs(p)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
