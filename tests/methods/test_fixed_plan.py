from support.boxes import Boxes, Replies

from codeplan.methods.fixed_plan import FixedPlan
from codeplan.recording.events import PlanStarted, StepEntered
from codeplan.runner.episodes import run
from codeplan.types import Finished, NotSolved, Refused, Success

LOOK = """
def solution(agent, start_from=1):
    if start_from <= 1:
        box = 1
        assert box, 'Error in [Step 1]'
    if start_from <= 2:
        assert 'ball' in agent.open(box + 1), 'Error in [Step 2]'
"""


def play(method):
    events = []
    return run(Boxes(), "ball/2", method, Replies(), on_event=events.append), events


def test_it_runs_the_plan_once_and_keeps_its_outcome():
    method = FixedPlan(LOOK)
    result, _ = play(method)
    assert result.ending == Success()
    assert isinstance(method.outcome, Finished) and method.plan.source == LOOK


def test_it_names_why_a_plan_is_refused_or_fails():
    assert isinstance(play(FixedPlan("import os"))[0].ending, Refused)
    failed, _ = play(FixedPlan(LOOK.replace("box + 1", "box")))
    assert failed.ending == NotSolved("the plan failed at step 2: AssertionError: Error in [Step 2]")


def test_it_pauses_at_a_step_once_and_resumes_with_the_steps_variables():
    seen = []
    method = FixedPlan(LOOK, pause_at=2, on_pause=lambda agent: seen.append(list(agent.opened)))
    result, events = play(method)
    assert result.success and seen == [[]]
    assert [e.step for e in events if isinstance(e, StepEntered)] == [1, 2, 2]
    assert [(e.start_from, e.restored) for e in events if isinstance(e, PlanStarted)] == [(1, ()), (2, ("box",))]


def test_it_reports_the_lines_that_run():
    covered = []
    play(FixedPlan(LOOK, on_coverage=covered.append))
    assert covered
