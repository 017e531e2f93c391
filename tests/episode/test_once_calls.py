"""The ledger of calls that are made once, over plans whose steps change their numbers."""

import importlib
import sys
from pathlib import Path

import pytest
from support.boxes import Replies

import codeplan

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def step(number, body):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"    if start_from <= {number}:\n        print('[Step {number}] act')\n{lines}"


def test_a_renumbered_step_that_goes_on_makes_no_call_again():
    sent = []

    def send(to: str) -> str:
        sent.append(to)
        return to

    def look() -> int:
        return 0

    head, fails = "def solution(agent, start_from=1):\n", "assert agent.look(), 'Error: nothing to see'"
    result = codeplan.do(
        "send a letter",
        tools=[send, look],
        once=["send"],
        model=Replies(
            head + step(1, "agent.send('ann')") + step(2, fails),
            head + step(1, "agent.look()") + step(2, "agent.send('ann')") + step(3, fails),
            step(2, "x = agent.send('ann')") + step(3, "assert x") + "    return x\n",
        ),
    )
    assert (result.value, sent) == ("ann", ["ann"])


@pytest.mark.long
def test_a_careless_model_has_no_effect_twice(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    careless = importlib.import_module("careless")
    with_once, without = (careless.play_jobs(4, once=once) for once in (True, False))
    assert (with_once.doubles, with_once.missing, with_once.finished) == (0, 0, 4)
    assert without.doubles > 0 and with_once.repeated > 0
    sys.modules.pop("careless")
