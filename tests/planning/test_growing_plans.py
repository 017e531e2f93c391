"""Plans that grow: ``replan`` and ``give_up`` in the refinement loop, and refinements that change nothing."""

from __future__ import annotations

import pytest
from support.boxes import Boxes, Replies
from support.trace_samples import outcomes_of

from codeplan.recording.events import PlanDrafted, PlanStarted, StepEntered
from codeplan.runner.episodes import run
from codeplan.types import GaveUp, GiveUp, NoProgress, NotSolved, Refused, Replan, Success

HEAD = "def solution(agent, start_from=1):\n"
LOOK = """    if start_from <= 1:
        seen = [agent.open({box})]
        replan(f'seen {{seen}}')
"""
OPEN = """    if start_from <= 2:
        seen.append(agent.open({box}))
        assert 'ball' in seen[-1], f'Error in [Step 2]: {{seen}}'
"""


def look(box=1):
    return HEAD + LOOK.format(box=box)


def grown(box=2, first=1):
    return look(first) + OPEN.format(box=box)


def play(*replies, task="ball/2", env=None, **settings):
    """The result, the model with what it was asked, and the events."""
    model, events = Replies(*replies), []
    result = run(env or Boxes(), task, model=model, on_event=events.append, **settings)
    return result, model, events


def starts(events):
    return [e.start_from for e in events if isinstance(e, PlanStarted)]


def kinds(events, *kinds):
    return [e for e in events if isinstance(e, kinds)]


def test_a_plan_looks_and_then_goes_on_after_its_step():
    result, model, events = play(look(), grown())
    assert result.success
    assert (result.actions, result.refinements, model.purposes) == (2, 1, ["plan", "refine"])
    assert starts(events) == [1, 2]
    asked = model.asked[1][1][-1]["content"]
    assert "[Step 1] asked to replan: seen ['It is empty.']" in asked
    replanned = outcomes_of(events, Replan)[0]
    assert (replanned.step, replanned.line, replanned.step_done) == (1, 4, True)


def test_steps_with_the_same_code_replan_each_for_itself():
    steps = "".join(f"    if start_from <= {k}:\n        agent.open(3)\n        replan('next')\n" for k in range(1, 9))
    _, model, events = play(*[HEAD + steps] * 6, replans=3, tries=2, no_progress=0)
    assert starts(events) == [1, 2, 3, 4, 5]
    assert model.purposes == ["plan", *["refine"] * 4]


def test_a_helper_function_that_only_the_reason_uses_does_not_change_its_step():
    helper = "    def told(x):\n        return f'seen {x}'\n"
    first = HEAD + helper + LOOK.format(box=1).replace("f'seen {seen}'", "told(seen)")
    result, _, events = play(first, grown())
    assert result.success
    assert starts(events) == [1, 2]


def test_a_replan_amid_a_step_resumes_in_that_step_with_its_variables():
    first = (
        HEAD + "    if start_from <= 1:\n        x = 1\n        if agent.open(x) != 'ball':\n            replan('no')\n"
    )
    second = HEAD + "    if start_from <= 1:\n        assert agent.open(x + 1)\n"
    result, _, events = play(first, second.replace("x + 1", "1 + 1"))
    assert result.success
    assert starts(events) == [1, 1]
    assert not outcomes_of(events, Replan)[0].step_done
    assert kinds(events, PlanStarted)[1].restored == ("x",)


ODD = """    if start_from <= 1:
        seen = [agent.open(1)]
        if 'ball' not in seen[0]:
            replan('no ball')
        assert seen, 'Error in [Step 1]'
"""


def test_a_step_that_asked_to_replan_amid_it_is_not_repeated_as_it_was():
    result, model, events = play(HEAD + ODD, "```python\n" + OPEN.format(box=2) + "```")
    assert result.success
    assert starts(events) == [1, 2]
    assert result.actions == 2
    assert "Execution goes on behind [Step 1], unless you change that step" in model.asked[1][1][-1]["content"]


@pytest.mark.parametrize(("replans", "ending"), [(0, 1), (1, 2), (3, 4)])
def test_only_so_many_replans_are_free(replans, ending):
    never = [look(box=1 + n % 2) for n in range(9)]
    result, model, _ = play(*never, task="ball/3", tries=1, replans=replans, no_progress=0)
    assert result.ending == NotSolved("no success in 1 try")
    assert len(model.asked) == ending


