from fractions import Fraction

import pytest
from msgspec.structs import replace
from support.boxes import Boxes, Replies

from codeplan.budget import Budget, Meter
from codeplan.episode.episode import Episode
from codeplan.episode.replayable import MAX_OBSERVATION_CHARS
from codeplan.errors import BudgetExceeded, EnvironmentFailure, EpisodeOver, ModelError, SizeExceeded
from codeplan.recording.events import CallAnswered, EnvironmentReset, ModelCalled, SpanClosed, SpanOpened
from codeplan.types import Observation, Task

TASK = Task("ball/2", "boxes", "find", "find the ball", 2)
HELLO = [{"role": "user", "content": "hello"}]


def episode(budget=None, env=None, replies=("hi",)):
    return Episode(env or Boxes(), TASK, Replies(*replies), Meter(budget))


def test_the_episode_begins_with_a_reset():
    e = episode()
    assert e.first_observation == e.observation == Observation("There are the boxes 1, 2 and 3. Find the ball.")
    assert isinstance(e.trace.events[0], EnvironmentReset)


def test_each_act_is_charged_and_recorded():
    e = episode()
    assert e.act("open 1").text == "It is empty."
    assert e.meter.actions == 1
    assert isinstance(e.trace.events[-1], CallAnswered)
    assert not e.success


def test_the_environment_decides_success_and_nothing_counts_after_it():
    e = episode()
    e.act("open 2")
    assert (e.success, e.reward) == (True, 1.0)
    with pytest.raises(EpisodeOver):
        e.act("open 3")
    assert e.meter.actions == 1


def test_an_act_beyond_the_budget_does_not_reach_the_environment():
    env = Boxes()
    e = episode(Budget(actions=1), env)
    e.act("open 1")
    with pytest.raises(BudgetExceeded):
        e.act("open 2")
    assert env.actions == ["open 1"]


def test_each_ask_is_charged_and_recorded_whole():
    e = episode()
    assert e.ask(HELLO, purpose="ask", prompt="adaplanner/ask 1234").text == "hi"
    asked = e.trace.events[-1]
    assert isinstance(asked, ModelCalled)
    assert (asked.messages, asked.purpose, asked.prompt) == (HELLO, "ask", "adaplanner/ask 1234")
    assert e.meter.calls_for("ask") == 1


def test_a_failure_of_the_model_stays_an_exception():
    with pytest.raises(ModelError):
        episode(replies=()).ask(HELLO, purpose="plan")


@pytest.mark.parametrize("error", [KeyError("no such box"), SystemExit(0)])
def test_an_environment_that_breaks_or_leaves_is_a_failure_of_infrastructure_that_names_the_action(error):
    class Broken(Boxes):
        def step(self, action):
            raise error

    with pytest.raises(EnvironmentFailure, match=rf"boxes broke while doing 'open 9': {type(error).__name__}"):
        episode(env=Broken()).act("open 9")


def test_the_message_of_an_environment_that_breaks_is_cut_at_500_characters():
    class Verbose(Boxes):
        def step(self, action):
            raise ValueError("x" * 10_000)

    with pytest.raises(EnvironmentFailure) as caught:
        episode(env=Verbose()).act("open 1")
    said = str(caught.value).partition("while doing 'open 1': ")[2]
    shown, place = said.split(" (")
    assert (len(shown), shown[-2:]) == (501, "x…")
    assert place.startswith("test_episode.py, line ")


