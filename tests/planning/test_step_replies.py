"""Replies that hold only steps, in the refinement loop: plans run in the real sandbox, the replies are given."""

import pytest
from support.boxes import Boxes, Replies

from codeplan.planning.plan_run import take_reply
from codeplan.recording.events import PlanDrafted, PlanRejected, PlanStarted
from codeplan.runner.episodes import run
from codeplan.sandbox import Sandbox

PLAN = """\
def solution(agent, start_from=1):
    limit = 1
    def look(box):
        return agent.open(box)
    if start_from <= 1:
        print('[Step 1] think of a box')
        first = limit
        assert first, 'Error in [Step 1]: no box'
    if start_from <= 2:
        print('[Step 2] look into it')
        found = look(first)
        assert 'ball' in found, f'Error in [Step 2]: no ball in {first}. {agent.report()}'
"""
STEP_2 = """\
if start_from <= 2:
    print('[Step 2] look into the next')
    found = look(first + 1)
    assert 'ball' in found, 'Error in [Step 2]: no ball there'
"""


def play(*replies, task="ball/2", **settings):
    """The result, the model with what it was asked, and the events."""
    model, events = Replies(*replies), []
    result = run(Boxes(), task, model=model, on_event=events.append, **settings)
    return result, model, events


def drafts(events):
    return [e for e in events if isinstance(e, PlanDrafted)]


def starts(events):
    return [e.start_from for e in events if isinstance(e, PlanStarted)]


def refusals(events):
    return [[d.rule for d in e.diagnostics] for e in events if isinstance(e, PlanRejected)]


@pytest.mark.parametrize("form", ["conversation", "fresh"])
def test_a_reply_of_one_step_is_merged_and_the_plan_resumes_there(form):
    result, model, events = play(f"```python\n{PLAN}```", f"Look:\n```python\n{STEP_2}```", refine_prompt=form)
    first, second = drafts(events)
    assert result.success
    assert model.purposes == ["plan", "refine"]
    assert starts(events) == [1, 2]
    assert (first.steps, second.steps) == (None, (2,))
    assert second.source.startswith(PLAN[: PLAN.index("    if start_from <= 2")])
    assert "look(first + 1)" in second.source
    assert result.plan == second.source


def test_a_reply_that_changes_a_constant_goes_back_to_the_step_that_uses_it():
    result, _, events = play(PLAN, "limit = 2\n")
    assert result.success
    assert starts(events) == [1, 1]
    assert drafts(events)[1].steps == ()


def test_steps_in_two_fences_are_joined():
    step_3 = "if start_from <= 3:\n    assert agent.report()\n"
    helper = "def look(box):\n    return agent.open(box + 0)\n"
    reply = (
        f"The helper:\n```python\n{helper}```\nNot so:\n```python\nagent.open(1)\n```\n"
        f"but so:\n```python\n{STEP_2}```\nand then\n```python\n{step_3}```\nIt printed:\n```text\nNothing here.\n```"
    )
    result, _, events = play(PLAN, reply)
    assert result.success
    assert drafts(events)[1].steps == (2, 3)
    assert "box + 0" in result.plan


def test_steps_that_are_not_python_are_repaired_by_themselves():
    broken = STEP_2.replace("if start_from <= 2:", "if start_from <= 2")
    result, model, events = play(PLAN, broken, STEP_2)
    assert result.success
    assert model.purposes == ["plan", "refine", "check"]
    assert refusals(events) == [["syntax"]]
    assert [d.steps for d in drafts(events)] == [None, (), (2,)]
    assert drafts(events)[2].source.count("def solution") == 1


def test_a_merged_plan_that_the_check_refuses_is_repaired_by_steps():
    wrong = STEP_2.replace("look(first + 1)", "agent.peek(first + 1)")
    result, model, events = play(PLAN, wrong, STEP_2)
    assert result.success
    assert refusals(events) == [["agent-method"]]
    assert "agent.peek" in model.asked[2][1][-1]["content"]
    assert "limit = 1" in model.asked[2][1][-1]["content"]


def test_steps_that_replace_the_step_with_a_syntax_error_repair_the_first_plan():
    result, _, events = play(PLAN.replace("found = look(first)", "found = look(first"), STEP_2)
    assert result.success
    assert drafts(events)[1].steps == (2,)


def test_steps_for_a_plan_that_cannot_be_read_are_refused_in_one_sentence():
    broken = PLAN.replace("limit = 1", "limit = (1")
    result, model, events = play(broken, STEP_2, PLAN.replace("limit = 1", "limit = 2"))
    assert result.success
    assert refusals(events) == [["syntax"], ["steps-alone"]]
    asked = model.asked[2][1][-1]["content"]
    assert "write the whole plan" in asked
    assert "limit = (1" in asked


def test_steps_before_any_plan_are_a_plan_without_its_header():
    body = "\n".join(line.removeprefix("    ") for line in PLAN.splitlines()[1:])
    result, _, events = play(f"```python\n{body.replace('limit = 1', 'limit = 2')}\n```")
    assert result.success
    assert drafts(events)[0].steps is None


def test_a_gap_is_closed_by_the_check_and_the_model_then_sees_the_whole_plan():
    reply = "if start_from <= 7:\n    assert agent.report() == 'x', 'Error in [Step 7]: no'\n"
    ended = PLAN.replace("        assert 'ball' in found", "        assert True or 'ball' in found")
    result, model, events = play(ended, reply, "if start_from <= 3:\n    agent.open(2)\n", refine_prompt="conversation")
    assert result.success
    assert starts(events) == [1, 3, 3]
    shown = [m["content"] for m in model.asked[2][1] if m["role"] == "assistant"]
    assert "def solution" in shown[-1]
    assert "if start_from <= 3:" in shown[-1]


@pytest.mark.parametrize("reply", ["", "I cannot do that.", "x = (", "```\n```", "if start_from <= 2", "\0", "\ud800"])
def test_a_reply_without_steps_is_taken_as_it_is(reply):
    taken = take_reply(Sandbox(), reply, PLAN)
    assert taken.source == reply
    assert taken.refusal is None
    assert not taken.steps
