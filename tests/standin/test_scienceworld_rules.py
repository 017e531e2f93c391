"""The scripted stand-in in ScienceWorld: what it plans, what it gets wrong, how it mends that; and whole episodes."""

import ast

import pytest
from support.scienceworld_engine import needs_engine
from support.standin_prompts import played
from support.trace_samples import outcomes_of

from codeplan.envs.scienceworld.agent import ROOMS, ScienceWorldAgent
from codeplan.errors import ModelError
from codeplan.recording.events import PlanStarted
from codeplan.standin.model import ScriptedModel, answer_question, rules_for
from codeplan.standin.scienceworld import AGENT_VOCABULARY, MISTAKE_INSERTERS, parse_goal, refine_plan, write_plan
from codeplan.types import Failed

FIND = "Your task is to find a(n) {}. First, focus on the thing. Then, move it to the blue box in the living room."
LIFE = "Your task is to find the animal with the {0} life span.  The animals are in the 'outside' location.  Focus on the animal with the {0} life span."
BOTH = (
    "Your task is to find the animal with the longest life span, then the shortest life span. First, focus on the animal "
    "with the longest life span.  Then, focus on the animal with the shortest life span. The animals are in the 'outside' location."
)
MEASURE = (
    "Your task is to measure the temperature of unknown substance B, which is located around the bathroom. First, focus on the "
    "thermometer. Next, focus on the unknown substance B. If the unknown substance B temperature is above -50.0 degrees celsius, "
    "place it in the blue box. If the unknown substance B temperature is below -50.0 degrees celsius, place it in the orange box. "
    "The boxes are located around the living room."
)
PAINT = "Your task is to use chemistry to create green paint. When you are done, focus on the green paint."
GOALS = [
    *(FIND.format(thing) for thing in ("animal", "living thing", "non-living thing", "plant")),
    *(LIFE.format("longest"), LIFE.format("shortest"), BOTH, MEASURE, PAINT),
]
KINDS = {
    "find-plant/225": "wrong_guess",
    "find-animal/226": "forgotten_walk",
    "lifespan-longest-lived-then-shortest-lived/95": "wrong_guess",
    "use-thermometer/406": "forgotten_walk",
    "chemistry-mix-paint-secondary-color/30": "wrong_guess",
}
"""Tasks of five kinds, with a mistake that only a refinement mends."""


@pytest.mark.parametrize("goal", GOALS)
def test_a_goal_is_understood_and_planned(goal):
    plan = write_plan(parse_goal(goal))
    ast.parse(plan)
    assert plan.count("assert ") >= 2
    assert all(room in ROOMS for room in parse_goal(goal).places)


@pytest.mark.parametrize("goal", ["", "Your task is to boil lead.", PAINT.replace("green", "blue-green")])
def test_other_goals_are_not_understood(goal):
    assert parse_goal(goal) is None
    user = f"<observation>\n{goal}\nYou can take 100 actions.\n\nx\n</observation>\n\n<goal>\n{goal}\n</goal>"
    with pytest.raises(ModelError, match="does not understand"):
        ScriptedModel().complete([{"role": "user", "content": user}], purpose="plan")


def test_the_parts_of_a_goal_reach_the_plan():
    measured = parse_goal(MEASURE)
    assert measured.details == {
        **{"thing": "unknown substance B", "place": "bathroom", "limit": "-50.0"},
        **{"above": "blue box", "below": "orange box"},
    }
    assert "box = 'blue box' if float(read[0]) > -50.0 else 'orange box'" in write_plan(measured)
    assert "for span in ['longest', 'shortest']:" in write_plan(parse_goal(BOTH))
    assert "for colour in ['blue', 'yellow']:" in write_plan(parse_goal(PAINT))


def test_no_wrong_name_is_an_alias_of_the_agents():
    wrong = {name for names in AGENT_VOCABULARY.wrong_names.values() for name in names.split()}
    assert not wrong & set(ScienceWorldAgent._aliases)  # the check would mend them by itself


def test_plans_and_observations_are_taken_for_scienceworlds():
    for goal in GOALS:
        assert rules_for(write_plan(parse_goal(goal))).write_plan is write_plan
    assert rules_for("Your task is to boil tin.\nYou can take 100 actions.\n\nThis room").write_plan is write_plan
    assert rules_for("You are in the middle of a room.\nYour task is to: heat an egg.").write_plan is not write_plan


def test_a_question_about_life_spans_is_answered():
    asked = "Which of the animals ['baby mouse', 'baby brown bear', 'parrot', 'newt'] has the {} life span? Answer …"
    assert answer_question(asked.format("longest")) == "'parrot'"
    assert answer_question(asked.format("shortest")) == "'baby mouse'"


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("name", MISTAKE_INSERTERS)
def test_a_mistake_changes_the_plan_where_it_can(name, goal):
    plan = write_plan(parse_goal(goal))
    changed = [MISTAKE_INSERTERS[name](plan, which) for which in (0.0, 0.4, 0.99)]
    can_happen = name != "forgotten_walk" or "find a(n)" in goal or goal == MEASURE
    assert any(other != plan for other in changed) == can_happen


def test_an_unlikely_place_is_followed_by_the_likely_one():
    goal = parse_goal(FIND.format("plant"))
    wrong = write_plan(goal).replace("places = ['greenhouse', 'outside']", "places = ['bedroom']")
    better = refine_plan(wrong, "[Step 1], line 19: no plant was seen in ['bedroom']. I am in the bedroom", goal)
    assert "places = ['greenhouse', 'outside', 'hallway'," in better
    assert "'bedroom'" not in better.split("places = ")[1].split("\n")[0]


def test_a_forgotten_walk_is_put_in():
    goal = parse_goal(MEASURE)
    right = write_plan(goal)
    wrong = MISTAKE_INSERTERS["forgotten_walk"](right, 0.0)
    assert wrong != right
    assert refine_plan(wrong, "[Step 4], line 40: Error in [Step 4]: it is not in the blue box. I am in", goal) == right


def test_feedback_without_a_fix_leads_to_a_new_plan():
    goal = parse_goal(PAINT)
    assert refine_plan("pass", "[Step 7], line 3 raised ZeroDivisionError: division by zero", goal) == write_plan(goal)


# ------------------------------------------------------------------ episodes


@pytest.mark.long
@needs_engine
@pytest.mark.parametrize("task", KINDS)
def test_a_mistake_is_refined_and_the_plan_resumes_at_its_step(task):
    result, events = played("scienceworld", task, KINDS[task])
    failed = outcomes_of(events, Failed)[0]
    assert result.success
    assert result.refinements == 1
    assert [e.start_from for e in events if isinstance(e, PlanStarted)] == [1, failed.step]
