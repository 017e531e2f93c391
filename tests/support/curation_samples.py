"""Skills for the household that the tests of curation share, made as acquisition makes them, and a poisoned one."""

from codeplan import envs
from codeplan.sandbox import Sandbox
from codeplan.skills.parameter_binding import read_parameters
from codeplan.skills.skill import Skill, SkillOrigin
from codeplan.skills.skill_folder import standard_name
from codeplan.standin.household import parse_goal, write_plan

HOUSEHOLD = envs.make("household")


def made(kind, seed=2003, name="", edit=lambda plan: plan):
    """A sound plan for a task, made general; ``edit`` changes it before."""
    task = HOUSEHOLD.task(kind, seed)
    first = HOUSEHOLD.reset(task).text
    plan = edit(write_plan(parse_goal(task.goal, first)))
    found = Sandbox().analyse("generalise", plan, {"goal": task.goal, "first": first, "later": ""})["source"]
    names = tuple(p.name for p in read_parameters(found).parameters)
    return Skill(
        name or standard_name(f"{kind}-good"),
        "household",
        found,
        kind,
        "",
        names,
        origins=(SkillOrigin(task.id, task.goal),),
    )


def poisoned(kind, seed=2003):
    """Right on its own task, wrong on most others: the receptacle that the thing goes to is spelled out in pieces."""
    task = HOUSEHOLD.task(kind, seed)
    target = parse_goal(task.goal, HOUSEHOLD.reset(task).text).target
    spelled = f"'{target[:3]}' + '{target[3:]}'"
    return made(kind, seed, standard_name(f"{kind}-poisoned"), lambda plan: plan.replace(f"'{target}')", f"{spelled})"))
