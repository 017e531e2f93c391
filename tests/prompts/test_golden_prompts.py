"""The prompts of all environments and methods, as files that a person has read."""

import re
from itertools import combinations

import pytest
from support.golden_prompts import FOLDER, METHODS, PROMPTS, TASKS, prompts_of
from support.miniwob_pages import needs_browser
from support.scienceworld_engine import needs_engine

from codeplan.planning.feedback import LimitsLeft
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


def without_numbers(line):
    return re.sub(r"\d+", "0", line.strip())


def common_lines():
    """What the templates of methods and every agent have in common, as one regular expression for a line."""
    files = [
        f
        for folder in METHOD_FOLDERS
        for f in (PACKAGE_FOLDER / folder).glob("*.j2")
        if f.stem.split("_")[0] not in TASKS
    ]
    lines = {without_numbers(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()}
    lines |= {without_numbers(line) for line in LimitsLeft(1, 1, 1, 1, 1).lines}
    lines |= {"def report(self) -> str:", "> think: Task completed!"}
    patterns = [".*".join(map(re.escape, re.split(r"\{[{%].*?[}%]\}", line))) for line in lines]
    return re.compile("|".join(p for p in patterns if len(re.findall(r"\w+", p)) > 1))


def own_lines(env):
    """The lines of more than three words that an environment brings to its prompts."""
    common = common_lines()
    first = [name for name, (_, _, replies) in METHODS.items() if not replies]  # the others show replies of the tests
    lines = {without_numbers(line) for name in first for line in golden(env, name).splitlines()}
    return {line for line in lines if len(line.split()) > 3 and not common.fullmatch(line)}


@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in combinations(TASKS, 2) if pair != ("household", "alfworld")]
)
def test_no_line_of_one_environment_stands_in_anothers_prompts(first, second):
    assert own_lines(first) & own_lines(second) == set()


def test_alfworld_has_the_households_words():
    assert len(own_lines("household") & own_lines("alfworld")) > 30


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
