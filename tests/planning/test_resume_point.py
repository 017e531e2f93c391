"""The resume point of any two plans: what its rule says, in time linear in the names that a plan claims."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.steps import count_lines

from codeplan.planning.resume_point import find_resume_point
from codeplan.types import Checkpoint, Plan, Step

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
def test_the_resume_point_is_that_of_the_rule(
    old: Plan, new: Plan, failed: int | None, saved: dict[int, Checkpoint], suggested: int | None
) -> None:
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


def test_twice_the_names_take_about_twice_the_steps() -> None:
    assert lines_run(1_000) < 2.5 * lines_run(500)
