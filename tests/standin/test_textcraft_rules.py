"""The scripted stand-in in TextCraft: what it plans, what it gets wrong, how it mends that; and whole episodes."""

import ast
import re

import pytest
from support.task_runs import run_tasks

from codeplan.agent_api import agent_api, describe_api
from codeplan.bench.summary import summarise_results
from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.environment import TextCraft
from codeplan.errors import ModelError
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import PlanFailed, PlanRejected, PlanStarted
from codeplan.runner.live import run
from codeplan.standin.mistakes import Mistakes
from codeplan.standin.model import ScriptedModel, answer_question, first_difference
from codeplan.standin.textcraft.mistakes import MISTAKE_INSERTERS
from codeplan.standin.textcraft.planning import ParsedCraftingGoal, PromptRecipe, compute_work, parse_goal, write_plan
from codeplan.standin.textcraft.refinement import refine_plan

PROMPTS = Prompts()
PLAIN = {"notes": (), "skills": (), "asks": True}
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
SOUND = write_plan(ORDER)


def ask(name, model=None, **values):
    """The model's answer to a prompt, its fence taken off."""
    text = (
        (model or ScriptedModel(mistakes="none"))
        .complete(PROMPTS.messages(name, **values), purpose=name.split("/")[1])
        .text
    )
    fenced = re.fullmatch(r"```python\n(.*)\n```", text, re.DOTALL)
    return fenced[1] + "\n" if fenced else text


def ask_for_plan(model=None, goal=GOAL, commands=COMMANDS):
    api = describe_api(agent_api(TextCraftAgent))
    return ask("adaplanner/plan", model, api=api, sample=None, observation=commands, goal=goal, **PLAIN)


def ask_to_refine(source, feedback):
    about = {"api": "", "sample": None, "observation": COMMANDS, "goal": GOAL, **PLAIN}
    return ask("adaplanner/refine", **about, source=source, feedback=feedback, variables="")


def feedback(step, message, held, action, observed):
    report = f"My goal is polished granite slab. I hold {held}. Last action: '{action}'; it answered: '{observed}'"
    return f"[Step {step}], line 40 raised AssertionError: Error in [Step {step}]: {message} {report}"


# ------------------------------------------------------------------ understanding and planning


def test_goal_and_commands_are_read_off_the_prompt():
    assert ORDER.item == "polished granite slab"
    assert ORDER.recipes[1] == PromptRecipe("granite", 1, {"diorite": 1, "quartz": 1})
    assert parse_goal("", COMMANDS) == ORDER


@pytest.mark.parametrize(
    ("goal", "commands"),
    [(GOAL, ""), ("craft a rocket", COMMANDS), ("put a mug in desk", COMMANDS), ("", "Crafting commands:\n")],
)
def test_what_no_command_makes_is_an_error_and_no_made_up_plan(goal, commands):
    with pytest.raises(ModelError, match=r"prompts about codeplan's own tasks only: .*does not understand the goal"):
        ask_for_plan(goal=goal, commands=commands)


def test_a_plan_gets_what_nothing_makes_and_then_makes_ingredients_before_products():
    assert ask_for_plan() == SOUND
    assert "gather({'quartz': 8, 'cobblestone': 4})" in SOUND
    assert re.findall(r"made = make\((\d+, '[a-z ]+')", SOUND) == [
        "4, 'diorite'",
        "4, 'granite'",
        "3, 'polished granite'",
        "1, 'polished granite slab'",
    ]


def test_what_is_held_is_not_reckoned_again():
    work = compute_work(ORDER, {"polished granite": 3}, {"granite": 3, "quartz": 5})
    assert (work.to_get, work.to_craft) == ({"cobblestone": 2}, {"diorite": 1, "granite": 4, "polished granite": 3})


def test_of_several_recipes_the_one_that_is_least_deep_is_taken():
    two = "craft 4 stick using 2 planks\ncraft 4 oak planks using 1 oak logs\ncraft 1 stick using 2 bamboo\n"
    plan = write_plan(parse_goal("craft stick", two))
    assert "make(1, 'stick', 1, {'bamboo': 2})" in plan


PLANKS = (
    "craft 1 shield using 6 planks, 1 iron ingot\n"
    "craft 4 birch planks using 1 birch logs\n"
    "craft 4 oak planks using 1 oak logs\n"
)


