"""The scripted stand-in in WebShop: what it plans, what it gets wrong, how it mends that; and whole episodes."""

import ast
import re

import pytest
from support.task_runs import run_tasks
from support.trace_samples import outcomes_of

from codeplan.agent_interface import agent_api
from codeplan.bench.metrics import summarise_results
from codeplan.envs.webshop.agent import WebShopAgent
from codeplan.envs.webshop.factory import make
from codeplan.errors import ModelError
from codeplan.recording.events import PlanRejected, PlanStarted
from codeplan.runner.episodes import run
from codeplan.standin.model import ScriptedModel, answer_question
from codeplan.standin.webshop import (
    AGENT_VOCABULARY,
    MISTAKE_INSERTERS,
    ParsedShoppingGoal,
    parse_goal,
    refine_plan,
    write_plan,
)
from codeplan.types import Failed

GOAL = "please find me argan oil curl shampoo bar, size 8 fl oz and scent mint, and price lower than 50.00 dollars"
FIRST = f"WebShop\nInstruction: \n{GOAL}\n[button] Search [button_]\n"
ERRAND = parse_goal(GOAL)
CORRECT = write_plan(ERRAND)


def ask_for_plan(model=None, goal=GOAL):
    """The model's plan, its fence taken off."""
    user = f"<observation>\n{FIRST}\n</observation>\n\n<goal>\n{goal}\n</goal>"
    messages = [
        {"role": "system", "content": "Write the plan for the task that the user gives."},
        {"role": "user", "content": user},
    ]
    text = (model or ScriptedModel(mistakes="none")).complete(messages, purpose="plan").text
    return re.fullmatch(r"```python\n(.*)\n```", text, re.DOTALL)[1] + "\n"


# ------------------------------------------------------------------ understanding and planning


def test_the_goal_is_read_from_the_instruction():
    words = ("argan", "oil", "curl", "shampoo", "bar", "8", "fl", "oz", "mint")
    asked = "argan oil curl shampoo bar, size 8 fl oz and scent mint"
    assert parse_goal(GOAL) == ParsedShoppingGoal(asked, "argan oil curl shampoo bar", words, 50.0)
    assert parse_goal("i need a mug").max_price is None
    assert parse_goal("i need it, and price lower than 50.00 dollars") is None


def test_an_instruction_that_asks_for_nothing_is_an_error():
    with pytest.raises(ModelError, match="does not understand the goal"):
        ask_for_plan(goal="")


def test_a_plan_searches_reads_chooses_and_buys():
    assert ask_for_plan() == CORRECT
    ast.parse(CORRECT)
    assert "agent.search('argan oil curl shampoo bar')" in CORRECT
    assert "offer['price'] < 50.0" in CORRECT
    assert "offer['price'] <" not in write_plan(parse_goal("i need a mug"))


def test_the_vocabulary_matches_the_agent():
    assert set(AGENT_VOCABULARY.names) == set(agent_api(WebShopAgent).names)


def test_a_question_about_an_option_is_answered_with_the_best_matching_value():
    question = (
        "I am to buy: a bar, scent of fresh mint. The scent can be one of ['rose', 'mint leaf']. Which one is meant?"
    )
    assert answer_question(question) == "'mint leaf'"
    assert answer_question(question.replace("'mint leaf'", "'cedar'")) == "None"


# ------------------------------------------------------------------ mistakes and mends


@pytest.mark.parametrize("name", MISTAKE_INSERTERS)
@pytest.mark.parametrize("seed", range(6))
def test_a_mistake_requested_by_name_is_made(name, seed):
    assert ask_for_plan(ScriptedModel(seed, name)) != CORRECT


@pytest.mark.parametrize("name", ["unknown_method", "syntax_error"])
@pytest.mark.parametrize("seed", range(3))
def test_a_plan_that_the_check_refuses_is_repaired_without_a_refinement(name, seed):
    result, events = episode("buy/0", name, seed)
    assert [e for e in events if isinstance(e, PlanRejected)]
    assert (result.success, result.refinements) == (True, 0)


def test_a_short_search_reads_more_offers_and_then_settles_for_less():
    said = (
        "[Step 2], line 40 raised AssertionError: Error in [Step 2]: of {} offers the best lacks ['mint', '8']. I am …"
    )
    short = CORRECT.replace("look, tolerated = 4, 0", "look, tolerated = 1, 0")
    longer = refine_plan(short, said.format(1), ERRAND)
    assert "look, tolerated = 10, 0" in longer
    assert "look, tolerated = 10, 2" in refine_plan(longer, said.format(10), ERRAND)


def test_a_search_without_results_is_reworded():
    said = "[Step 1], line 22 raised AssertionError: Error in [Step 1]: nothing that I can afford was found. I am …"
    everything = refine_plan(CORRECT, said, ERRAND)
    assert "agent.search('argan oil curl shampoo bar 8 fl oz mint')" in everything
    assert "agent.search('shampoo bar')" in refine_plan(everything, said, ERRAND)


def test_feedback_without_a_fix_leads_to_a_new_plan():
    assert refine_plan("pass", "[Step 7], line 3 raised ZeroDivisionError: division by zero", ERRAND) == CORRECT


# ------------------------------------------------------------------ episodes


def episode(task, mistakes, seed=0, **settings):
    """The result of an episode, and its events."""
    events = []
    result = run("webshop", task, model=ScriptedModel(seed, mistakes), on_event=events.append, **settings)
    return result, events


def test_an_unread_offer_fails_an_assertion_and_the_mended_plan_resumes_there():
    task = next(t.id for t in make().tasks("test") if episode(t.id, "wrong_guess")[0].refinements)
    result, events = episode(task, "wrong_guess")
    failed = outcomes_of(events, Failed)[0]
    assert result.success
    assert "of 1 offers the best lacks" in failed.message
    assert [e.start_from for e in events if isinstance(e, PlanStarted)][:2] == [1, failed.step]


@pytest.mark.long
@pytest.mark.parametrize("mistakes", ["none", "some"])
def test_episodes_end_with_a_typed_ending(mistakes):
    tasks = make().tasks("test")[:40]
    row = summarise_results(run_tasks("webshop", tasks, workers=2, mistakes=mistakes))[-1]
    assert set(row.reasons) <= {"success", "the environment ended the episode", "no success in 6 tries"}
    assert row.successes >= 0.97 * len(tasks)
