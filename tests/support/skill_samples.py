"""What the tests of the library share: a small skill, and a household's task."""

from codeplan.skills.skill import Skill, SkillOrigin
from codeplan.types import Task

PLAN = """def solution(agent, start_from=1):
    # Parameters, with their values for the task: heat some apple and put it in fridge.
    # the_item: step 1: I look for an apple
    the_item = "apple"
    # the_places: step 1: I look for an apple
    the_places = ["countertop 1", "fridge 1"]
    # End of the parameters.
    if start_from <= 1:
        print(f'[Step 1] I look for a {the_item}')
        assert the_places, f'Error in [Step 1]: nowhere. {agent.report()}'
"""


def skill(name="heat-1", status="active", **more):
    given = {"env": "household", "plan": PLAN, "kind": "heat", "description": "Heat a thing.", "status": status}
    origin = SkillOrigin("heat/2000", "heat some apple and put it in fridge.", "scripted", "runs/1")
    return Skill(**({"name": name, "origins": (origin,)} | given | more))


def task(kind="heat", seed=7, goal="heat some potato and put it in fridge."):
    return Task(f"{kind}/{seed}", "household", kind, goal, seed)
