"""The scripted stand-in and exemplars: it lacks what none shows, and follows what one says, right or wrong."""

import re

import pytest
from support.standin_prompts import PLAIN

from codeplan import envs
from codeplan.errors import UsageError
from codeplan.planning.asking import WorkedExample
from codeplan.prompts.templates import Prompts
from codeplan.runner.episodes import run
from codeplan.skills.library import FixedStore
from codeplan.skills.skill import Skill
from codeplan.standin.model import ScriptedModel

TREATED = ("clean", "heat", "cool")
HOUSEHOLD = envs.make("household")


def planned(kind, seed=2003, skills=(), sample=None, **settings):
    samples = (WorkedExample(sample, "another task of this kind"),) if sample else ()
    task = HOUSEHOLD.task(kind, seed)
    about = PLAIN | {"observation": HOUSEHOLD.reset(task).text, "goal": task.goal, "api": "", "left": ()}
    messages = Prompts.cached().messages("adaplanner/plan", **(about | {"skills": skills, "samples": samples}))
    return ScriptedModel(mistakes="none", **settings).complete(messages, purpose="plan").text


@pytest.mark.parametrize("kind", TREATED)
def test_with_gaps_it_omits_a_treatment_that_no_exemplar_shows(kind):
    assert f"agent.{kind}(" in planned(kind)
    lacking = planned(kind, gaps=1.0)
    assert f"agent.{kind}(" not in lacking
    assert re.findall(r"start_from <= (\d)", lacking) == ["1", "2", "3"]


@pytest.mark.parametrize("kind", [*TREATED, "examine", "pick_two"])
def test_only_a_worked_example_of_the_same_kind_fills_the_gap(kind):
    prompts = Prompts.cached()
    assert planned(kind, gaps=1.0, sample=prompts.sample("household", kind)) == planned(kind)
    assert planned(kind, gaps=1.0, sample=prompts.sample("household", "pick")) == planned(kind, gaps=1.0)


def test_a_skill_is_followed_exactly_except_for_its_parameters():
    plan = (
        "def solution(agent, start_from=1):\n"
        "    # Parameters, with their values for the task: heat some egg and put it in fridge.\n"
        "    # the_item: step 1: find a egg\n"
        '    the_item = "egg"\n'
        "    # the_places: step 1: find a egg\n"
        '    the_places = ["fridge 1", "countertop 9"]\n'
        "    # End of the parameters.\n"
        "    if start_from <= 1:\n"
        "        agent.put(the_item, 'nowhere 7')\n"
        "        assert 1, ''"
    )
    answer = planned("heat", skills=[Skill("heat-1", "household", plan, "heat")], gaps=1.0)
    task = HOUSEHOLD.task("heat", 2003)
    assert f"# Parameters, with their values for the task: {task.goal}\n" in answer
    assert 'the_item = "cup"' in answer
    assert '"countertop 9"' not in answer
    assert "agent.put(the_item, 'nowhere 7')" in answer


def test_a_wrong_skill_makes_it_fail():
    plan = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print(1)\n        assert agent.report()"
    )
    wrong = FixedStore(Skill("wrong", "household", plan, "heat"))
    assert run("household", "heat/2003").success
    assert not run("household", "heat/2003", library=wrong).success


def test_gaps_are_a_share_of_the_tasks():
    without = sum("agent.heat(" not in planned("heat", seed, gaps=0.5) for seed in range(100))
    assert 30 < without < 70
    with pytest.raises(UsageError, match="from 0 to 1"):
        ScriptedModel(gaps=2.0)
