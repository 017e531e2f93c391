"""The demonstrations that executors and planners see: which, where they are found, and that they can be read."""

import re

import pytest
from support.boxes import BoxesInWords, Replies

from codeplan import envs
from codeplan.envs.household.environment import Household
from codeplan.errors import UsageError
from codeplan.methods.react import ReAct
from codeplan.planning.decomposition import ExpressionNode, parse_decomposition
from codeplan.prompts.templates import Prompts
from codeplan.runner.episodes import run

PROMPTS = Prompts.cached()
GIVE_UP = "think: Task failed!"


def system_prompt(env, task, method):
    model = Replies(GIVE_UP)
    run(env, task, method, model)
    return model.asked[0][1][0]["content"]


@pytest.mark.parametrize(
    ("sort", "skills", "whole"), [("standard", 0, 1), ("atomic", 6, 0), ("hybrid", 6, 2), ("task", 0, 2)]
)
def test_an_executor_in_the_household_sees_the_demonstrations_of_its_sort(sort, skills, whole):
    shown = system_prompt(Household(), "cool/3", ReAct(demonstrations=sort))
    assert shown.count("You are in the middle of a room") == whole + bool(skills)
    assert shown.count("Your task is to:") == skills + whole
    assert shown.count("Task completed!\nOK.") == skills + whole


@pytest.mark.parametrize("kind", Household.kinds)
def test_a_task_specific_executor_sees_two_trajectories_of_the_tasks_own_kind(kind):
    shown = system_prompt(Household(), f"{kind}/3", ReAct(demonstrations="task"))
    used = {"clean": "clean ", "heat": "heat ", "cool": "cool ", "examine": "use "}
    for name, action in used.items():
        assert len(re.findall(rf"^> {action}", shown, re.MULTILINE)) == (2 if name == kind else 0)
    puts = {"pick_two": 4, "examine": 0}.get(kind, 2)
    assert len(re.findall(r"^> put ", shown, re.MULTILINE)) == puts


@pytest.mark.parametrize("kind", ["heat", "pick_two"])
def test_the_two_demonstrations_of_a_task_are_different_ones_in_their_order(kind):
    chosen = ReAct(demonstrations="task").choose_examples("household", kind, "another goal")
    assert chosen == [PROMPTS.sample("react/household", f"{kind}_{number}") for number in (1, 2)]
    assert len({*chosen}) == 2


def test_the_hybrid_executor_has_the_skills_and_a_trajectory_of_heat_and_of_examine():
    shown = PROMPTS.sample("react", "household_hybrid")
    assert PROMPTS.sample("react", "alfworld_hybrid") == shown
    parts = [PROMPTS.sample("react", "household_atomic")]
    parts += [PROMPTS.sample("react/household", f"{kind}_1") for kind in ("heat", "examine")]
    assert shown.split() == " ".join(parts).split()


@pytest.mark.parametrize("sort", ["atomic", "hybrid", "task", "naive"])
def test_a_sort_that_the_environment_has_not_is_refused(sort):
    with pytest.raises(UsageError, match=f"no demonstrations of the sort {sort} for boxes"):
        run(BoxesInWords(), "ball/2", ReAct(demonstrations=sort), Replies(GIVE_UP))


def test_the_naive_controller_is_shown_in_webshop_alone():
    shown = system_prompt(envs.make("webshop"), "buy/0", ReAct(demonstrations="naive"))
    assert "buy it without looking at any other" in shown
    with pytest.raises(UsageError, match="naive for household"):
        run(Household(), "cool/3", ReAct(demonstrations="naive"), Replies(GIVE_UP))


@pytest.mark.parametrize("planner", ["adapt", "plan_and_execute"])
@pytest.mark.parametrize("env", ["household", "alfworld", "textcraft"])
def test_each_plan_of_a_demonstration_can_be_read(planner, env):
    goals = PROMPTS.sample(planner, env).split("\nGoal: ")[1:]
    assert [parse_decomposition(goal) for goal in goals]


def test_adapts_planner_sees_six_plans_five_with_and_one_with_or():
    goals = PROMPTS.sample("adapt", "alfworld").split("\nGoal: ")[1:]
    orders = [parse_decomposition(goal).order for goal in goals]
    assert [order.operator for order in orders] == ["AND"] * 5 + ["OR"]


def test_plan_and_executes_plans_mix_and_with_or():
    for env in ("alfworld", "textcraft"):
        for goal in PROMPTS.sample("plan_and_execute", env).split("\nGoal: ")[1:]:
            order = parse_decomposition(goal).order
            assert order.operator == "AND"
            assert any(isinstance(part, ExpressionNode) and part.operator == "OR" for part in order.parts)
