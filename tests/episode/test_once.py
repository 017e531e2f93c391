"""Calls that are made once: a plan that goes on, or starts over, gets the answers that its calls had."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st
from support.boxes import Replies

import codeplan
from codeplan.episode.history import OnceCalls
from codeplan.recording.events import CarriedAnswer, PlanStarted, SpanOpened, StepEntered
from codeplan.types import Answer, Call, Checkpoint

KEYS = st.sampled_from("ab")
STEPS = st.lists(st.lists(KEYS, max_size=4), min_size=1, max_size=3)


class World:
    """Makes calls, and gives each that works a number of its own as its answer. ``outcomes`` are those of the calls."""

    def __init__(self, outcomes):
        self.outcomes = list(outcomes)
        self.done = []

    def make(self, key):
        outcome = self.outcomes.pop(0) if self.outcomes else "ok"
        if outcome == "fails":
            return Answer(error="OSError", message="no")
        self.done.append(key)
        if outcome == "doubt":
            return Answer(error="TimeoutError", message=str(len(self.done)), in_doubt=True)
        return Answer(value=len(self.done))


class Ledger:
    """Plays runs of a plan on the ledger, as an episode does."""

    def __init__(self, outcomes, carried=()):
        self.world = World(outcomes)
        self.once = OnceCalls({"act"}, carried)
        self.calls = 0

    def call(self, key):
        self.calls += 1
        call = Call("act", {"key": key})
        known = self.once.find(call)
        answer = known.answer if known else self.world.make(key)
        self.once.note(self.calls, call, answer, repeated=known is not None)
        return answer

    def run(self, prefix, steps, start, length):
        """One run from step ``start`` on, of at most ``length`` calls or up to a failure.

        Returns the answers by their places in the plan, and the step that the run came to.
        """
        seen = {}

        def play(place, keys):
            for number, key in enumerate(keys):
                if len(seen) >= length:
                    return False
                answer = self.call(key)
                if answer.error and not answer.in_doubt:
                    return False
                seen[place, number] = answer
            return True

        self.once.follow(PlanStarted(number=1, start_from=start))
        if not play(0, prefix):
            return seen, start
        for step in range(start, len(steps) + 1):
            self.once.follow(StepEntered(step=step, title="", checkpoint=Checkpoint()))
            if not play(step, steps[step - 1]):
                return seen, step
        return seen, len(steps)


OUTCOMES = st.lists(st.sampled_from(["ok", "ok", "ok", "fails", "doubt"]), max_size=30)
RUNS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), min_size=1, max_size=8)


@given(st.lists(KEYS, max_size=2), STEPS, OUTCOMES, RUNS)
@settings(max_examples=400, deadline=None)
def test_each_place_of_a_plan_has_one_answer_of_its_own_however_often_it_runs(prefix, steps, outcomes, runs):
    ledger, answers, reached = Ledger(outcomes), {}, 1
    for back, length in runs:
        seen, step = ledger.run(prefix, steps, max(1, reached - back), length)
        reached = max(reached, step)
        for place, answer in seen.items():
            assert answers.setdefault(place, answer) == answer
    assert len(set(map(str, answers.values()))) == len(answers)
    assert Counter(ledger.world.done) <= Counter(chain(prefix, *steps))


@given(STEPS, STEPS, st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_another_plan_makes_only_the_calls_that_are_more_than_were_made_since_its_step_was_first_entered(
    steps, other, start
):
    ledger, start = Ledger(()), min(start, len(steps), len(other))
    ledger.run([], steps, 1, 99)
    before = Counter(ledger.world.done)
    ledger.run([], other, start, 99)
    since, wanted = Counter(chain(*steps[start - 1 :])), Counter(chain(*other[start - 1 :]))
    assert Counter(ledger.world.done) == before + (wanted - since)


@given(STEPS, st.lists(KEYS, max_size=5), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_the_nth_equal_call_gets_the_nth_answer_that_is_carried_and_those_of_earlier_steps_are_used(steps, keys, start):
    carried = [CarriedAnswer(n, Call("act", {"key": k}), Answer(value=-n), step=1) for n, k in enumerate(keys, 1)]
    ledger, start = Ledger((), carried), min(start, len(steps))
    seen, _ = ledger.run([], steps, start, 99)
    for key in "ab":
        given_ = [-n for n, k in enumerate(keys, 1) if k == key] if start == 1 else []
        got = [answer.value for (step, n), answer in seen.items() if steps[step - 1][n] == key]
        assert got[: len(given_)] == given_[: len(got)] and all(value > 0 for value in got[len(given_) :])


def test_a_new_trial_counts_anew_and_the_parts_of_a_task_begin_where_the_attempt_at_the_whole_began():
    ledger = Ledger(())
    spans = [("trial", None), ("trial", None), ("sub-task", None), ("sub-task", 3), ("sub-task", 3)]
    got = []
    for number, (kind, parent) in enumerate(spans, 1):
        ledger.once.follow(SpanOpened(id=number, kind=kind, name="", span=parent))
        got.append([ledger.call(key).value for key in ("aa", "aab", "ab", "ab", "a")[number - 1]])
    assert got == [[1, 2], [1, 2, 3], [4, 5], [4, 5], [6]]


PLAN = """
def solution(agent, start_from=1):
    seen = []
"""
STEP = """
    if start_from <= {number}:
        print('[Step {number}] act')
        change = {change}
        for key in {keys}:
            agent.act(key)
        seen = {number}
        assert seen == {number}
"""


def plan(steps, changes):
    parts = (
        STEP.format(number=n, change=change, keys=list(keys))
        for n, (keys, change) in enumerate(zip(steps, changes, strict=True), 1)
    )
    return f"```python{PLAN}{''.join(parts)}    return seen\n```"


@given(
    STEPS,
    st.lists(st.sampled_from(["ok", "ok", "fails"]), max_size=8),
    st.lists(st.integers(0, 3), min_size=9, max_size=9),
)
@settings(max_examples=20, deadline=None)
def test_a_whole_episode_makes_no_call_more_often_than_one_pass_of_its_plan(steps, outcomes, careless):
    """The model repeats its plan, and each time changes one of the steps, or none, so that it runs again."""
    world = World(outcomes)

    def act(key: str) -> int:
        answer = world.make(key)
        if answer.error:
            raise OSError(answer.message)
        return answer.value

    changes, replies = [0] * len(steps), []
    for number, which in enumerate(careless):
        replies.append(plan(steps, changes))
        if which < len(steps):
            changes[which] = number + 1
    result = codeplan.do("act", tools=act, once="act", model=Replies(*replies), tries=len(replies), no_progress=0)
    assert result.ending.name == "claimed", result.reason
    assert Counter(world.done) == Counter(chain(*steps))
