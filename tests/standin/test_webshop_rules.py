"""The scripted stand-in in WebShop: what it plans, what it gets wrong, how it mends that; and whole episodes."""

import ast

import pytest
from support.standin_prompts import PLAIN, ask, played
from support.task_runs import run_tasks
from support.trace_samples import outcomes_of

from codeplan.bench.metrics import summarise_results
from codeplan.envs.webshop.environment import make
from codeplan.errors import ModelError
from codeplan.recording.events import PlanStarted
from codeplan.standin.model import answer_question
from codeplan.standin.webshop import ParsedShoppingGoal, parse_goal, refine_plan, write_plan
from codeplan.types import Failed

GOAL = "please find me argan oil curl shampoo bar, size 8 fl oz and scent mint, and price lower than 50.00 dollars"
FIRST = f"WebShop\nInstruction: \n{GOAL}\n[button] Search [button_]\n"
ERRAND = parse_goal(GOAL)
CORRECT = write_plan(ERRAND)


# ------------------------------------------------------------------ understanding and planning


def test_the_goal_is_read_from_the_instruction():
    words = ("argan", "oil", "curl", "shampoo", "bar", "8", "fl", "oz", "mint")
    asked = "argan oil curl shampoo bar, size 8 fl oz and scent mint"
    assert parse_goal(GOAL) == ParsedShoppingGoal(asked, "argan oil curl shampoo bar", words, 50.0)
    assert parse_goal("i need a mug").max_price is None
    assert parse_goal("i need it, and price lower than 50.00 dollars") is None


def test_an_instruction_that_asks_for_nothing_is_an_error():
    with pytest.raises(ModelError, match="does not understand the goal"):
        ask("adaplanner/plan", api="", left=(), observation=FIRST, goal="", **PLAIN)


def test_a_plan_searches_reads_chooses_and_buys():
    assert ask("adaplanner/plan", api="", left=(), observation=FIRST, goal=GOAL, **PLAIN) == CORRECT
    ast.parse(CORRECT)
    assert "agent.search('argan oil curl shampoo bar')" in CORRECT
    assert "offer['price'] < 50.0" in CORRECT
    assert "offer['price'] <" not in write_plan(parse_goal("i need a mug"))


def test_a_question_about_an_option_is_answered_with_the_best_matching_value():
    question = (
        "I am to buy: a bar, scent of fresh mint. The scent can be one of ['rose', 'mint leaf']. Which one is meant?"
    )
    assert answer_question(question) == "'mint leaf'"
    assert answer_question(question.replace("'mint leaf'", "'cedar'")) == "None"


# ------------------------------------------------------------------ mistakes and mends


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


def test_an_unread_offer_fails_an_assertion_and_the_mended_plan_resumes_there():
    task = next(t.id for t in make().tasks("test") if played("webshop", t.id, "wrong_guess")[0].refinements)
    result, events = played("webshop", task, "wrong_guess")
    failed = outcomes_of(events, Failed)[0]
    assert result.success
    assert "of 1 offers the best lacks" in failed.message
    assert [e.start_from for e in events if isinstance(e, PlanStarted)][:2] == [1, failed.step]


@pytest.mark.long
@pytest.mark.parametrize("mistakes", ["none", "some"])
def test_episodes_end_with_a_typed_ending(mistakes):
    tasks = make().tasks("test")[:12]
    row = summarise_results(run_tasks("webshop", tasks, workers=2, mistakes=mistakes))[-1]
    assert set(row.reasons) <= {"success", "the environment ended the episode", "no success in 6 tries"}
    assert row.successes >= 0.97 * len(tasks)
