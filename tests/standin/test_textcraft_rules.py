"""The scripted stand-in in TextCraft: what it plans, what it gets wrong, how it mends that; and whole episodes."""

import ast
import re

import pytest
from support.standin_prompts import PLAIN, REPORT, ask, played
from support.task_runs import run_tasks
from support.trace_samples import outcomes_of

from codeplan.agent_interface import agent_api, describe_api
from codeplan.bench.metrics import summarise_results
from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.environment import TextCraft
from codeplan.errors import ModelError
from codeplan.recording.events import PlanStarted
from codeplan.standin.model import ScriptedModel, answer_question, first_difference
from codeplan.standin.plan_edits import apply_changes
from codeplan.standin.textcraft import (
    MISTAKE_INSERTERS,
    ParsedCraftingGoal,
    PromptRecipe,
    compute_work,
    parse_goal,
    refine_plan,
    write_plan,
)
from codeplan.types import Failed

COMMANDS = (
    "Crafting commands:\n"
    "craft 4 granite stairs using 6 granite\n"
    "craft 1 granite using 1 diorite, 1 quartz\n"
    "craft 4 polished granite using 4 granite\n"
    "craft 2 diorite using 2 quartz, 2 cobblestone\n"
    "craft 6 polished granite slab using 3 polished granite\n"
    "\n"
    "Goal: craft polished granite slab."
)
GOAL = "craft polished granite slab"
ORDER = parse_goal(GOAL, COMMANDS)
CORRECT = write_plan(ORDER)


def ask_for_plan(model=None, goal=GOAL, commands=COMMANDS):
    api = describe_api(agent_api(TextCraftAgent))
    return ask("adaplanner/plan", model, api=api, left=(), observation=commands, goal=goal, **PLAIN)


def ask_to_refine(source, feedback):
    about = {"api": "", "observation": COMMANDS, "goal": GOAL, **PLAIN, **REPORT}
    return apply_changes(source, ask("adaplanner/refine", **about, source=source, feedback=feedback))


def feedback(step, message, held, action, observed):
    report = f"My goal is polished granite slab. I hold {held}. Last action: '{action}'; it answered: '{observed}'"
    return f"[Step {step}], line 40 raised AssertionError: Error in [Step {step}]: {message} {report}"


# ------------------------------------------------------------------ understanding and planning


def test_goal_and_recipes_are_read_from_the_prompt():
    assert ORDER.item == "polished granite slab"
    assert ORDER.recipes[1] == PromptRecipe("granite", 1, {"diorite": 1, "quartz": 1})
    assert parse_goal("", COMMANDS) == ORDER


@pytest.mark.parametrize(
    ("goal", "commands"),
    [(GOAL, ""), ("craft a rocket", COMMANDS), ("put a mug in desk", COMMANDS), ("", "Crafting commands:\n")],
)
def test_a_goal_that_no_recipe_makes_is_an_error(goal, commands):
    with pytest.raises(ModelError, match=r"prompts about codeplan's own tasks only: .*does not understand the goal"):
        ask_for_plan(goal=goal, commands=commands)


def test_a_plan_gets_basic_items_and_crafts_ingredients_before_products():
    assert ask_for_plan() == CORRECT
    assert "gather({'quartz': 8, 'cobblestone': 4})" in CORRECT
    assert re.findall(r"made = make\((\d+, '[a-z ]+')", CORRECT) == [
        "4, 'diorite'",
        "4, 'granite'",
        "3, 'polished granite'",
        "1, 'polished granite slab'",
    ]


def test_held_items_are_not_needed_again():
    work = compute_work(ORDER, {"polished granite": 3}, {"granite": 3, "quartz": 5})
    assert (work.to_get, work.to_craft) == ({"cobblestone": 2}, {"diorite": 1, "granite": 4, "polished granite": 3})


def test_the_recipe_of_least_depth_is_taken():
    two = "craft 4 stick using 2 planks\ncraft 4 oak planks using 1 oak logs\ncraft 1 stick using 2 bamboo\n"
    plan = write_plan(parse_goal("craft stick", two))
    assert "make(1, 'stick', 1, {'bamboo': 2})" in plan


PLANKS = (
    "craft 1 shield using 6 planks, 1 iron ingot\n"
    "craft 4 birch planks using 1 birch logs\n"
    "craft 4 oak planks using 1 oak logs\n"
)


def test_the_plan_asks_which_variant_to_take():
    plan = write_plan(parse_goal("craft shield", PLANKS))
    ast.parse(plan)
    assert "ask_llm(" in plan
    assert "make(1, 'shield', 1, {planks: 6, 'iron ingot': 1})" in plan


def test_a_question_about_variants_is_answered_with_a_name():
    question = (
        "In Minecraft I need 6 planks and can craft ['acacia planks', 'oak planks']. Which sort is easily come by?"
    )
    assert answer_question(question) == "'oak planks'"
    assert answer_question(question.replace("'oak planks'", "'birch planks'")) == "'birch planks'"


# ------------------------------------------------------------------ mistakes and mends


