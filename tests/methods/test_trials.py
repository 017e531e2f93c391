"""Try-Again and Reflexion: trials from the start, and what is kept of them. Plan-and-Execute: one plan, step by step."""

import pytest
from support.boxes import BoxesInWords, Replies

from codeplan.budget import sampling_temperature
from codeplan.errors import UsageError
from codeplan.methods.adapt import Adapt
from codeplan.methods.plan_and_execute import PlanAndExecute
from codeplan.methods.react import ReAct
from codeplan.methods.reflexion import Reflexion
from codeplan.methods.registry import make
from codeplan.methods.try_again import TryAgain
from codeplan.recording.events import SpanOpened
from codeplan.runner.episodes import run

GIVE_UP = "think: Task failed!"


def play(method, *replies, env=None):
    model, events = Replies(*replies), []
    result = run(env or BoxesInWords(), "ball/2", method, model, on_event=events.append)
    spans = [(e.kind, e.name) for e in events if isinstance(e, SpanOpened)]
    return result, model, spans


def test_it_tries_again_from_the_start():
    env = BoxesInWords()
    result, _, spans = play(TryAgain(trials=3), "open 1", GIVE_UP, "open 2", env=env)
    assert (result.success, result.actions) == (True, 2)
    assert env.actions == ["open 2"]
    assert ("trial", "1") in spans
    assert ("trial", "2") in spans


DONE = "think: Task completed!"


@pytest.mark.parametrize(
    ("replies", "claim", "why"),
    [
        ([GIVE_UP, DONE], True, "says that the task is done"),
        ([DONE, GIVE_UP], True, "says that the task is done"),
        ([GIVE_UP, GIVE_UP], False, "says that it cannot"),
    ],
)
def test_of_trials_with_the_same_reward_one_with_a_claim_is_the_best(replies, claim, why):
    result, model, _ = play(TryAgain(trials=2), *replies)
    assert (result.claim, len(model.asked)) == (claim, 2)
    assert why in result.reason


def test_a_trial_without_a_claim_counts_as_one_that_gave_up():
    turns = ReAct(calls=1)
    result, _, _ = play(TryAgain(trials=2, executor=turns), "open 1", GIVE_UP)
    assert (result.success, result.claim) == (False, None)
    result, _, _ = play(TryAgain(trials=2, executor=turns), "open 1", DONE)
    assert result.claim is True


def test_a_reflection_is_read_in_the_next_trial():
    result, model, spans = play(Reflexion(trials=2), "open 1", GIVE_UP, "Open box 2 instead.", "open 2")
    assert result.success
    assert model.purposes == ["act", "act", "reflect", "act"]
    assert "> open 1\nIt is empty." in model.asked[2][1][-1]["content"]
    assert "Open box 2 instead." in model.asked[3][1][-1]["content"]
    assert "> open 1" not in model.asked[3][1][-1]["content"]
    assert ("reflection", "1") in spans


def test_only_the_last_reflections_are_kept():
    replies = [GIVE_UP, "lesson one", GIVE_UP, "lesson two", GIVE_UP, "lesson three", GIVE_UP]
    _, model, _ = play(Reflexion(trials=4, memory=2), *replies)
    last = model.asked[-1][1][-1]["content"]
    assert "lesson one" not in last
    assert "lesson two" in last
    assert "lesson three" in last


def test_a_part_of_a_task_is_tried_again_from_where_it_began():
    plan = "Step 1: open box 1\nStep 2: open box 2\nExecution order: Step 1 AND Step 2"
    env = BoxesInWords()
    method = Adapt(executor=Reflexion(trials=2), rollback=False)
    replies = [GIVE_UP, "hm", GIVE_UP, plan, "open 1", "think: Task completed!", "open 3", GIVE_UP, "not 3", "open 2"]
    result, _, spans = play(method, *replies, env=env)
    assert result.success
    assert env.actions == ["open 1", "open 2"]
    assert ("rewind", "to after 1 actions") in spans


def test_a_plan_is_carried_out_step_by_step():
    plan = "Step 1: open box 1\nStep 2: open box 2\nExecution order: Step 1 AND Step 2"
    result, model, spans = play(PlanAndExecute(), plan, "open 1", "think: Task completed!", "open 2")
    assert result.success
    assert "> open 1\nIt is empty." in model.asked[-1][1][-1]["content"]
    assert spans == [("step", "open box 1"), ("step", "open box 2")]


def test_a_plan_is_not_adapted_to_a_step_that_fails():
    plan = "Step 1: open box 1\nStep 2: open box 2\nExecution order: Step 1 AND Step 2"
    result, model, _ = play(PlanAndExecute(), plan, GIVE_UP)
    assert (result.reason, result.claim) == ("a step of the plan failed", False)
    assert model.replies == []


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("adapt", {"executor": "walk"}, "there is no method 'walk'"),
        ("adapt", {"executor": {"calls": 3}}, "has no name"),
        ("adapt", {"executor": {"name": "react", "cals": 3}}, "has no setting 'cals'"),
        ("adapt", {"executor": 7}, "an int; give a method"),
        ("autoplan", {"plan": "/nowhere/plan.txt"}, "cannot be read"),
    ],
)
def test_a_setting_that_does_not_fit_is_one_clear_sentence(name, settings, why):
    with pytest.raises(UsageError, match=why):
        make(name, **settings)


class Thermometer(Replies):
    """A model that keeps the temperature at which each call is to be sampled; its own is ``own``."""

    def __init__(self, own, *replies):
        super().__init__(*replies)
        self.own, self.felt = own, []

    def complete(self, messages, **rest):
        self.felt.append(sampling_temperature(self.own))
        return super().complete(messages, **rest)


@pytest.mark.parametrize(
    ("own", "retry", "felt"),
    [(0.0, 0.7, [0.0, 0.7, 0.7]), (0.0, None, [0.0] * 3), (None, 0.7, [None] * 3), (1.0, 0.0, [1.0, 0.0, 0.0])],
)
def test_trials_after_the_first_sample_at_a_temperature_of_their_own(own, retry, felt):
    model = Thermometer(own, *[GIVE_UP] * 3)
    run(BoxesInWords(), "ball/2", TryAgain(trials=3, retry_temperature=retry), model)
    assert model.felt == felt
    assert sampling_temperature(0.3) == 0.3


@pytest.mark.parametrize("retry", [0.0, 10.0, None])
def test_a_retry_temperature_may_be_zero_or_none(retry):
    assert make("try-again", retry_temperature=retry).retry_temperature == retry


@pytest.mark.parametrize("retry", [-0.1, float("inf"), float("nan")])
def test_a_retry_temperature_below_zero_is_refused(retry):
    with pytest.raises(UsageError, match="retry_temperature"):
        make("try-again", retry_temperature=retry)
