"""The numbered list of an episode."""

from __future__ import annotations

import msgspec
from support.trace_samples import acted, ended, started, state

from codeplan.recording.events import (
    ActionTaken,
    CallBegun,
    DoubtDecided,
    Event,
    ModelCalled,
    PlanFailed,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TextPrinted,
)
from codeplan.report.event_view import MAX_LINE, EventRow, event_rows
from codeplan.types import Completion, Message, Observation


def numbered(*recorded: Event) -> list[Event]:
    return [msgspec.structs.replace(event, seq=number) for number, event in enumerate(recorded)]


def test_each_event_is_a_line_with_its_number() -> None:
    failed = PlanFailed(2, 14, "AssertionError", "no kettle", state(found=None))
    rows = list(event_rows(numbered(started(), acted("look"), TextPrinted("hello\nyou"), failed, ended(started()))))
    assert [row.number for row in rows] == [0, 1, 2, 3, 4]
    assert [row.part for row in rows] == ["other", "actions", "plans", "failures", "other"]
    assert rows[1].text == "> look -> A desk."
    assert rows[2] == EventRow(2, "plans", "| hello you")
    assert rows[3] == EventRow(3, "failures", "An assertion failed in step 2, line 14: no kettle")


def test_title_and_texts_are_kept_apart() -> None:
    messages: list[Message] = [{"role": "user", "content": "Where is it?"}]
    asked = ModelCalled(purpose="ask", messages=messages, completion=Completion("On the desk."), seconds=1.5)
    assert [row.text for row in event_rows(numbered(started(), asked))] == [
        "household · clean/1; Goal: put it away; Method: adaplanner; Model: scripted stand-in, not a language model",
        "The model was called to answer the plan: Where is it? -> On the desk.",
    ]


def test_a_steps_title_is_shown_once() -> None:
    entered = StepEntered(1, "I look", state())
    printed = TextPrinted("[Step 1] I look\n"), TextPrinted("[Step 2] I look\n")
    rows = list(event_rows(numbered(entered, *printed)))
    assert [(row.number, row.text) for row in rows] == [(0, "[Step 1] I look"), (2, "| [Step 2] I look")]


def test_the_end_of_a_span_has_no_line() -> None:
    rows = list(event_rows(numbered(started(), SpanOpened(1, "sub-task", "look"), SpanClosed(1), ended(started()))))
    assert [row.number for row in rows] == [0, 1, 3]


def test_a_line_is_bounded_and_steers_no_terminal() -> None:
    [row] = event_rows(numbered(TextPrinted("\x1b[31m" + "x" * (2 * MAX_LINE))))
    assert len(row.text) == MAX_LINE
    assert "\x1b" not in row.text


def test_a_call_has_a_line_only_if_no_answer_follows() -> None:
    begun, decided = CallBegun('{"tool": "send"}'), DoubtDecided("send", "retry", "option")
    rows = list(event_rows(numbered(begun, acted("look"), begun, decided, begun)))
    assert [row.number for row in rows] == [1, 2, 3, 4]
    assert rows[1] == msgspec.structs.replace(rows[3], number=2) == EventRow(2, "actions", "A call began > send()")


def called(action: str, answer: str) -> ActionTaken:
    return ActionTaken(action=action, observation=Observation(answer), seconds=0.0)


def test_calls_of_tools_and_their_answers_are_shown_in_python() -> None:
    call = '{"tool":"send","arguments":{"to":"ann","at":{"$tuple":[1,null]}}}'
    answers = ['{"result":"it\'s sent"}', '{"result":[true]}', '{"result":""}', '{"error":"KeyError","message":"bob"}']
    rows = list(event_rows(numbered(*(called(call, answer) for answer in answers))))
    shown = ["it's sent", "[True]", "''", "raised KeyError: bob"]
    assert [row.text for row in rows] == [f"> send(to='ann', at=(1, None)) -> {text}" for text in shown]


def test_json_that_is_no_call_is_shown_as_it_is() -> None:
    odd = [
        ('{"key":1}', '{"result":1}'),
        ('{"tool":7}', "7"),
        ('{"tool":"f","arguments":{}', "{"),
        ("look", '{"result":1}'),
    ]
    rows = list(event_rows(numbered(*(called(action, answer) for action, answer in odd))))
    assert [row.text for row in rows] == [f"> {action} -> {answer}" for action, answer in odd]


def test_a_call_keeps_long_arguments_as_far_as_a_line_goes() -> None:
    [row] = event_rows(numbered(called(f'{{"tool":"send","arguments":{{"to":"{"x" * 600}"}}}}', '{"result":null}')))
    assert row.text == f"> send(to='{'x' * 600}') -> None"
