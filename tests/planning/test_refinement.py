"""The refinement loop in a small environment: plans run in the real sandbox, the model's replies are given."""

import re

import pytest
from support.boxes import Boxes, Replies

from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.planning.refinement import LoopSettings
from codeplan.recording.events import PlanDrafted, PlanRejected, PlanStarted, StepEntered
from codeplan.runner.episodes import run
from codeplan.types import NotSolved

LOOK = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] think of a box')
        first = {first}
        assert first, f'Error in [Step 1]: no box'
    if start_from <= 2:
        print('[Step 2] look into it')
        found = agent.open({box})
        assert 'ball' in found, f'Error in [Step 2]: no ball in {{first}}. {{agent.report()}}'
"""


def plan(first=1, box="first"):
    return f"Here it is:\n```python\n{LOOK.format(first=first, box=box)}```\n"


def play(*replies, task="ball/2", env=None, **settings):
    """The result, the model with what it was asked, and the events."""
    model, events = Replies(*replies), []
    result = run(env or Boxes(), task, model=model, on_event=events.append, **settings)
    return result, model, events


def starts(events):
    return [e.start_from for e in events if isinstance(e, PlanStarted)]


def test_after_a_failed_assertion_the_refined_plan_resumes_at_the_step_that_differs():
    result, model, events = play(plan(), plan(box="first + 1"))
    assert result.success
    assert model.purposes == ["plan", "refine"]
    assert starts(events) == [1, 2]
    assert [e.step for e in events if isinstance(e, StepEntered)] == [1, 2, 2]


def test_a_refused_plan_is_repaired_before_it_runs():
    broken = plan(first=2).replace("agent.open", "agent.look_into")
    result, model, events = play(broken, plan(first=2))
    assert result.success
    assert model.purposes == ["plan", "check"]
    assert "look_into" in "\n".join(m["content"] for m in model.asked[1][1])
    assert any(isinstance(e, PlanRejected) for e in events)
    assert [e.origin for e in events if isinstance(e, PlanDrafted)] == ["plan", "check"]


def test_a_plan_that_the_second_repair_mends_is_the_same_try():
    result, model, _ = play("no code at all", "nor here", plan(first=2), tries=1)
    assert result.success
    assert model.purposes == ["plan", "check", "check"]


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_a_plan_runs_as_often_as_there_are_tries(tries):
    result, model, events = play(*[plan()] * 3, task="ball/3", tries=tries)
    assert (len(starts(events)), result.refinements) == (tries, tries - 1)
    assert result.ending == NotSolved(f"no success in {tries} {'try' if tries == 1 else 'tries'}")
    assert model.purposes == ["plan", *["refine"] * (tries - 1)]


@pytest.mark.parametrize(("start_over_from", "begun"), [(1, [1, 1, 1]), (2, [1, 1, 1]), (3, [1, 2, 1]), (4, [1, 2, 2])])
def test_plans_start_over_from_the_configured_try(start_over_from, begun):
    wrong = [plan(), *[plan(box=f"first + {n} - {n}") for n in range(1, 3)]]
    _, _, events = play(*wrong, task="ball/3", tries=3, start_over_from=start_over_from)
    assert starts(events) == begun


def test_the_papers_procedure_asks_for_a_check_and_for_the_step():
    result, model, events = play(
        plan(), plan(), plan(box="first + 1"), "Step 2", code_check="always", resume_by="model"
    )
    assert result.success
    assert model.purposes == ["plan", "check", "refine", "resume"]
    assert starts(events) == [1, 2]


def test_the_model_cannot_resume_past_the_step_that_failed():
    result, _, events = play(plan(), plan(first=2), "9", plan(first=2), "Step 1", resume_by="model")
    assert starts(events) == [1, 2, 1]
    assert result.success


def test_a_plan_that_ends_without_success_is_refined_too():
    idle = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = 1\n        assert x\n"
    result, model, events = play(idle, plan(first=2))
    assert result.success
    assert "ran to its end" in "\n".join(m["content"] for m in model.asked[1][1])


def test_a_plan_of_no_steps_runs_as_from_step_1():
    result, _, events = play("def solution(agent, start_from=1):\n    agent.open(start_from + 1)\n")
    assert result.success
    assert starts(events) == [1]


def test_a_plan_that_acts_on_after_the_end_is_stopped_and_the_success_stands():
    greedy = plan(first=2).replace("        assert 'ball'", "        agent.open(1)\n        assert 'ball'")
    result, _, _ = play(greedy)
    assert result.success
    assert result.actions == 1


def test_an_environment_that_ends_the_episode_ends_the_loop():
    result, model, _ = play(plan(), env=Boxes(max_actions=1))
    assert not result.success
    assert result.reason == "the environment ended the episode"
    assert model.purposes == ["plan"]


def test_a_spent_budget_is_a_result_with_its_name():
    result, _, _ = play(plan(), plan(), budget=Budget(model_calls=1))
    assert result.reason == "budget: the budget of 1 model calls is spent"
    result, _, _ = play(plan(), plan(), budget=Budget(refinements=0))
    assert result.reason == "budget: the budget of 0 refinements is spent"


def test_a_plan_asks_the_model_in_plan():
    asking = plan(first="int(ask_llm('Which box?'))")
    result, model, _ = play(asking, "2")
    assert result.success
    assert (result.asks, model.purposes) == (1, ["plan", "ask"])


def test_a_wrong_setting_is_refused_with_what_is_valid():
    with pytest.raises(UsageError, match="resume_by"):
        play(plan(), resume_by="magic")
    with pytest.raises(UsageError, match=r"no setting 'trees'.*did you mean 'tries'"):
        play(plan(), trees=3)
    with pytest.raises(UsageError, match="tries"):
        play(plan(), tries=0)


@pytest.mark.parametrize(("name", "least"), [("tries", 1), ("start_over_from", 1), ("replans", 0), ("no_progress", 0)])
def test_a_setting_of_the_loop_has_a_least_value(name, least):
    assert getattr(LoopSettings(**{name: least}), name) == least
    with pytest.raises(UsageError, match=rf"^{name} must be {least} or more \(got {least - 1}\)$"):
        LoopSettings(**{name: least - 1})


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("mine = Counter()\n        mine['a'] = mine", "mine = Counter({'a': <the enclosing Counter>})"),
        ("huge = [10 ** 5000]", "huge = [<an int of 16,610 bits>]"),
    ],
)
def test_the_model_sees_odd_variables_without_an_address_and_within_bounds(code, told):
    head = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] count')\n"
    _, model, _ = play(*[f"{head}        {code}\n        assert agent.open(1) == 'x', 'no'\n"] * 2, tries=2)
    assert told in model.asked[1][1][-1]["content"]


def test_the_variables_of_a_plan_that_was_left_behind_do_not_come_back():
    broken = plan(first=2, box="[][0]").replace(
        "    if start_from <= 1:", "    nowhere = [][start_from]\n    if start_from <= 1:", 1
    )
    result, _, events = play(plan(), broken, plan(first=2))
    assert result.success
    assert starts(events) == [1, 1, 1]
    assert [e.restored for e in events if isinstance(e, PlanStarted)][-1] == ()


ASKING = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.open({0})\n        replan('box {0} is heavy')\n"


def test_the_prompt_says_how_many_tries_and_replans_are_left():
    replies = [ASKING.format(1), ASKING.format(2), ASKING.format(4), plan(), plan()]
    _, model, _ = play(*replies, task="ball/3", tries=3, replans=2)
    told = [messages[-1]["content"] for _, messages in model.asked[1:]]
    left = [[re.findall(rf"{what}: (\d+)", text) for what in ("runs of a plan", "replans")] for text in told]
    assert left == [[["3"], ["1"]], [["3"], ["0"]], [["2"], ["0"]], [["1"], ["0"]]]