def test_a_replan_that_is_not_free_is_a_used_try_and_the_next_plan_still_resumes():
    result, model, events = play(look(), grown(), tries=2, replans=0)
    assert result.success
    assert starts(events) == [1, 2]
    result, model, _ = play(look(), grown(), tries=1, replans=0)
    assert not result.success
    assert model.purposes == ["plan"]


def test_a_replan_resumes_even_where_failures_start_over():
    for setting in ({"start_over_from": 1}, {"after_failure": "restart"}):
        result, _, events = play(look(), grown(), **setting)
        assert result.success
        assert starts(events) == [1, 2]
        assert result.actions == 2


def test_a_plan_that_grew_starts_over_without_asking_again():
    result, model, events = play(look(), grown(3), grown(2), start_over_from=2)
    assert result.success
    assert model.purposes == ["plan", "refine", "refine"]
    assert starts(events) == [1, 2, 1, 2]
    assert [e.step for e in kinds(events, StepEntered)] == [1, 2, 1, 2]


def test_a_first_plan_with_steps_behind_its_replan_asks_all_the_same():
    result, model, events = play(grown(3), grown(2))
    assert result.success
    assert starts(events) == [1, 2]
    assert model.purposes == ["plan", "refine"]


def test_a_replan_outside_the_steps_names_no_step():
    outside = HEAD + "    replan('how?')\n    if start_from <= 1:\n        assert 0\n"
    result, model, events = play(outside, HEAD + "    if start_from <= 1:\n        assert agent.open(2)\n")
    assert result.success
    assert "code outside the steps asked to replan: how?" in model.asked[1][1][-1]["content"]
    assert (outcomes_of(events, Replan)[0].step, starts(events)) == (None, [1, 1])


def test_a_plan_that_gives_up_ends_the_episode():
    body = "    if start_from <= 1:\n        agent.open(1)\n        give_up('no ball\\n' + 'x' * 9_000)\n"
    result, model, events = play(HEAD + body)
    assert isinstance(result.ending, GaveUp)
    assert result.reason.startswith("the plan gave up: no ball x")
    assert len(result.reason) == len("the plan gave up: ") + 500
    assert (result.claim, model.purposes) == (False, ["plan"])
    assert len(outcomes_of(events, GiveUp)[0].reason) > 8_000


def test_success_counts_more_than_giving_up():
    result, _, _ = play(HEAD + "    if start_from <= 1:\n        agent.open(2)\n        give_up('no')\n")
    assert result.ending == Success()


# ------------------------------------------------------------------ refinements that change nothing

WRONG = HEAD + "    if start_from <= 1:\n        assert 'ball' in agent.open(1), 'no ball'\n"


def test_two_refinements_that_change_nothing_end_the_episode():
    result, model, _ = play(*[WRONG] * 9)
    assert result.ending == NoProgress(
        "no progress: 2 refinements in a row led to the same end; each plan ended with AssertionError in step 1"
    )
    assert (result.ending.name, len(model.asked)) == ("no_progress", 3)


@pytest.mark.parametrize(("no_progress", "calls"), [(0, 6), (1, 2), (2, 3), (3, 4), (5, 6), (9, 6)])
def test_so_many_refinements_may_change_nothing(no_progress, calls):
    result, model, _ = play(*[WRONG] * 9, no_progress=no_progress)
    assert len(model.asked) == calls
    assert isinstance(result.ending, NotSolved if calls == 6 else NoProgress)


@pytest.mark.parametrize(("no_progress", "calls"), [(0, 18), (1, 6), (2, 9), (3, 12), (5, 18)])
def test_a_model_that_never_answers_with_python_makes_no_progress(no_progress, calls):
    """Each try is a reply and two repairs."""
    result, model, _ = play(*[f"Answer {i}: I can't, it's only talk." for i in range(20)], no_progress=no_progress)
    assert len(model.asked) == calls
    assert isinstance(result.ending, Refused if calls == 18 else NoProgress)
    assert "the reply contains no Python" in result.reason
    assert "unterminated" not in result.reason


def test_every_plan_is_recorded_as_the_one_that_runs():
    _, _, events = play(look(), grown())
    assert [e.number for e in kinds(events, PlanDrafted)] == [e.number for e in kinds(events, PlanStarted)] == [1, 2]
