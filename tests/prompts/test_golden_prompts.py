"""The prompts of all environments and methods, as files that a person has read."""

import re

import pytest
from support.golden_prompts import FOLDER, METHODS, PROMPTS, TASKS, prompts_of
from support.miniwob_pages import needs_browser
from support.scienceworld_engine import needs_engine

from codeplan.prompts.templates import PACKAGE_FOLDER

NEEDS = {"miniwob": needs_browser, "scienceworld": needs_engine}
ENVIRONMENTS = [pytest.param(name, marks=NEEDS.get(name, ())) for name in PROMPTS]
METHOD_FOLDERS = {"adaplanner", "adapt", "autoplan", "plan_and_execute", "react", "reflexion", "text_planner"}
REWRITE = "the prompt has changed: run `make golden`, and read the file as a model would"


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_the_prompts_are_those_that_were_read(env):
    for file, text in prompts_of(env):
        assert (FOLDER / file).read_text(encoding="utf-8") == text, REWRITE


def test_every_golden_file_is_a_prompt_that_there_is():
    assert {file.name for file in FOLDER.iterdir()} == {
        f"{env}_{name}.txt" for env, names in PROMPTS.items() for name in names
    }


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("env", TASKS)
def test_the_goal_is_never_empty(env, name):
    goals = re.findall(r"<goal>\n(.*?)\n</goal>", golden(env, name), re.DOTALL)
    assert all(goal.strip() for goal in goals)
    assert goals or name in ("ask", "check", "react_formalise")


# ------------------------------------------------------------------ whose words are whose


def golden(env, name):
    return (FOLDER / f"{env}_{name}.txt").read_text(encoding="utf-8")


WORDS = {
    "household": r"receptacles?|countertop|microwave|fridge|drawers?|shelf|desk|mug|egg|lamp",
    "textcraft": r"craft|crafting|inventory|minecraft|planks|ingots?|stick",
    "miniwob": r"xpath|html|click_xpath|button|e-?mail",
    "webshop": r"products?|dollars?|sellers?|purchase|buy",
    "hotpotqa": r"encyclopedia|wikipedia|river|born",
    "scienceworld": r"thermometer|greenhouse|foundry|hallway|battery|scientist|focus",
}
"""Words that belong to one environment alone."""


@pytest.mark.parametrize("folder", sorted(METHOD_FOLDERS))
def test_the_templates_of_a_method_name_no_environments_things(folder):
    own = [f for f in (PACKAGE_FOLDER / folder).glob("*.j2") if f.stem.split("_")[0] not in TASKS]
    text = "\n".join(f.read_text(encoding="utf-8") for f in own)
    assert own
    assert re.findall(rf"\b(?:{'|'.join(WORDS.values())})\b", text, re.IGNORECASE) == []


@pytest.mark.parametrize("env", WORDS)
def test_an_environments_own_advice_names_no_other_environments_things(env):
    others = "|".join(words for name, words in WORDS.items() if name != env)
    advice = (PACKAGE_FOLDER / env / "_advice.j2").read_text(encoding="utf-8")
    assert set(re.findall(rf"\b(?:{others})\b", advice)) <= ({"button"} if env == "miniwob" else set())
