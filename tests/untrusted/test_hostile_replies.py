"""Whole episodes of hostile replies: each ends by name, within its budget of seconds."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.boxes import Boxes, BoxesInWords, Replies

import codeplan
from codeplan.budget import Budget
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.methods.adapt import Adapt
from codeplan.methods.react import ReAct
from codeplan.types import Completion

pytestmark = pytest.mark.long

LENGTH = 250_000
HOSTILE = {
    "tildes and a tick": "~~~" + "a" * LENGTH + "`",
    "an execution order of colons": "Step 1: go\nexecution order" + " :" * (LENGTH // 2),
    "brackets": "Step 1: go\nExecution order: " + "(" * LENGTH,
    "joined steps": "Step 1: go\nExecution order: 1" + " AND 1" * (LENGTH // 6) + " AND",
    "an action's number": "action" + " " * LENGTH + "x",
    "prompt signs": "> " * (LENGTH // 2),
    "nested brackets in a plan": "def solution(agent, start_from=1):\n    x = " + "(" * LENGTH,
    "lines": "x\n" * (LENGTH // 2),
    "zeros": "\0" * LENGTH,
    "an indentation ladder": "def solution(agent, start_from=1):\n" + "".join(f"{' ' * n}if 1:\n" for n in range(700)),
}
READ_BY = {
    "plans": ("tildes and a tick", "nested brackets in a plan", "lines", "zeros", "an indentation ladder"),
    "turns": ("an action's number", "prompt signs", "lines", "zeros"),
    "sub-tasks": ("an execution order of colons", "brackets", "joined steps", "zeros"),
}
"""The replies that are hard to read for methods of each kind."""
METHODS = {"plans": AdaPlanner, "turns": ReAct, "sub-tasks": lambda: Adapt(first="plan")}


class Same(Replies):
    """Gives one reply again and again."""

    def complete(self, *given: Any, **options: Any) -> Completion:
        self.replies = [self.replies[0]] * 2
        return super().complete(*given, **options)


@pytest.mark.parametrize(("kind", "reply"), [(kind, reply) for kind, replies in READ_BY.items() for reply in replies])
def test_an_episode_of_hostile_replies_ends_in_time(kind: str, reply: str) -> None:
    env: Any = Boxes() if kind == "plans" else BoxesInWords()
    method: Any = METHODS[kind]
    started = time.monotonic()
    result = codeplan.run(
        env, env.tasks("test")[0], method(), Same(HOSTILE[reply]), budget=Budget(seconds=10, model_calls=12)
    )
    assert not result.success
    assert result.reason
    assert time.monotonic() - started < 20
