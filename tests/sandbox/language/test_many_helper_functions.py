"""Plans of many helper functions: the check follows their calls in time linear in the plan."""

from __future__ import annotations

from support.sample_worlds import SampleWalker

from codeplan.agent_interface import agent_api
from codeplan.sandbox import Limits, Sandbox
from codeplan.types import Plan

API = agent_api(SampleWalker)
STEPS = """def solution(agent, start_from=1):
    if start_from <= 1:
        place = 'desk 1'
        assert place
    if start_from <= 2:
        assert last()
"""


def chain(length: int) -> str:
    """Functions of which each calls the next; the last one reads what a step sets."""
    between = "".join(f"def f{k}():\n    return f{k + 1}()\n" for k in range(length))
    return f"def last():\n    return f0()\n{between}def f{length}():\n    return LIMIT\nLIMIT = 3\n{STEPS}"


def test_a_chain_of_many_functions_is_checked_within_the_time_limit() -> None:
    found = Sandbox(Limits(wall=30, cpu=30)).check(chain(1_900), API)
    assert isinstance(found, Plan), found.diagnostics[0]
    assert {*found.steps[1].needs} == {"last", "LIMIT", *(f"f{k}" for k in range(1_901))}
