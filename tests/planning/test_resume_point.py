"""The resume point of any two plans: what its rule says, in time linear in the names that a plan claims."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.steps import count_lines

from codeplan.planning.refinement import PlanAttempt, find_resume_point, last_state, unfinished_step
from codeplan.types import Checkpoint, Failed, Finished, GiveUp, Plan, Replan, ResourceUsage, Step, Stopped

names = st.lists(st.sampled_from("abcd"), unique=True, max_size=3).map(tuple)
parts = st.tuples(st.sampled_from("xy"), names, names)
plans = st.builds(
    lambda rows, provides: Plan("", tuple(Step(n, n, n, "", *row) for n, row in enumerate(rows, 1)), provides),
    st.lists(parts, max_size=5),
    names,
)
states = st.dictionaries(st.integers(1, 5), names.map(lambda found: Checkpoint(dict.fromkeys(found, 0))))


def by_the_rule(old: Plan, new: Plan, failed: int | None, saved: dict[int, Checkpoint], suggested: int | None) -> int:
    """The rule as it is written, without regard to time."""
    pairs = [(s.number, s.digest) for s in old.steps]
    changed = [s.number for s in new.steps if (s.number, s.digest) not in pairs]
    latest = suggested or min(changed, default=0) or failed or 1
    for step in range(min(latest, failed or len(new.steps)), 0, -1):
        have = {*new.provides, *(saved[step].names if step in saved else ())}
        earlier = {name for s in new.steps if s.number < step for name in s.sets}
        missing = set()
        for part in (s for s in new.steps if s.number >= step):
            missing |= {*part.needs} - have
            have |= {*part.sets}
        if step in saved and step <= len(new.steps) and not missing & earlier:
            return step
    return 1


maybe_step = st.none() | st.integers(1, 5)


@given(plans, plans, maybe_step, states, maybe_step)
def test_the_resume_point_is_that_of_the_rule(old, new, failed, saved, suggested):
    assert find_resume_point(old, new, failed, saved, suggested) == by_the_rule(old, new, failed, saved, suggested)


def claimed(size: int) -> Plan:
    """A plan whose steps need every name and set it again, so that all names are needed at each step."""
    every = tuple(f"n{k}" for k in range(size))
    steps = [Step(1, 1, 1, "", "d", (), every)]
    steps += [Step(n, n, n, "", "d", (f"n{n}",), ()) for n in range(2, size)]
    return Plan("", (*steps, Step(size, size, size, "", "d", every, ())))


def lines_run(size: int) -> int:
    """The lines of Python that finding the resume point of such a plan takes."""
    plan, empty = claimed(size), {n: Checkpoint() for n in range(1, size + 1)}
    return count_lines(lambda: find_resume_point(plan, plan, size, empty))


def test_twice_the_names_take_about_twice_the_steps():
    assert lines_run(1_000) < 2.5 * lines_run(500)


def made_of(*rows: tuple[str, str, str], provides: str = "") -> Plan:
    """A plan; each step is its digest, the names that it needs and those that it sets."""
    steps = (Step(n, n, n, "", digest, tuple(needs), tuple(sets)) for n, (digest, needs, sets) in enumerate(rows, 1))
    return Plan("", tuple(steps), tuple(provides))


def saved(**names: str) -> dict[int, Checkpoint]:
    """The saved names by step: ``s2="ab"``."""
    return {int(step[1:]): Checkpoint(dict.fromkeys(found, 0)) for step, found in names.items()}


OLD = made_of(("x", "", "a"), ("x", "a", "b"), ("x", "ab", ""))


@pytest.mark.parametrize(
    ("new", "states", "resumes"),
    [
        (OLD, saved(s1="", s2="a", s3="ab"), 3),
        (OLD, saved(s1="", s2="a", s3="a"), 2),
        (OLD, saved(s1="", s2="a", s3="b"), 2),
        (OLD, saved(s1="", s2="", s3="b"), 1),
        (OLD, saved(s2="a"), 2),
        (OLD, {}, 1),
        (made_of(("x", "", "a"), ("x", "a", "b"), ("x", "ab", ""), provides="b"), saved(s3="a"), 3),
        (made_of(("x", "", "a"), ("y", "a", "b"), ("x", "ab", "")), saved(s1="", s2="a", s3="ab"), 2),
        (made_of(("x", "", "a"), ("x", "", "ab"), ("x", "abz", "")), saved(s2="", s3="ab"), 3),
        (made_of(("x", "", "a"), ("x", "", "ab"), ("x", "ab", "")), saved(s2="", s3="b"), 2),
    ],
)
def test_a_plan_resumes_where_all_that_it_needs_was_saved(new, states, resumes):
    assert find_resume_point(OLD, new, 3, states) == resumes


SAVED = Checkpoint({"a": 0})


def failed(step: int | None, checkpoint: Checkpoint = SAVED) -> Failed:
    return Failed(step, 3, "ValueError", "no", "", checkpoint, {}, ResourceUsage())


def stopped(step: int | None, checkpoint: Checkpoint | None) -> Stopped:
    return Stopped("wall", 9, 8, step, 3, "too long", "", checkpoint, {}, ResourceUsage())


def replan(step: int | None, *, done: bool) -> Replan:
    return Replan(step, 3, "look on", done, "", SAVED, {}, ResourceUsage())


def finished(step: int | None) -> Finished:
    return Finished("", step, SAVED, {}, ResourceUsage())


@pytest.mark.parametrize(
    ("outcome", "next_step", "by_failure", "by_entry"),
    [
        (failed(2), 2, {2: SAVED}, {}),
        (failed(None), None, {}, {}),
        (stopped(2, SAVED), 2, {2: SAVED}, {}),
        (stopped(2, None), 2, {}, {}),
        (GiveUp(2, 3, "no", "", SAVED, {}, ResourceUsage()), 2, {2: SAVED}, {}),
        (replan(2, done=False), 3, {2: SAVED, 3: SAVED}, {3: SAVED}),
        (replan(3, done=False), 3, {3: SAVED}, {}),
        (replan(2, done=True), 3, {3: SAVED}, {3: SAVED}),
        (replan(3, done=True), 3, {}, {}),
        (replan(None, done=True), None, {}, {}),
        (finished(2), None, {3: SAVED}, {3: SAVED}),
        (finished(3), None, {}, {}),
        (finished(None), None, {}, {}),
    ],
)
def test_the_variables_at_the_end_serve_the_step_that_is_next(outcome, next_step, by_failure, by_entry):
    attempt = PlanAttempt(OLD, outcome, {})
    assert unfinished_step(attempt, OLD) == next_step
    assert last_state(OLD, attempt, "failure") == by_failure
    assert last_state(OLD, attempt, "entry") == by_entry


def test_a_step_that_asked_to_replan_is_next_if_the_new_plan_changes_it():
    changed = made_of(("x", "", "a"), ("y", "a", "b"), ("x", "ab", ""))
    attempt = PlanAttempt(OLD, replan(2, done=False), {})
    assert unfinished_step(attempt, changed) == 2
    assert last_state(changed, attempt, "failure") == {2: SAVED}
    assert last_state(changed, attempt, "entry") == {}


@pytest.mark.parametrize("suggested", [None, 3])
def test_no_plan_resumes_after_the_step_that_failed(suggested):
    changed = made_of(("x", "", "a"), ("x", "a", "b"), ("y", "ab", ""))
    assert find_resume_point(OLD, changed, 2, saved(s1="", s2="a", s3="ab"), suggested) == 2
    assert find_resume_point(OLD, changed, 3, saved(s1="", s2="a", s3="ab"), suggested) == 3