@pytest.mark.parametrize(("purpose", "error"), [("ask", SizeExceeded), ("plan", ModelError)])
def test_an_answer_that_is_cut_off_costs_the_attempt_only_if_a_plan_asked_for_it(purpose, error):
    class CutOff(Replies):
        def complete(self, messages, **how):
            failed = ModelError("the endpoint cut off the reply")
            failed.reply_cut = True
            raise failed

    cut = Episode(Boxes(), TASK, CutOff(), Meter(None))
    with pytest.raises(error, match="cut off the reply"):
        cut.ask(HELLO, purpose=purpose)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("text", None, "a NoneType as text; give a str"),
        ("reward", float("nan"), "the reward nan; give a number between"),
        ("reward", float("inf"), "the reward inf; give a number between"),
        ("reward", -2e100, "the reward -2e\\+100; give a number between"),
        ("reward", True, "a bool as reward; give a Python float"),
        ("reward", Fraction(1, 2), "a fractions.Fraction as reward; give a Python float"),
        ("success", 1, "an int as success; give Python's True or False"),
        ("done", None, "a NoneType as done; give Python's True or False"),
    ],
)
def test_an_observation_that_no_trace_could_hold_is_refused_where_it_was_made(field, value, message):
    class Odd(Boxes):
        def step(self, action):
            return replace(super().step(action), **{field: value})

    e = episode(env=Odd())
    with pytest.raises(
        EnvironmentFailure, match=f"the environment boxes answered, while doing 'open 2', with {message}"
    ):
        e.act("open 2")
    assert not any(isinstance(event, CallAnswered) for event in e.trace.events)


@pytest.mark.parametrize("reward", [1e100, -1e100, -3, 0])
def test_a_reward_may_be_any_number_that_a_trace_can_hold(reward):
    class Rewarding(Boxes):
        def step(self, action):
            return replace(super().step(action), reward=reward)

    e = episode(env=Rewarding())
    assert e.act("open 1").reward == reward


def test_a_restart_begins_the_task_again_and_keeps_the_counts():
    e = episode()
    e.act("open 2")
    e.restart()
    assert (e.success, e.reward, e.observation.done, e.meter.actions) == (False, 0.0, False, 1)
    assert e.act("open 1").text == "It is empty."


@pytest.mark.parametrize(("more", "lost"), [(0, False), (1, True)])
def test_an_episode_whose_first_observation_is_too_long_takes_no_action_and_no_question(more, lost):
    class Wordy(Boxes):
        def reset(self, task):
            super().reset(task)
            return Observation("x" * (MAX_OBSERVATION_CHARS + more))

    env = Wordy()
    e = episode(env=env)
    if lost:
        with pytest.raises(SizeExceeded):
            e.act("open 1")
        with pytest.raises(SizeExceeded):
            e.ask(HELLO, purpose="ask")
        assert (env.actions, e.meter.actions, e.meter.model_calls) == ([], 0, 0)
    else:
        assert e.act("open 1").text == "It is empty."
        assert e.ask(HELLO, purpose="ask").text == "hi"


def test_events_inside_a_span_bear_its_number():
    e = episode()
    with e.span("trial", "first"):
        e.act("open 1")
        with e.span("sub-task", "inner"):
            e.act("open 3")
    opened, one, one_answered, inner, three, three_answered, inner_closed, closed = e.trace.events[1:]
    assert isinstance(opened, SpanOpened) and isinstance(closed, SpanClosed)
    assert (opened.span, one.span, inner.span, three.span, inner_closed.span, closed.span) == (None, 1, 1, 2, 1, None)
    assert (one_answered.span, three_answered.span) == (1, 2)


def test_an_agent_that_wants_it_gets_the_first_observation():
    class Curious:
        def __init__(self, act, observation):
            self.room = observation.text

    class CuriousBoxes(Boxes):
        agent = Curious

    assert episode(env=CuriousBoxes()).agent().room.startswith("There are the boxes")


def test_the_result_counts_what_was_spent():
    e = episode()
    e.ask(HELLO, purpose="ask")
    e.act("open 1")
    result = e.result("gave up", "hand")
    assert (result.success, result.reason, result.actions, result.asks, result.model_calls) == (
        False,
        "gave up",
        1,
        1,
        1,
    )


class Rewards(Boxes):
    """Boxes whose actions are rewarded with what they name."""

    def step(self, action):
        return Observation("So be it.", float(action), done=action == "9")


def test_the_reward_is_the_best_of_all_observations():
    e = episode(env=Rewards())
    for action in ("0.25", "0.75", "0.5"):
        e.act(action)
    assert (e.reward, e.observation.reward) == (0.75, 0.5)
    assert e.result("over", "m").reward == 0.75
