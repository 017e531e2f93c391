"""What counts as the same event in a replay: everything but times, and where a limit of time stops a plan."""

from __future__ import annotations

import msgspec
import pytest

from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    EpisodeEnded,
    Event,
    ModelCalled,
    PlanEnded,
    PlanStarted,
    SpanClosed,
    SpanOpened,
)
from codeplan.recording.trace import TIMING_LIMITS, describe_difference
from codeplan.types import Answer, Call, Completion, Failed, NotSolved, Observation, Result, Stopped, Task

BEGUN = CallBegun(id=1, call=Call("open 1"), seq=3, at=7.0)
ANSWERED = CallAnswered(id=1, answer=Answer(observation=Observation("It is empty.")), seconds=0.5, seq=4, at=7.5)
RESULT = Result(Task("a"), ending=NotSolved("no"), method="m", model="x", seconds=2.0, trace="here/trace.jsonl")


def stop(limit: str, *, value: float = 5.0, allowed: float = 4.0, line: int | None = 7, step: int | None = 2) -> Event:
    return PlanEnded(outcome=Stopped(limit, value, allowed, step, line, "too much"))


@pytest.mark.parametrize("limit", sorted(TIMING_LIMITS))
def test_a_limit_of_time_or_memory_may_stop_a_plan_at_another_line_with_another_value(limit: str) -> None:
    assert describe_difference(stop(limit), stop(limit, value=5.5, line=8)) == ""
    assert describe_difference(stop(limit), stop(limit, line=None)) == ""


@pytest.mark.parametrize("limit", ["turns", "output", "calls", "asks"])
def test_any_other_limit_stops_a_plan_at_the_same_place(limit: str) -> None:
    assert describe_difference(stop(limit), stop(limit)) == ""
    assert "line was 7, and is now 8" in describe_difference(stop(limit), stop(limit, line=8))
    assert "value was 5.0, and is now 6.0" in describe_difference(stop(limit), stop(limit, value=6.0))


@pytest.mark.parametrize("limit", ["wall", "turns"])
def test_the_step_and_the_limit_of_a_stop_are_compared(limit: str) -> None:
    assert "step was 2, and is now 3" in describe_difference(stop(limit), stop(limit, step=3))
    assert "allowed was 4.0, and is now 3.0" in describe_difference(stop(limit), stop(limit, allowed=3.0))
    assert "limit was" in describe_difference(stop(limit), stop("cpu"))


def test_another_ending_is_a_difference_whatever_its_line() -> None:
    failed = PlanEnded(outcome=Failed(2, 7, "KeyError", "no"))
    assert "line was 7, and is now 8" in describe_difference(failed, PlanEnded(outcome=Failed(2, 8, "KeyError", "no")))
    assert describe_difference(stop("wall"), failed).startswith("outcome was ")


def test_times_and_numbers_of_an_event_are_not_compared_and_all_else_is() -> None:
    assert describe_difference(ANSWERED, msgspec.structs.replace(ANSWERED, seconds=9.0, seq=9, at=8.0)) == ""
    assert "call.name was 'open 1'" in describe_difference(BEGUN, CallBegun(id=1, call=Call("open 2")))
    assert "id was 1, and is now 2" in describe_difference(BEGUN, msgspec.structs.replace(BEGUN, id=2))
    other = CallAnswered(id=1, answer=Answer(observation=Observation("It is full.", 1.0)), seconds=0.5)
    assert describe_difference(ANSWERED, other).startswith("answer.observation.text was 'It is empty.'")
    assert "answer.observation.reward was 0.0, and is now 1.0" in describe_difference(ANSWERED, other)
    none = CallAnswered(id=1, answer=Answer(value=3), seconds=0.5)
    assert "answer.observation was " in describe_difference(ANSWERED, none)


def test_a_result_may_differ_in_its_time_and_in_the_place_of_its_trace() -> None:
    ended = EpisodeEnded(result=RESULT)
    moved = msgspec.structs.replace(RESULT, seconds=3.0, trace=None)
    assert describe_difference(ended, EpisodeEnded(result=moved)) == ""
    assert "result.actions" in describe_difference(
        ended, EpisodeEnded(result=msgspec.structs.replace(moved, actions=1))
    )


ASKED = ModelCalled(
    purpose="plan",
    messages=[{"role": "system", "content": "Plan.\nBe brief."}, {"role": "user", "content": "Find it."}],
    completion=Completion("x = 1\ny = 2"),
    seconds=1.0,
)


def test_texts_of_several_lines_are_compared_by_line() -> None:
    said = describe_difference(ASKED, msgspec.structs.replace(ASKED, completion=Completion("x = 1\ny = 3")))
    assert said.startswith("completion.text differs:\n")
    assert "y = 2" in said and "y = 3" in said
    one = describe_difference(BEGUN, CallBegun(id=1, call=Call("open 1\nopen 2")))
    assert one.startswith("call.name differs:\n") and "open 2" in one


def test_messages_are_compared_by_their_lines_and_other_lists_by_their_parts() -> None:
    changed = [ASKED.messages[0], {"role": "user", "content": "Find them."}]
    said = describe_difference(ASKED, msgspec.structs.replace(ASKED, messages=changed))
    assert said.startswith("messages differs:\n")
    assert "Find it." in said and "Find them." in said and "role" not in said
    odd = describe_difference(ASKED, msgspec.structs.replace(ASKED, messages=[{"role": "user"}, 7]))
    assert "{'role': 'user'}" in odd and "7" in odd


@pytest.mark.parametrize(
    ("event", "named"),
    [
        (BEGUN, "CallBegun ('open 1')"),
        (ASKED, "ModelCalled ('plan')"),
        (PlanStarted(number=1, start_from=2), "PlanStarted"),
        (SpanClosed(id=1), "SpanClosed"),
    ],
)
def test_an_event_is_named_with_what_it_does(event: Event, named: str) -> None:
    other = SpanOpened(id=1, kind="trial", name="1")
    assert describe_difference(event, other) == f"it was {named}, and is now SpanOpened"
