"""What a call of a Python tool costs: ``python benchmarks/tools.py`` prints microseconds, the median of runs."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Literal

from codeplan.episode import Episode
from codeplan.protocols import LLM
from codeplan.sandbox import Limits, Sandbox
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.types import Finished

CALLS, RUNS = 400, 15


@dataclass
class Query:
    """What to look for."""

    words: list[str]
    limit: int = 10
    order: Literal["name", "age"] = "name"


def plain(x):
    """No annotations: nothing is checked."""
    return x


def typed(name: str, number: int = 3) -> str:
    """Two annotations."""
    return name


def structured(query: Query) -> list[Query]:
    """A dataclass in, dataclasses out."""
    return [query, query]


async def waiting(name: str) -> str:
    """An asynchronous tool."""
    return name


class Direct:
    """The sandbox alone: the agent's method is the function."""

    def plain(self, x: str) -> str:
        """The same without an episode."""
        return x


LINES = {
    "plain": "agent.plain('abc')",
    "typed": "agent.typed('abc', 4)",
    "structured": "agent.structured({'words': ['a', 'b'], 'order': 'age'})",
    "waiting": "agent.waiting('abc')",
}


class _NoModel:
    name = "none"

    def complete(self, *_: object, **__: object) -> None:
        raise AssertionError("no plan asks")


def microseconds(line: str, agent: object) -> float:
    """The time of one call, without that of an empty run."""

    def once(body: str) -> float:
        plan = f"def solution(agent, start_from=1):\n    for i in range({CALLS}):\n        {body}\n"
        began = time.perf_counter()
        outcome = Sandbox(Limits()).run(plan, agent, str)
        assert isinstance(outcome, Finished), outcome
        return time.perf_counter() - began

    return statistics.median(once(line) - once("pass") for _ in range(RUNS)) / CALLS * 1e6


def main() -> None:
    """Print the table."""
    env = ToolEnvironment("measure", Toolset(python_tools(plain, typed, structured, waiting)))
    model: LLM = _NoModel()  # type: ignore[assignment]
    agent = Episode(env, env.tasks("test")[0], model).agent()
    print(f"sandbox alone  {microseconds(LINES['plain'], Direct()):6.0f} us")
    for name, line in LINES.items():
        print(f"{name:13}  {microseconds(line, agent):6.0f} us")
    env.close()


if __name__ == "__main__":
    main()
