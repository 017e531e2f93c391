"""Coverage: the worker reports the lines that ran."""

from __future__ import annotations

from codeplan.sandbox import Sandbox
from codeplan.sandbox.host.backend import LineCoverage
from codeplan.testing.coverage import MissedBranch, PlanCoverage, coverage_percent, format_table
from codeplan.types import Finished

PLAN = """\
def solution(agent, start_from=1):
    def half(number):
        if number > 2:
            return 1
        return number

    if start_from <= 1:
        print('[Step 1] count')
        found = [half(n) for n in (1, 2)]
        for n in found:
            if n > 9:
                print('large')
        assert found, 'Error in [Step 1]'
    if start_from <= 2:
        print('[Step 2] go on')
        assert (
            found
        ), 'Error in [Step 2]'
"""


class Agent:
    """An agent that only reports."""

    def report(self) -> str:
        """Report."""
        return "well"


def covered(plan: str, start_from: int = 1) -> PlanCoverage:
    reports: list[LineCoverage] = []
    outcome = Sandbox().run(plan, Agent(), str, start_from, on_coverage=reports.append)
    assert isinstance(outcome, Finished), outcome
    return PlanCoverage("plan.py", plan, [arc for c in reports for arc in c.arcs])


def test_coverage_knows_the_lines_branches_and_steps_that_ran():
    found = covered(PLAN)
    assert found.missed_lines == (4, 12)
    assert found.missed_branches == (MissedBranch(3, 4), MissedBranch(11, 12))
    assert (found.steps, found.lines, found.branches) == ((2, 2), (10, 12), (4, 6))
    assert coverage_percent([found]) == 100 * 14 / 18


def test_a_step_that_was_never_entered_is_missing():
    plan = PLAN.replace("    if start_from <= 2:", "    if found:\n        return\n    if start_from <= 2:")
    assert covered(plan).missed_steps == (2,)


def test_both_branches_of_a_condition_count():
    plan = "def solution(agent, start_from=1):\n    n = 0\n    while n < 3:\n        n += 1\n        if n == 2:\n            n = 5\n"
    assert covered(plan).missed_branches == ()


def test_a_finally_is_left_from_its_last_line():
    plan = (
        "def solution(agent, start_from=1):\n    for n in (0, 1):\n        try:\n            pass\n        finally:\n"
        "            if n:\n                print(n)\n        print('next')\n"
    )
    reports: list[LineCoverage] = []
    Sandbox().run(plan, Agent(), str, on_coverage=reports.append)
    arcs = {arc for c in reports for arc in c.arcs}
    assert {(6, 7), (6, 8), (7, 8)} <= arcs
    assert not {(7, 6), (6, 6)} & arcs


def test_a_coroutine_that_waits_is_not_left_and_entered_again():
    plan = """\
def solution(agent, start_from=1):
    async def twice(number):
        said = await asyncio.gather(agent.report(), asyncio.sleep(0))
        if number > 1:
            await asyncio.sleep(0)
        return said
    seen = await asyncio.gather(twice(1), twice(2))
    if seen:
        return seen
"""
    reports: list[LineCoverage] = []
    Sandbox().run(plan, Agent(), str, on_coverage=reports.append)
    arcs = {arc for c in reports for arc in c.arcs}
    assert {(3, 4), (4, 5), (4, 6), (5, 6), (6, 0), (7, 8)} <= arcs
    assert not {(3, 0), (0, 4), (5, 0), (0, 6), (7, 0), (0, 8)} & arcs


def test_lines_before_a_call_are_reported_before_it():
    reports: list[LineCoverage] = []

    class Asking(Agent):
        def report(self) -> str:
            """All is well."""
            assert any(3 in arc for c in reports for arc in c.arcs)
            return "well"

    plan = "def solution(agent, start_from=1):\n    n = 1\n    n += 1\n    agent.report()\n"
    assert isinstance(Sandbox().run(plan, Asking(), str, on_coverage=reports.append), Finished)


def test_a_run_without_coverage_reports_no_lines_and_ends_the_same():
    seen, unseen = (Sandbox().run(PLAN, Agent(), str, on_coverage=cover) for cover in (lambda covered: None, None))
    assert isinstance(seen, Finished)
    assert isinstance(unseen, Finished)
    assert (seen.output, seen.checkpoint) == (unseen.output, unseen.checkpoint)


def test_the_table_names_what_is_missing():
    assert format_table([covered(PLAN)])[1] == "plan.py      2/2    10/12       4/6    78 %  4, 12, 3->4, 11->12"


def test_invalid_python_has_no_lines_to_run():
    assert coverage_percent([PlanCoverage("plan.py", "def (", [])]) == 100.0
