"""The scripted stand-in on MiniWoB++'s pages: what it understands, gets wrong, mends; and episodes in the browser."""

import ast
import re

import pytest
from support.miniwob_pages import needs_browser
from support.trace_samples import outcomes_of

from codeplan.agent_interface import agent_api
from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.envs.miniwob.tasks import FEEDBACK_TASKS, PAPER_TASKS
from codeplan.runner.episodes import run
from codeplan.sandbox import Sandbox
from codeplan.standin.miniwob import (
    ParsedMailTask,
    find_solution,
    mistake_inserters,
    refine_plan,
    write_hasty_plan,
    write_plan,
)
from codeplan.standin.miniwob import parse_mail_task as understand_mail
from codeplan.standin.model import ScriptedModel, answer_question, rules_for
from codeplan.types import Failed, Plan

MAILS = "".join(f'<div class="email-thread"><div class="email-sender">{name}</div></div>' for name in ("Cora", "Evy"))


def observed(goal, page="<div id='wrap'></div>"):
    return f"Task: {goal}\n\nPage:\n{page}"


LOGIN = observed('Enter the username "vina" and the password "US" into the text fields and press login.')
GUESS = observed("Guess the number between 0-9 and press Submit. Use the feedback below to find the right number.")


# ------------------------------------------------------------------ understanding


@pytest.mark.parametrize(
    ("goal", "page", "does"),
    [
        ('Click on the "Ok" button.', "", '(//button[text()="Ok"])[1]'),
        ("Select k9, Kh and click Submit.", "<label><input>k9</label><label><input>Kh</label>", "['k9', 'Kh']"),
        ("Select Evy>Tammara", '<ul role="menu">', "agent.move_mouse_on("),
        (
            "Select Korea, Republic of, Chad from the scroll list and click Submit.",
            "<option>Chad</option><option>Korea, Republic of</option><option>Korea</option>",
            "['Chad', 'Korea, Republic of']",
        ),
        ("Enter 05/20/2010 as the date and hit submit.", "", "agent.type('05202010')"),
        ('Click the "Like" button on 3 posts by @leo and then click Submit.', "", "[position() <= 3]"),
        ('Click the "Like" button on all posts by @leo and then click Submit.', "", "//span[@class=\\'like\\']"),
        ("Use the terminal below to delete a file that has no file extension.", "", "'.' not in name"),
    ],
)
def test_a_plan_does_what_the_task_s_sentence_says(goal, page, does):
    assert does in write_plan(find_solution("", observed(goal, page)))


@pytest.mark.parametrize(
    "text", [observed("Drag the box to the left."), observed("Delete it.", MAILS), "Task: Click.", observed("")]
)
def test_an_unknown_task_has_no_solution(text):
    assert find_solution("", text) is None


@pytest.mark.parametrize(
    ("goal", "task"),
    [
        ("Find the email by Cora and click the trash icon to delete it.", ParsedMailTask("trash", "Cora")),
        ("Coras email should be put in the recycling bin", ParsedMailTask("trash", "Cora")),
        ("Find Evy's email and flag it for importance.", ParsedMailTask("star", "Evy")),
        ('Tell Evy i said "Nunc, est."', ParsedMailTask("reply", "Evy", "Nunc, est.")),
        ('Send a reply saying "Delete it." to Cora\'s email.', ParsedMailTask("reply", "Cora", "Delete it.")),
        ("Give Cora the message you received from Evy,", ParsedMailTask("forward", "Evy", "Cora")),
        ("Find the email by Cora and forward that email to Hedy.", ParsedMailTask("forward", "Cora", "Hedy")),
        ("Search for the mail Cora sent you and send it to Evy.", ParsedMailTask("forward", "Cora", "Evy")),
        ("Do nothing.", None),
    ],
)
def test_mail_tasks_are_understood_in_many_wordings(goal, task):
    assert understand_mail(goal, ["Cora", "Evy"]) == task


def test_synonyms_are_known():
    question = "Which of the words ['stop', 'quiet', 'delectable'] mean much the same as one of the words ['mild', 'delicious']?"
    assert answer_question(question) == "['quiet', 'delectable']"


# ------------------------------------------------------------------ mistakes, and how they are mended


@pytest.mark.parametrize("text", [LOGIN, GUESS, observed('Click on the "Ok" button.')])
def test_careful_and_hasty_plans_pass_the_check(text):
    solution = find_solution("", text)
    for plan in (write_plan(solution), write_hasty_plan(solution)):
        assert isinstance(Sandbox().check(plan, agent_api(MiniWobAgent)), Plan)


def test_an_unknown_method_and_a_lost_bracket_are_repaired():
    solution = find_solution("", LOGIN)
    correct = write_plan(solution)
    for name in ("unknown_method", "syntax_error"):
        for which in (0.0, 0.3, 0.6, 0.9):
            broken = mistake_inserters(solution)[name](correct, which)
            assert broken != correct
            refused = Sandbox().check(broken, agent_api(MiniWobAgent))
            errors = "\n".join(map(str, refused.diagnostics))
            assert ast.unparse(ast.parse(rules_for(broken).repair_plan(broken, errors))) == ast.unparse(
                ast.parse(correct)
            )


def test_the_failed_step_becomes_careful_and_the_others_stay():
    solution = find_solution("", LOGIN)
    hasty = write_hasty_plan(solution)
    mended = refine_plan(
        hasty, "[Step 3], line 9 raised AssertionError: Error in [Step 3]: a window has come up.", solution
    )
    assert mended.count("popup-cancel") == 1
    steps = re.split(r"(?=    if start_from)", mended)
    assert "popup-cancel" in steps[3]
    assert steps[1] == re.split(r"(?=    if start_from)", hasty)[1]


def test_a_guess_is_followed_by_one_that_the_page_allows():
    solution = find_solution("", GUESS)
    page = (
        '<div id="lower" class="hide">…<span></span></div><div id="higher" class="">higher than <span>5</span>.</div>'
    )
    mended = refine_plan(write_hasty_plan(solution), f"[Step 1], line 11 raised AssertionError: … {page}", solution)
    assert "possible = [6, 7, 8, 9]" in mended


# ------------------------------------------------------------------ episodes


@pytest.fixture(scope="module")
def env():
    env = MiniWob()
    yield env
    env.close()


@needs_browser
@pytest.mark.parametrize("kind", PAPER_TASKS)
def test_a_plan_without_mistakes_solves_the_task(env, kind):
    assert run(env, env.task(kind, 0), model=ScriptedModel(mistakes="none")).success


@needs_browser
@pytest.mark.parametrize("kind", [kind for kind in FEEDBACK_TASKS if kind != "tic-tac-toe"])
def test_a_hasty_plan_fails_and_is_mended_by_the_pages_answer(env, kind):
    seed, events = {"login-user-popup": 1}.get(kind, 0), []
    result = run(env, env.task(kind, seed), model=ScriptedModel(mistakes="wrong_guess"), on_event=events.append)
    assert result.success
    assert result.refinements
    assert outcomes_of(events, Failed)
