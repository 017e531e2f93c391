"""``codeplan mcp``: ``python benchmarks/mcp_server.py`` prints what many tools cost a run, and runs a second at once.

A run with 1,000 tools is compared with one with 10, in turns. Each plan is sent for the first time, so that its check
counts; a second column sends it again. The runs at the same time have one call that waits half a second, so that N at
once can reach at most 2 N runs a second.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from codeplan.mcp_server.plan_runner import RunControl, RunnerSettings, ToolPlanRunner
from codeplan.mcp_server.run_folders import RunFolders
from codeplan.runner.tools import ToolSources, open_tools

COUNTS = (10, 1_000)
RUNS, AT_ONCE, WAITING_RUNS, SECONDS = 61, 64, 320, 0.5
PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        print("[Step 1] look, NUMBER")
        rows = agent.list_3(query="march")
        assert rows, f"Error in [Step 1]: nothing was found. {agent.report()}"
    return rows
"""


def main() -> None:
    """Print both."""
    with tempfile.TemporaryDirectory() as folder:
        _print_runs(Path(folder))
        _print_waiting(Path(folder, "waiting"))


def _print_runs(folder: Path) -> None:
    with ExitStack() as stack:
        runners = {n: stack.enter_context(_runner(folder / f"{n}", [_tool(i) for i in range(n)])) for n in COUNTS}
        first: dict[int, list[float]] = {n: [] for n in COUNTS}
        again: dict[int, list[float]] = {n: [] for n in COUNTS}
        for number in range(RUNS):
            for count, runner in runners.items():
                first[count].append(_seconds(runner, number))
                again[count].append(_seconds(runner, number))
    print("tools   a new plan, ms   sent again, ms")
    for count in COUNTS:
        print(f"{count:5,} {_median(first[count]):16.1f} {_median(again[count]):16.1f}")
    few, many = COUNTS
    for name, times in (("a new plan", first), ("sent again", again)):
        pairs = list(zip(times[few], times[many], strict=True))
        more, ratio = statistics.median(b - a for a, b in pairs) * 1e3, statistics.median(b / a for a, b in pairs)
        print(f"{name}: {more:.1f} ms more with {many:,} tools than with {few}; ratio of paired runs {ratio:.2f}")


def _print_waiting(folder: Path) -> None:
    with _runner(folder, [_waiting_tool()]) as runner, ThreadPoolExecutor(AT_ONCE) as pool:
        _seconds(runner, -1)
        begun, used = time.perf_counter(), time.process_time()
        ended = list(pool.map(lambda number: runner.run(_plan(number), "", RunControl()).ended, range(WAITING_RUNS)))
        seconds, used = time.perf_counter() - begun, time.process_time() - used
    if set(ended) != {"finished"}:
        sys.exit(f"not all runs finished: {set(ended)}")
    rate, most = WAITING_RUNS / seconds, AT_ONCE / SECONDS
    print(
        f"{AT_ONCE} at once, calls of {SECONDS} s: {rate:.0f} runs a second, {rate / most:.2f} of what waiting allows; "
        f"{used / WAITING_RUNS * 1e3:.1f} ms of the server's processor a run"
    )


@contextmanager
def _runner(folder: Path, tools: list[Callable[..., object]]) -> Iterator[ToolPlanRunner]:
    with (
        open_tools(ToolSources(tools)) as opened,
        closing(ToolPlanRunner(opened, RunFolders(folder, 2_000), RunnerSettings())) as runner,
    ):
        yield runner


def _seconds(runner: ToolPlanRunner, number: int) -> float:
    begun = time.perf_counter()
    answer = runner.run(_plan(number), f"find the invoices of month {number}", RunControl())
    if answer.ended != "finished":
        sys.exit(f"a run ended as {answer.ended}: {answer.failure}")
    return time.perf_counter() - begun


def _plan(number: int) -> str:
    return PLAN.replace("NUMBER", f"{number}")


def _median(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1e3


def _tool(number: int) -> Callable[..., object]:
    def tool(query: str, state: str = "open", limit: int = 10) -> list[dict[str, str]]:
        return [{"id": f"{number}", "state": state}]

    tool.__name__ = f"list_{number}"
    tool.__doc__ = (
        f"List invoices of kind {number} that match a query. Returns one record for each, with its id and its state. "
        "Use this when you need several at once; a query that matches none returns an empty list."
    )
    return tool


def _waiting_tool() -> Callable[..., object]:
    def list_3(query: str) -> list[str]:
        time.sleep(SECONDS)
        return [query]

    return list_3


if __name__ == "__main__":
    main()
