"""The numbered list of an episode."""

from __future__ import annotations

import msgspec
from support.trace_samples import acted, ended, flat, started, state

from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    DoubtDecided,
    Event,
    ModelCalled,
    PlanEnded,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TextPrinted,
)
from codeplan.report.event_view import MAX_LINE, EventRow, event_rows
from codeplan.types import Answer, Call, Completion, Failed, Message


def numbered(*recorded: Event | tuple[CallBegun, CallAnswered]) -> list[Event]:
    return [msgspec.structs.replace(event, seq=number) for number, event in enumerate(flat(*recorded))]


def test_each_event_is_a_line_with_its_number() -> None:
    failed = PlanEnded(outcome=Failed(2, 14, "AssertionError", "no kettle", checkpoint=state(found=None)))
    rows = list(
        event_rows(numbered(started(), acted("look"), TextPrinted(text="hello\nyou"), failed, ended(started())))
    )
    assert [row.number for row in rows] == [0, 2, 3, 4, 5]
    assert [row.part for row in rows] == ["other", "actions", "plans", "failures", "other"]
    assert rows[1].text == "> look -> A desk."
    assert rows[2] == EventRow(3, "plans", "| hello you")
    assert rows[3] == EventRow(4, "failures", "An assertion failed in step 2, line 14: no kettle")


def test_title_and_texts_are_kept_apart() -> None:
    messages: list[Message] = [{"role": "user", "content": "Where is it?"}]
    asked = ModelCalled(purpose="ask", messages=messages, completion=Completion("On the desk."), seconds=1.5)
    assert [row.text for row in event_rows(numbered(started(), asked))] == [
        "household · clean/1; Goal: put it away; Method: adaplanner; Model: scripted stand-in, not a language model",
        "The model was called to answer the plan: Where is it? -> On the desk.",
    ]


def test_a_steps_title_is_shown_once() -> None:
    entered = StepEntered(step=1, title="I look", checkpoint=state())
    printed = TextPrinted(text="[Step 1] I look\n"), TextPrinted(text="[Step 2] I look\n")
    rows = list(event_rows(numbered(entered, *printed)))
    assert [(row.number, row.text) for row in rows] == [(0, "[Step 1] I look"), (2, "| [Step 2] I look")]


def test_the_end_of_a_span_has_no_line() -> None:
    rows = list(
        event_rows(
            numbered(started(), SpanOpened(id=1, kind="sub-task", name="look"), SpanClosed(id=1), ended(started()))
        )
    )
    assert [row.number for row in rows] == [0, 1, 3]


def test_a_line_is_bounded_and_steers_no_terminal() -> None:
    [row] = event_rows(numbered(TextPrinted(text="\x1b[31m" + "x" * (2 * MAX_LINE))))
    assert len(row.text) == MAX_LINE
    assert "\x1b" not in row.text


def test_a_call_has_a_line_only_if_no_answer_follows() -> None:
    begun, decided = CallBegun(id=2, call=Call("send", {})), DoubtDecided(id=2, tool="send", way="retry", by="option")
    rows = list(event_rows(numbered(acted("look"), begun, decided)))
    assert [row.number for row in rows] == [1, 2, 3]
    assert rows[1] == EventRow(2, "actions", "A call began > send()")
    rows = list(event_rows(numbered(begun, decided, CallAnswered(id=2, answer=Answer(7), seconds=0.1))))
    assert [row.number for row in rows] == [1, 2]


def test_calls_that_are_open_at_once_have_their_own_answers() -> None:
    first, second = (CallBegun(id=n, call=Call("send", {"to": n})) for n in (1, 2))
    answers = [CallAnswered(id=n, answer=Answer(f"done {n}"), seconds=0.1) for n in (2, 1)]
    rows = list(event_rows(numbered(first, second, *answers)))
    assert [row.text for row in rows] == ["> send(to=2) -> done 2", "> send(to=1) -> done 1"]
    rows = list(event_rows(numbered(first, second, answers[0])))
    assert [row.text for row in rows] == ["A call began > send(to=1)", "> send(to=2) -> done 2"]


def called(arguments: dict[str, object] | None, *answers: Answer, name: str = "send") -> list[str]:
    """The rows of a call that is made once for each answer."""
    pairs = [
        (CallBegun(id=1, call=Call(name, arguments)), CallAnswered(id=1, answer=answer, seconds=0.0))
        for answer in answers
    ]
    return [row.text for row in event_rows(numbered(*pairs))]


def test_calls_of_tools_and_their_answers_are_shown_in_python() -> None:
    answers = Answer("it's sent"), Answer([True]), Answer(""), Answer(error="KeyError", message="bob")
    shown = ["it's sent", "[True]", "''", "raised KeyError: bob"]
    rows = called({"to": "ann", "at": {"$tuple": [1, None]}}, *answers)
    assert rows == [f"> send(to='ann', at=(1, None)) -> {text}" for text in shown]


def test_forged_data_is_shown_as_it_stands() -> None:
    assert called({"$tuple": [1, 2]}, Answer()) == ["> send($tuple=[1, 2]) -> None"]
    assert called({"key": {"$set": []}}, Answer({"$tuple": 1})) == ["> send(key={'$set': []}) -> {'$tuple': 1}"]
    [row] = event_rows(numbered(CallAnswered(id=7, answer=Answer(1), seconds=0.0)))
    assert row.text.endswith("-> 1")


def test_a_call_keeps_long_arguments_as_far_as_a_line_goes() -> None:
    assert called({"to": "x" * 600}, Answer()) == [f"> send(to='{'x' * 600}') -> None"]