def test_which_sort_of_an_ingredient_to_take_is_asked_when_the_plan_runs():
    plan = write_plan(parse_goal("craft shield", PLANKS))
    ast.parse(plan)
    assert "ask_llm(" in plan
    assert "make(1, 'shield', 1, {planks: 6, 'iron ingot': 1})" in plan


def test_a_question_for_a_sort_is_answered_with_its_name():
    question = (
        "In Minecraft I need 6 planks and can craft ['acacia planks', 'oak planks']. Which sort is easily come by?"
    )
    assert answer_question(question) == "'oak planks'"
    assert answer_question(question.replace("'oak planks'", "'birch planks'")) == "'birch planks'"


# ------------------------------------------------------------------ mistakes and mends


@pytest.mark.parametrize("name", MISTAKE_INSERTERS)
@pytest.mark.parametrize("seed", range(6))
def test_a_mistake_that_is_asked_for_by_name_is_made(name, seed):
    spoilt = ask_for_plan(ScriptedModel(seed, name))
    assert spoilt != SOUND
    assert ask_for_plan(ScriptedModel(seed, Mistakes(**{name: 1.0}))) == spoilt


@pytest.mark.parametrize("name", ["forgotten_walk", "wrong_guess"])
def test_mistakes_of_the_household_are_none_here(name):
    assert ask_for_plan(ScriptedModel(0, name)) == SOUND


@pytest.mark.parametrize("seed", range(30))
def test_a_spoilt_plan_has_its_steps_numbered_from_1_without_a_gap(seed):
    spoilt = ask_for_plan(ScriptedModel(seed, "wrong_count,forgotten_ingredient,sought_product"))
    ast.parse(spoilt)
    numbers = [int(n) for n in re.findall(r"if start_from <= (\d+):", spoilt)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [int(n) for n in re.findall(r"print\('\[Step (\d+)\]", spoilt)] == numbers


def test_where_there_is_nothing_to_get_wrong_the_plan_stays_as_it_was():
    plan = write_plan(
        ParsedCraftingGoal(
            "stick", (PromptRecipe("stick", 4, {"planks": 2}), *parse_goal("craft shield", PLANKS).recipes)
        )
    )
    assert "gather({'" not in plan
    assert (
        MISTAKE_INSERTERS["forgotten_ingredient"](plan, 0.5) == MISTAKE_INSERTERS["sought_product"](plan, 0.5) == plan
    )


def errors_of(source):
    """What the check says of a plan that does not parse, or has methods that the agent has not."""
    try:
        ast.parse(source)
    except SyntaxError as e:
        return f"line {e.lineno}, column {e.offset}: {e.msg} [syntax]"
    known = agent_api(TextCraftAgent).names
    calls = [(n, m[1]) for n, line in enumerate(source.split("\n"), 1) for m in re.finditer(r"agent\.(\w+)", line)]
    return "\n".join(
        f"line {n}, column 9: the agent has no `{c}`; It has: {', '.join(known)} [agent-method]"
        for n, c in calls
        if c not in known
    )


@pytest.mark.parametrize("name", ["syntax_error", "unknown_method"])
@pytest.mark.parametrize("seed", range(12))
def test_what_the_check_refuses_is_repaired(name, seed):
    spoilt = ask_for_plan(ScriptedModel(seed, name))
    assert errors_of(spoilt)
    assert ask("adaplanner/check", source=spoilt, errors=errors_of(spoilt), asks=True) == SOUND
    assert ask_to_refine(spoilt, errors_of(spoilt)) == SOUND


def test_an_unknown_method_met_at_run_time_is_replaced():
    spoilt = SOUND.replace("agent.craft(", "agent.combine(")
    assert ask_to_refine(spoilt, "[Step 2], line 13 raised AttributeError: the agent has no method combine") == SOUND


def test_a_wrong_count_is_set_to_the_command_s_own():
    spoilt = SOUND.replace("{'diorite': 1, 'quartz': 1}", "{'diorite': 1, 'quartz': 2}")
    words = feedback(
        *(3, "I have 0 granite and need 4.", "4 diorite, 4 quartz", "craft 1 granite using 1 diorite, 2 quartz"),
        "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag(tag=None, item_id='minecraft:granite'), count=1)",
    )
    assert ask_to_refine(spoilt, words) == SOUND


def test_what_lacks_is_got_and_made_in_the_step_that_failed():
    tried = "craft 1 granite using 1 diorite, 1 quartz"
    lacking = "Could not find enough items to craft minecraft:granite"
    mended = ask_to_refine(SOUND, feedback(3, "I have 0 granite and need 4.", "1 quartz, 1 diorite", tried, lacking))
    step_3 = mended.split("if start_from <= 3:")[1].split("if start_from <= 4:")[0]
    assert "gather({'quartz': 8, 'cobblestone': 4})" in step_3
    assert step_3.index("make(4, 'diorite', 2, ") < step_3.index("made = make(4, 'granite'")
    assert first_difference(SOUND, mended) == 3


def test_what_cannot_be_got_is_made():
    spoilt = SOUND.replace("{'quartz': 8, 'cobblestone': 4}", "{'quartz': 4, 'diorite': 4}")
    words = feedback(1, "I cannot get ['diorite'].", "4 quartz", "get 4 diorite", "Could not find diorite")
    mended = ask_to_refine(spoilt, words)
    step_1 = mended.split("if start_from <= 1:")[1].split("if start_from <= 2:")[0]
    assert "gather({'quartz': 8, 'cobblestone': 4})" in step_1
    assert "make(4, 'diorite', 2, {'quartz': 2, 'cobblestone': 2})" in step_1


def test_a_sort_that_will_not_do_gives_way_to_another():
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
        "The plan ran to its end without an error, but the task is not done. My goal is x. I hold nothing.",
        "The plan was stopped in [Step 2]: the plan took more than 10000 loop turns",
        "[Step 7], line 3 raised ZeroDivisionError: division by zero",
        feedback(2, "I cannot.", "nothing", "get 4 granite", "The episode is over."),
    ],
)
def test_where_the_feedback_tells_no_remedy_a_new_plan_starts_over(words):
    assert ask_to_refine("def solution(agent, start_from=1):\n    pass\n", words) == SOUND


