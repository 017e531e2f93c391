"""ReAct's worked trajectories by kind, played again in their rooms, and the text-planner's plans in words."""

import re

import pytest

from codeplan.envs.household.environment import Household
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.errors import UsageError
from codeplan.methods.react import ReAct
from codeplan.planning.asking import SampleSettings, choose_samples
from codeplan.planning.turns import is_thought, parse_claim
from codeplan.prompts.templates import Prompts

SEEDS = {
    **{"pick_1": 2000, "pick_2": 2002, "clean_1": 2000, "clean_2": 2001, "heat_1": 2000, "heat_2": 2002},
    **{"cool_1": 2001, "cool_2": 2002, "examine_1": 2001, "examine_2": 2002, "pick_two_1": 2001, "pick_two_2": 2002},
}
"""The task of the training split that each trajectory is about, in an easy room."""

PROMPTS = Prompts.cached()
KINDS = Household.kinds


@pytest.mark.parametrize("name", SEEDS)
def test_a_trajectory_is_what_the_household_answers(name):
    room, goal, *lines = PROMPTS.sample("react/household", name).splitlines()
    env = Household(difficulty="easy")
    task = env.task(name.rpartition("_")[0], SEEDS[name])
    assert room in env.reset(task).text.splitlines()
    assert goal == f"Your task is to: {task.goal}"
    turns = list(zip(lines[::2], lines[1::2], strict=True))
    for line, answer in turns:
        assert line.startswith("> ")
        if is_thought(line[2:]):
            assert answer == "OK."
        else:
            last = env.step(line[2:])
            assert answer == last.text
    assert last.success and parse_claim(turns[-1][0])


@pytest.mark.parametrize("env", ["household", "alfworld"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_task_specific_react_shows_two_trajectories_of_the_kind(env, kind):
    shown = ReAct(demonstrations="task").choose_examples(env, kind, "x")
    assert shown == [PROMPTS.sample("react/household", f"{kind}_{n}") for n in (1, 2)]


@pytest.mark.parametrize("kind", KINDS)
def test_by_default_react_shows_one_trajectory_for_all_kinds(kind):
    assert ReAct().choose_examples("household", kind, "x") == [PROMPTS.sample("react", "household")]
    assert ReAct(example=False, demonstrations="task").choose_examples("household", kind, "x") == []


@pytest.mark.parametrize(("env", "kind"), [("textcraft", "depth2"), ("household", "sweep")])
def test_without_trajectories_of_the_kind_the_task_specific_react_is_refused(env, kind):
    with pytest.raises(
        UsageError, match=f"no demonstrations of the sort task for {env} .no prompt react/{env}/{kind}_1"
    ):
        ReAct(demonstrations="task").choose_examples(env, kind, "x")
    assert ReAct().choose_examples("scienceworld", "boil", "x") == []


def test_a_trajectory_of_the_very_task_is_left_out():
    shown = ReAct(demonstrations="task").choose_examples("household", "heat", "Put a hot tomato in fridge")
    assert shown == [PROMPTS.sample("react/household", "heat_2")]


# ------------------------------------------------------------------ plans in words


@pytest.mark.parametrize("env", ["household", "alfworld", "miniwob"])
def test_the_text_planner_has_a_plan_in_words_for_each_plan_in_code(env):
    several = [f"{page}_{n}" for page in MiniWob().kinds for n in (2, 3)]
    named = (*MiniWob().kinds, *several) if env == "miniwob" else KINDS
    kinds = [name for name in named if env != "miniwob" or PROMPTS.sample(env, name)]
    code = f"{env}" if env == "miniwob" else f"{env}/paper_samples"
    for kind in kinds:
        words, plan = PROMPTS.sample(f"text_planner/{env}", kind), PROMPTS.sample(code, kind)
        task = re.search(r"^# (Task: .*)$", plan, re.MULTILINE)[1]
        assert task in words.splitlines()
        steps = [int(n) for n in re.findall(r"^(\d)\. ", words, re.MULTILINE)]
        assert steps == list(range(1, len(steps) + 1)) and steps
        assert words.count("It is done when") == len(steps)


@pytest.mark.parametrize("env", [Household(), MiniWob()])
def test_the_text_planner_chooses_by_kind_as_adaplanner_does(env):
    kind = "heat" if env.name == "household" else "terminal"
    (shown,) = choose_samples(PROMPTS, env, kind, "x", SampleSettings(), method="text_planner")
    assert shown.text == PROMPTS.sample(f"text_planner/{env.name}", kind)
    assert shown.relation == "another task of this kind"
    assert choose_samples(PROMPTS, env, kind, "x", SampleSettings(count=0), method="text_planner") == ()
