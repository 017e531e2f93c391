"""Mutants: how a plan is changed, and whether its tests notice."""

from __future__ import annotations

import pytest
from support.plan_suites import MANIFEST, write

from codeplan.errors import UsageError
from codeplan.testing.cases import CaseRunner, PlanSuite
from codeplan.testing.mutation import format_summary, make_mutants, run_mutants

PLAN = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] go')
        place = 'fridge 1'
        if not agent.holding:
            agent.take('äpple 1', 'desk 2')
        answer = agent.goto('fridge 1')
        n = [ask_llm('Where is fridge 3?'), answer][0]
        assert answer == place and n, f'Error in [Step 1]: {agent.report()} {n[0]}'
"""


def test_mutants_change_everything_except_messages():
    assert [m.name for m in make_mutants(PLAN)] == [
        "step 1: turn round not agent.holding",
        "step 1: leave out agent.take('äpple 1', 'desk 2')",
        "step 1: 'desk 3' instead of 'desk 2'",
        "step 1: 'fridge 1' instead of 'desk 2'",
        "step 1: leave out agent.goto('fridge 1')",
        "step 1: 'fridge 2' instead of 'fridge 1'",
        "step 1: 'desk 2' instead of 'fridge 1'",
        "step 1: 1 instead of 0",
        "step 1: assert nothing instead of answer == place and n",
        "step 1: assert without answer == place",
        "step 1: assert without n",
    ]


def test_a_mutant_differs_from_the_plan_in_one_place():
    found = {m.name: m.source for m in make_mutants(PLAN)}
    assert found["step 1: leave out agent.take('äpple 1', 'desk 2')"] == PLAN.replace(
        "agent.take('äpple 1', 'desk 2')", "pass"
    )
    assert found["step 1: 'desk 3' instead of 'desk 2'"] == PLAN.replace("desk 2", "desk 3")
    assert found["step 1: assert without n"] == PLAN.replace("answer == place and n", "(answer == place)")


def test_names_of_mutants_are_stable_when_other_parts_change():
    longer = PLAN.replace("        place =", "        other = 1\n\n        place =")
    assert [m.name for m in make_mutants(longer)] == [m.name for m in make_mutants(PLAN)]


def test_invalid_python_has_no_mutants():
    with pytest.raises(UsageError, match="the plan cannot be mutated"):
        make_mutants("def (")


def scored(tmp_path, manifest, plan=None):
    return run_mutants(CaseRunner(PlanSuite(write(tmp_path, manifest, plan))))


def test_only_faults_expose_weakened_assertions(tmp_path):
    bare = scored(tmp_path, MANIFEST)
    assert [t.killer for t in bare.results if t.mutant.kind == "assertion"] == [""] * 6
    hard = scored(tmp_path, 'faults = ["nothing"]\n' + MANIFEST)
    assert [t.mutant.name for t in hard.results if t.mutant.kind == "assertion" and not t.killer] == [
        "step 2: assert just agent.holding"
    ]
    assert "step 3   assertion strength 2/2 (100 %)" in format_summary(hard)


def test_explained_survivors_do_not_count_and_killed_mutants_need_no_explanation(tmp_path):
    name = "step 2: assert just agent.holding"
    gone = "step 4: leave out agent.put(found, 'diningtable 1')"
    reasons = f'[mutation]\nat_least = 0.1\n[mutation.survivors]\n"{name}" = "the hand is empty before"\n"{gone}" = "?"\n"x" = "?"\n'
    score = scored(tmp_path, MANIFEST + reasons)
    assert [m.name for m in score.explained] == [name]
    assert score.complaints == (
        f"{score.label}: the mutant {gone!r} is explained, but is killed; remove it from 'survivors'",
        f"{score.label}: the mutant 'x' is explained, but is not there; remove it from 'survivors'",
    )


def test_tests_that_fail_with_the_unchanged_plan_have_no_score(tmp_path):
    with pytest.raises(UsageError, match="clean/418 fails with the unchanged plan: it took 6 actions"):
        scored(tmp_path, MANIFEST + "expect = { actions = 5 }\n")
