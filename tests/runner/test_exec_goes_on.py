"""A plan that was run without planning goes on like any other episode."""

from __future__ import annotations

from pathlib import Path

import codeplan
from codeplan import Budget
from codeplan.runner.tools import ToolSources, open_goal

PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send the letters')
        sent = [agent.send(name) for name in ['ann', 'bob', 'cid']]
        assert len(sent) == 3, f'Error in [Step 1]: a letter is missing. {agent.report()}'
    return sent
"""


def test_a_plan_over_tools_goes_on_after_its_budget_and_no_model_is_named(tmp_path: Path) -> None:
    log: list[str] = []

    def send(to: str) -> str:
        """Send somebody the letter."""
        log.append(to)
        return to

    with open_goal("Send the letters.", ToolSources(tools=send), tmp_path) as env:
        ran = codeplan.execute(PLAN, env, budget=Budget(actions=1), out=tmp_path / "run")
    assert ran.result.ending.name == "budget_spent" and log == ["ann"]
    result = codeplan.resume(tmp_path / "run", tools=send, budget=Budget(actions=9))
    assert result.value == ["ann", "bob", "cid"] and log == ["ann", "bob", "cid"]
    assert codeplan.replay(tmp_path / "run").value == result.value
