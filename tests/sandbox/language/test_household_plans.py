"""Whole household plans do the same in the sandbox as in plain Python."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Callable

import pytest

from codeplan import envs
from codeplan.sandbox import Sandbox
from codeplan.standin.household import parse_goal, write_plan
from codeplan.standin.model import answer_question
from codeplan.types import Failed, Finished, Observation, Plan

KINDS = ("pick", "clean", "heat", "cool", "examine", "pick_two")


class House:
    """A household at its start, with an agent whose actions and questions are recorded."""

    def __init__(self, kind: str, seed: int) -> None:
        self.env = envs.make("household")
        task = self.env.task(kind, seed)
        self.start = self.env.reset(task)
        self.goal = task.goal
        self.actions: list[str] = []
        self.asked: list[str] = []
        self.agent = self.env.agent(self.act, self.start)

    def act(self, action: str) -> Observation:
        self.actions.append(action)
        return self.env.step(action)

    def ask(self, question: str) -> str:
        self.asked.append(question)
        return answer_question(question)

    def plan(self) -> str:
        chore = parse_goal(self.goal, self.start.text)
        assert chore is not None
        return write_plan(chore)


def plainly(source: str, house: House) -> tuple[str, str]:
    """Return what plain Python prints, and the message of the final error."""
    space: dict[str, object] = {"ask_llm": house.ask, "literal_eval": ast.literal_eval, "re": re}
    printed, message = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        exec(source, space)
        solution = space["solution"]
        assert isinstance(solution, Callable)  # type: ignore[arg-type]  # the abstract class will do
        try:
            solution(house.agent)
        except Exception as error:
            message = str(error)
    return printed.getvalue(), message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seed", "spoilt"), [(0, False), (1, True)])
def test_a_household_plan_does_what_plain_python_does(kind: str, seed: int, spoilt: bool) -> None:
    plain, caged = House(kind, seed), House(kind, seed)
    source = plain.plan()
    if spoilt:
        source = re.sub(r"agent\.take\([^)]*\)", "agent.report()", source)
    plan = Sandbox().check(source, type(caged.agent))
    assert isinstance(plan, Plan), plan

    outcome = Sandbox().run(plan, caged.agent, caged.ask)

    assert isinstance(outcome, Finished | Failed), outcome
    message = outcome.message if isinstance(outcome, Failed) else ""
    assert (outcome.output, message) == plainly(source, plain)
    assert (caged.actions, caged.asked) == (plain.actions, plain.asked)
    assert message or not spoilt
