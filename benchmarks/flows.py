"""What flows cost before a plan runs and while it runs, as ratios in one run.

The plans are those that were played on AgentDojo's tasks, and one of 57 lines with helpers, loops and two handlers. A
check is the floor of the analysis: it reads the same text in a worker of its own. While a plan runs, calls of a tool
that only reads, with flows and without, take turns.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import codeplan
from codeplan.flows import Flows, goal
from codeplan.sandbox import Sandbox
from codeplan.sandbox.analysis.origins import find_origins
from codeplan.sandbox.language.extraction import add_header, extract_code
from codeplan.types import AgentApi

PLAYED = Path(__file__).parent.parent / "tests" / "bench" / "agentdojo_played.jsonl"
ROUNDS = 15
CALLS = 2_000
LONG = "def solution(agent, start_from=1):\n" + "".join(
    f"""
    def helper_{n}(rows, wanted):
        found = [row for row in rows if row['name'] == wanted]
        for row in sorted(found, key=lambda r: r['name']):
            if row['name']:
                return row, len(rows)
        return None, 0

    if start_from <= {n}:
        print('[Step {n}] look for the name')
        rows_{n} = agent.list_rows('table {n}')
        row, count = helper_{n}(rows_{n}, 'x')
        text = ask_llm(f'What is this? {{row}} of {{count}}')
        try:
            number = int(text)
        except ValueError as error:
            number, text = 0, str(error)
        agent.write(row['name'], text, number=number)
        assert text, f'Error in [Step {n}]: {{text}}'
"""
    for n in (1, 2, 3)
)


def main() -> None:
    """Print the medians."""
    sandbox, api = Sandbox(), AgentApi((), ())
    rows = map(json.loads, PLAYED.read_text(encoding="utf-8").splitlines())
    plans = [add_header(extract_code(row["plans"][0])) for row in rows]
    for name, texts in ((f"{len(plans)} played plans", plans), (f"a plan of {LONG.count(chr(10))} lines", [LONG])):
        checks = [seconds(lambda text=text: sandbox.check(text, api, fixes=False)) for text in texts]
        origins = [seconds(lambda text=text: sandbox.analyse("origins", text)) for text in texts]
        alone = [seconds(lambda text=text: find_origins(text, {})) for text in texts]
        times = (median(o / c for o, c in zip(each, checks, strict=True)) for each in (origins, alone))
        print("{}: origins {:.2f} of a check, {:.2f} without the worker".format(name, *times))
    pairs = [(calls(READING), calls(None)) for _ in range(ROUNDS)]
    print(f"a call of a tool that reads: {median(a / b for a, b in pairs):.2f} of one without flows")


def seconds(work: Callable[[], object]) -> float:
    """The median time of some work."""
    work()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return median(times)


def read(number: int) -> int:
    """A tool that reads."""
    return number


def save(text: str) -> None:
    """A tool that acts."""


READING = Flows(rules={"save": goal}, readonly=["read"])


def calls(flows: Flows | None) -> float:
    """The time of an episode whose plan makes many calls."""
    reply = f"```python\ndef solution(agent, start_from=1):\n    for n in range({CALLS}):\n        agent.read(n)\n```"
    began = time.perf_counter()
    codeplan.do("g", tools=[read, save], model=lambda messages: reply, flows=flows, tries=1, limits={"calls": CALLS})
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