# ------------------------------------------------------------------ episodes


def episode(task, mistakes, seed=0, **settings):
    """The result of an episode, and its events."""
    events = []
    result = run("textcraft", task, model=ScriptedModel(seed, mistakes), on_event=events.append, **settings)
    return result, events


def test_a_forgotten_ingredient_fails_an_assertion_and_the_mended_plan_resumes_at_that_step():
    result, events = episode("depth3/70", "forgotten_ingredient")
    failed = next(e for e in events if isinstance(e, PlanFailed))
    assert result.success
    assert "Could not find enough items" in failed.message
    assert [e.start_from for e in events if isinstance(e, PlanStarted)] == [1, failed.step]


@pytest.mark.parametrize("name", ["wrong_count", "sought_product"])
def test_each_other_mistake_costs_a_refinement_too(name):
    result, events = episode("depth3/70", name)
    assert result.success
    assert result.refinements == len([e for e in events if isinstance(e, PlanFailed)]) >= 1


@pytest.mark.parametrize("name", ["unknown_method", "syntax_error"])
def test_a_plan_that_the_check_refuses_is_repaired_without_a_refinement(name):
    result, events = episode("depth3/70", name)
    assert [e for e in events if isinstance(e, PlanRejected)]
    assert result.success
    assert (result.refinements, result.model_calls) == (0, 2 + result.asks)


def test_a_task_with_planks_asks_for_the_sort():
    task = next(t for t in TextCraft().tasks("test") if t.goal == "craft lectern")
    result, _ = episode(task.id, "none")
    assert (result.success, result.asks, result.refinements) == (True, 1, 0)


def test_the_procedure_with_a_model_call_for_every_check_and_every_resumption_wins_too():
    result, _ = episode("depth3/70", "many", seed=3, code_check="always", resume_by="model")
    assert result.success


@pytest.mark.parametrize("mistakes", ["none", "some", "many"])
def test_all_200_test_tasks_end_in_success_or_a_reason_with_a_name(mistakes):
    tasks = TextCraft().tasks("test")
    tasks = tasks if mistakes == "some" else tasks[::5]
    row = summarise_results(run_tasks("textcraft", tasks, workers=2, mistakes=mistakes))[-1]
    assert set(row.reasons) <= {"success", "the environment ended the episode", "no success in 6 tries"}
    assert row.successes >= 0.97 * len(tasks)