@pytest.mark.parametrize("seed", range(8))
def test_mistakes_keep_the_steps_numbered_without_a_gap(seed):
    broken = ask_for_plan(ScriptedModel(seed, "wrong_count,forgotten_ingredient,sought_product"))
    ast.parse(broken)
    numbers = [int(n) for n in re.findall(r"if start_from <= (\d+):", broken)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [int(n) for n in re.findall(r"print\('\[Step (\d+)\]", broken)] == numbers


def test_a_mistake_without_a_place_leaves_the_plan_unchanged():
    plan = write_plan(
        ParsedCraftingGoal(
            "stick", (PromptRecipe("stick", 4, {"planks": 2}), *parse_goal("craft shield", PLANKS).recipes)
        )
    )
    assert "gather({'" not in plan
    assert (
        MISTAKE_INSERTERS["forgotten_ingredient"](plan, 0.5) == MISTAKE_INSERTERS["sought_product"](plan, 0.5) == plan
    )


def test_a_wrong_count_becomes_the_recipes():
    broken = CORRECT.replace("{'diorite': 1, 'quartz': 1}", "{'diorite': 1, 'quartz': 2}")
    words = feedback(
        *(3, "I have 0 granite and need 4.", "4 diorite, 4 quartz", "craft 1 granite using 1 diorite, 2 quartz"),
        "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag(tag=None, item_id='minecraft:granite'), count=1)",
    )
    assert ask_to_refine(broken, words) == CORRECT


def test_missing_items_are_got_and_crafted_in_the_failed_step():
    tried = "craft 1 granite using 1 diorite, 1 quartz"
    lacking = "Could not find enough items to craft minecraft:granite"
    mended = ask_to_refine(CORRECT, feedback(3, "I have 0 granite and need 4.", "1 quartz, 1 diorite", tried, lacking))
    step_3 = mended.split("if start_from <= 3:")[1].split("if start_from <= 4:")[0]
    assert "gather({'quartz': 8, 'cobblestone': 4})" in step_3
    assert step_3.index("make(4, 'diorite', 2, ") < step_3.index("made = make(4, 'granite'")
    assert first_difference(CORRECT, mended) == 3


def test_an_item_that_the_agent_cannot_get_is_crafted():
    broken = CORRECT.replace("{'quartz': 8, 'cobblestone': 4}", "{'quartz': 4, 'diorite': 4}")
    words = feedback(1, "I cannot get ['diorite'].", "4 quartz", "get 4 diorite", "Could not find diorite")
    mended = ask_to_refine(broken, words)
    step_1 = mended.split("if start_from <= 1:")[1].split("if start_from <= 2:")[0]
    assert "gather({'quartz': 8, 'cobblestone': 4})" in step_1
    assert "make(4, 'diorite', 2, {'quartz': 2, 'cobblestone': 2})" in step_1


def test_a_wrong_variant_is_replaced():
    commands = (
        "craft 1 painting using 8 stick, 1 wool\ncraft 1 stick using 2 bamboo\ncraft 1 white wool using 4 string\n"
        "craft 1 red wool using 1 red dye, 1 white wool\ncraft 1 red dye using 1 poppy\n"
    )
    order = parse_goal("craft painting", commands)
    plan = write_plan(order)
    assert "{'stick': 8, 'white wool': 1}" in plan
    report = (
        "I hold 8 stick, 1 white wool. Last action: 'craft 1 painting using 8 stick, 1 white wool'; it answered: "
        "'Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag(tag=None, item_id='minecraft:painting'), count=1)'"
    )
    mended = refine_plan(plan, f"[Step 4], line 9 raised AssertionError: I have 0 painting and need 1. {report}", order)
    assert "{'stick': 8, 'red wool': 1}" in mended


@pytest.mark.parametrize(
    "words",
    [
        "The plan was stopped in [Step 2]: the plan took more than 10000 loop turns",
        "[Step 7], line 3 raised ZeroDivisionError: division by zero",
        feedback(2, "I cannot.", "nothing", "get 4 granite", "The episode is over."),
    ],
)
def test_feedback_without_a_fix_leads_to_a_new_plan(words):
    assert ask_to_refine("def solution(agent, start_from=1):\n    pass\n", words) == CORRECT


# ------------------------------------------------------------------ episodes


def test_a_forgotten_ingredient_fails_an_assertion_and_the_mended_plan_resumes_at_that_step():
    result, events = played("textcraft", "depth3/70", "forgotten_ingredient")
    failed = outcomes_of(events, Failed)[0]
    assert result.success
    assert "Could not find enough items" in failed.message
    assert [e.start_from for e in events if isinstance(e, PlanStarted)] == [1, failed.step]


@pytest.mark.parametrize("name", ["wrong_count", "sought_product"])
def test_each_other_mistake_costs_a_refinement_too(name):
    result, events = played("textcraft", "depth3/70", name)
    assert result.success
    assert result.refinements == len(outcomes_of(events, Failed)) >= 1


def test_a_task_with_planks_asks_for_the_variant():
    task = next(t for t in TextCraft().tasks("test") if t.goal == "craft lectern")
    result, _ = played("textcraft", task.id, "none")
    assert (result.success, result.asks, result.refinements) == (True, 1, 0)


@pytest.mark.long
@pytest.mark.parametrize("mistakes", ["none", "some", "many"])
def test_episodes_end_with_a_typed_ending(mistakes):
    tasks = TextCraft().tasks("test")[::8]
    row = summarise_results(run_tasks("textcraft", tasks, workers=2, mistakes=mistakes))[-1]
    assert set(row.reasons) <= {"success", "the environment ended the episode", "no success in 6 tries"}
    assert row.successes >= 0.97 * len(tasks)
