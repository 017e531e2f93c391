"""Replays all recorded replies, and prints one table: each task by each runner, and the sums.

    TOOL_TASKS_SERVERS=FOLDER python benchmarks/tool_tasks/table.py [--prices-of gpt-5] [--json FILE] [-j 2]

A replay runs the real servers; only the model's replies come from the files in ``replies``, TASK.RUNNER.jsonl. A play
with ``*`` was asked other prompts than when it was recorded, so its replies may not be what the model would say now.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from codeplan.llm.prices import builtin_prices, cost
from codeplan.types import Usage

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "replies"


def replay(file: Path) -> dict[str, Any]:
    """Replay one recording, in a process of its own."""
    task, runner = file.name.removesuffix(".jsonl").split(".")
    command = [sys.executable, str(HERE / "play.py"), "--task", task, "--runner", runner, "--replay", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    if done.returncode:
        sys.exit(f"{file.name} cannot be replayed: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def money(row: dict[str, Any], model: str) -> float | None:
    """What a play costs at the price of this model, in US dollars; None if it has no price."""
    return cost(builtin_prices().find_price(model), Usage(row["input_tokens"], row["output_tokens"]))


def summary(rows: Iterable[dict[str, Any]], model: str) -> str:
    """One runner's sums over the plays, as a line of the table."""
    every = list(rows)
    sums = {
        name: sum(row[name] or 0 for row in every) for name in ("calls", "input_tokens", "output_tokens", "tool_calls")
    }
    costs = [money(row, model) for row in every]
    dollars = "" if None in costs else f"{sum(c for c in costs if c is not None):.3f}"
    solved = f"{sum(row['success'] for row in every)}/{len(every)}"
    cells = (
        solved,
        sums["calls"],
        f"{sums['input_tokens']:,}",
        f"{sums['output_tokens']:,}",
        dollars,
        sums["tool_calls"],
    )
    return "".join(f"{cell:>12}" for cell in cells)


def show(rows: list[dict[str, Any]], model: str) -> None:
    """Print calls and output tokens of each task by each runner, then the sums of the tasks that all have played."""
    runners = list(dict.fromkeys(row["runner"] for row in rows))
    by_task: dict[str, dict[str, Any]] = {}
    for row in rows:
        by_task.setdefault(row["task"], {})[row["runner"]] = row
    print("model calls / tokens out; - not solved, * other prompts than recorded")
    print(f"{'task':14}" + "".join(f"{runner:>20}" for runner in runners))
    for task, of_task in by_task.items():
        print(f"{task:14}" + "".join(f"{cell(of_task.get(runner)):>20}" for runner in runners))
    common = [of_task for of_task in by_task.values() if len(of_task) == len(runners)]
    print(f"\n{len(common)} tasks that all have played; US $ at the price of {model}")
    heads = ("solved", "calls", "tokens in", "tokens out", "US $", "tool calls")
    print(f"{'runner':18}" + "".join(f"{head:>12}" for head in heads))
    for runner in runners:
        print(f"{runner:18}" + summary((of_task[runner] for of_task in common), model))


def cell(row: dict[str, Any] | None) -> str:
    """One play in the table."""
    if row is None:
        return ""
    marks = ("" if row["success"] else " -") + (" *" if row["changed"] else "")
    return f"{row['calls']} / {row['output_tokens']:,}{marks}"


def order(file: Path) -> tuple[int, str]:
    """Tasks in the order of tasks.toml, runners in that of the alphabet."""
    task, runner, _ = file.name.split(".")
    return (HERE / "tasks.toml").read_text().index(f'name = "{task}"'), runner


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prices-of", default="gpt-5", metavar="MODEL", help="whose price counts, of codeplan's table")
    parser.add_argument("--json", type=Path, help="a file for the figures of each play")
    parser.add_argument("--replies", type=Path, default=FOLDER, help="the folder of the recordings")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="plays at a time")
    options = parser.parse_args()
    files = sorted(options.replies.glob("*.*.jsonl"), key=order)
    if not files:
        sys.exit(f"there are no recordings in {options.replies}")
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(replay, files))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    show(rows, options.prices_of)


if __name__ == "__main__":
    main()
