"""Half of a surrogate pair, wherever a plan, a tool or a model puts it: the plan's own error, or escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import codeplan
from codeplan.cli import main
from codeplan.recording.events import ModelCalled
from codeplan.recording.trace import Trace
from codeplan.report.event_view import event_rows
from codeplan.types import Claimed, Completion, Message, NotSolved

HALF = r"'a\ud800b'"


def count(fruit: str) -> int:
    return 12


count.__doc__ = "How many. \ud800"  # Python 3.13 compiles no such docstring


def show(**things: int) -> str:
    """Show."""
    return "ok"


def take(x: object) -> str:
    """Take anything."""
    return "ok"


def tell() -> str:
    """Tell."""
    return "t\udc80"


def fail(x: str = "") -> str:
    """Fail."""
    raise ValueError(f"f\udc80 {x}")


ERRORS = {
    "an argument": f"agent.count({HALF})",
    "an argument's inside": f"agent.take([1, {{'a': ({HALF},)}}])",
    "a key of an argument": f"agent.take({{{HALF}: 1}})",
    "the name of a parameter": f"agent.show(**{{{HALF}: 1}})",
    "the name of a method": f"getattr(agent, {HALF})",
    "the name of a class": f"type({HALF}, (), {{}})",
    "the name of a field": f"dataclasses.make_dataclass('A', [{HALF}])",
    "an argument of calls at the same time": f"each(agent.count, ['a', {HALF}])",
    "a question to the user": f"ask_user('What is ' + {HALF})",
    "an error of a tool": "agent.fail()",
    "an assertion": f"int({HALF})",
}
VALUES = {
    "what is printed": f"print({HALF})",
    "a step's title": f"print('[Step 1] ' + {HALF})",
    "a value": f"{{{HALF}: [{HALF}, ({HALF},)]}}",
    "a question": f"ask_llm('What is ' + {HALF}, {{'k': {HALF}}})",
    "a tool's answer": "agent.tell()",
    "a default": f"getattr(agent, 'none', {HALF})",
    "JSON": "json.loads('\"\\\\ud800\"')",
}
PLAN = """\
import dataclasses
import json
def solution(agent, start_from=1):
    x = None
    if start_from <= 1:
        x = {body}
        assert True
    if start_from <= 2:
        print(x)
        assert start_from == 2, 'no ' + str(x) + agent.tell()
    return x
"""


def play(body: str, out: Path) -> codeplan.Result:
    """Two tries of a plan whose second step fails at first, and what is shown of the run."""

    def model(messages: list[Message]) -> Completion:
        is_question = "What is" in messages[-1]["content"] and "solution" not in messages[-1]["content"]
        return Completion("A \ud800." if is_question else PLAN.format(body=body), model="m\udc80", reasoning="r\udc80")

    tools = [count, show, take, tell, fail]
    return codeplan.do("Count.", tools=tools, model=model, ask_user=lambda _: "Yes \udc80.", tries=2, out=out)


def shown(out: Path, capsys: Any) -> str:
    events = Trace.read(out / "trace.jsonl")
    rows = "\n".join(row.text for row in event_rows(events))
    assert main(["replay", str(out)]) in (0, 1)
    assert main(["report", str(out), "--out", str(out.parent / "report.html")]) == 0
    assert main(["show", str(out), "--json"]) == 0
    capsys.readouterr()
    (call, *_) = [event for event in events if isinstance(event, ModelCalled)]
    assert main(["show", str(out), "--event", str(call.seq)]) == 0
    assert "reasoning:\nr\\udc80\n\nreply:" in capsys.readouterr().out
    rows.encode()
    return rows


@pytest.mark.parametrize("name", ERRORS)
def test_it_is_the_plans_own_error_as(name: str, tmp_path: Path, capsys: Any) -> None:
    result = play(ERRORS[name], tmp_path / "run")
    assert isinstance(result.ending, NotSolved)
    assert "step 1" in shown(tmp_path / "run", capsys)


@pytest.mark.parametrize("name", VALUES)
def test_it_is_kept_or_escaped_as(name: str, tmp_path: Path, capsys: Any) -> None:
    result = play(VALUES[name], tmp_path / "run")
    assert isinstance(result.ending, Claimed)
    assert "no " in shown(tmp_path / "run", capsys)
