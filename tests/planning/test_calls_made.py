"""The list of calls that a refinement is told of: those that were made, each once, within its bound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codeplan.planning.feedback import MAX_DONE_CHARS, done_lines
from codeplan.recording.events import CallAnswered, CallBegun, Event
from codeplan.types import Answer, Call

MADE, FAILED, IN_DOUBT = Answer(1), Answer(error="OSError", message="no"), Answer(error="OSError", in_doubt=True)


def events(*calls: tuple[str, Answer | None]) -> list[Event]:
    """The events of these calls of ``send``; without an answer, a call was broken off."""
    made: list[Event] = []
    for id, (to, answer) in enumerate(calls, 1):
        made.append(CallBegun(id=id, call=Call("send", {"to": to})))
        made += [CallAnswered(id=id, answer=answer, seconds=0.0)] if answer else []
    return made


def test_equal_calls_are_one_line_with_a_count_at_the_last_ones_place():
    lines = done_lines(events(("ann", MADE), ("bob", MADE), ("ann", MADE), ("cid", FAILED)))
    assert lines == ("send(to='bob')", "send(to='ann') (x 2)")


def test_a_call_in_doubt_has_a_line_of_its_own_which_says_so():
    lines = done_lines(events(("ann", MADE), ("ann", IN_DOUBT), ("bob", None)))
    assert lines == ("send(to='ann')", "send(to='ann'): in doubt, nobody knows whether it was done")


@given(st.lists(st.tuples(st.text(max_size=3).map(lambda t: t * 900), st.sampled_from([MADE, FAILED, IN_DOUBT]))))
def test_the_newest_calls_are_told_within_the_bound_and_the_others_counted(calls):
    everything = events(*calls)
    lines = done_lines(everything)
    assert all(line.isprintable() for line in lines)
    assert sum(len(line) + 1 for line in lines) <= MAX_DONE_CHARS + 100
    made = sum(not answer.error or answer.in_doubt for _, answer in calls)
    if lines and "earlier call" in lines[0]:
        assert len(done_lines(everything[2:])) >= len(lines) - 1
    else:
        assert made == sum(int(line.partition(" (x ")[2].partition(")")[0] or 1) for line in lines)
