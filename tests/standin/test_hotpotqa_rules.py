"""The scripted stand-in in HotpotQA: what it understands, what it gets wrong, how it mends that; and whole episodes."""

import pytest
from support.standin_prompts import PLAIN, ask, played
from support.trace_samples import outcomes_of

from codeplan.envs.hotpotqa.environment import HotpotQA
from codeplan.errors import ModelError
from codeplan.recording.events import PlanStarted
from codeplan.standin.hotpotqa import PageQuestion, ParsedQuestion, parse_goal, refine_plan, write_plan
from codeplan.standin.model import answer_question
from codeplan.types import Failed

EVERY = [task for split in HotpotQA().splits for task in HotpotQA().tasks(split)]
GOAL = "In which city was the builder of the Garabit bridge born?"
CORRECT = write_plan(parse_goal(GOAL))
ASKED = "Text: {} Question: {}? Answer from the text alone, with a Python string, or with None where it does not say."


def ask_for_plan(goal):
    return ask("adaplanner/plan", api="", left=(), observation=f"Question: {goal}", goal=goal, **PLAIN)


# ------------------------------------------------------------------ understanding and planning


def test_a_question_is_understood_by_its_form():
    assert parse_goal(GOAL) == ParsedQuestion(
        (
            PageQuestion("Garabit bridge", "who is the builder of {}", "built"),
            PageQuestion("", "in which city was {} born", "born"),
        )
    )
    assert parse_goal("Which is longer, the Elbe or the Danube?").answer_rule == "most"


@pytest.mark.parametrize("goal", ["", "Who?", "In which city was the baker of the bread born?", "put a mug in desk"])
def test_any_other_goal_is_an_error(goal):
    with pytest.raises(ModelError, match="does not understand the goal"):
        ask_for_plan(goal)


@pytest.mark.parametrize(
    ("text", "question", "shown"),
    [
        ("He was born in Bonn in 1770.", "in which city was Ludwig born", "'Bonn'"),
        ("He was born in Bonn in 1770.", "in what year was Ludwig born", "'1770'"),
        ("Composed by Ludwig van Beethoven.", "who is the composer of Fidelio", "None"),
        ("It was composed by Ludwig van Beethoven.", "who is the composer of Fidelio", "'Ludwig van Beethoven'"),
        ("It rises in the Czech Republic, in the hills.", "in which country does the Elbe rise", "'Czech Republic'"),
        ("A river, about 1,094 kilometres long.", "how many kilometres long is the Elbe", "'1,094'"),
        ("", "in which city did X die", "None"),
    ],
)
def test_a_question_about_a_text_is_answered_from_the_text_alone(text, question, shown):
    assert answer_question(ASKED.format(text, question)) == shown


def test_any_other_question_is_an_error():
    with pytest.raises(ModelError, match="cannot answer the question"):
        answer_question(ASKED.format("Some text.", "what colour is it"))


# ------------------------------------------------------------------ mends


def test_a_missing_title_is_replaced_by_the_first_similar_one():
    shown = "Error in [Step 1]: this is no title. Could not find Garabit bridge. Similar: [\"Garabit's viaduct\", 'Prague']."
    mended = refine_plan(CORRECT, shown, parse_goal(GOAL))
    assert mended == CORRECT.replace("agent.search('Garabit bridge')", 'agent.search("Garabit\'s viaduct")')


def test_feedback_without_a_fix_leads_to_a_new_plan():
    assert refine_plan("def solution(agent, start_from=1):\n    pass\n", "nothing", parse_goal(GOAL)) == CORRECT


# ------------------------------------------------------------------ episodes


def test_an_inexact_title_costs_one_refinement():
    result, events = played("hotpotqa", "bridge/1", "none")
    assert (result.success, result.refinements, result.asks) == (True, 1, 2)
    assert "Similar: ['Garabit viaduct'" in outcomes_of(events, Failed)[0].message
    assert [e.start_from for e in events if isinstance(e, PlanStarted)] == [1, 1]


@pytest.mark.parametrize("task", EVERY, ids=lambda t: t.id)
def test_every_question_is_answered_in_the_end(task):
    result, _ = played("hotpotqa", task.id, "some", seed=1)
    assert (result.success, result.reward) == (True, 1.0)
