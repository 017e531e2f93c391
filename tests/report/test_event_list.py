"""The numbered list of an episode."""

from __future__ import annotations

import msgspec
from support.trace_samples import acted, ended, started, state

from codeplan.recording.events import CallBegun, DoubtDecided, Event, PlanFailed, SpanClosed, SpanOpened, TextPrinted
from codeplan.report.event_list import MAX_LINE, EventRow, event_rows


def numbered(*recorded: Event) -> list[Event]:
    return [msgspec.structs.replace(event, seq=number) for number, event in enumerate(recorded)]


def test_each_event_is_a_line_with_its_number() -> None:
    failed = PlanFailed(2, 14, "AssertionError", "no kettle", state(found=None))
    rows = list(event_rows(numbered(started(), acted("look"), TextPrinted("hello\nyou"), failed, ended(started()))))
    assert [row.number for row in rows] == [0, 1, 2, 3, 4]
    assert [row.part for row in rows] == ["other", "actions", "plans", "failures", "other"]
    assert rows[1].text == "> look -> A desk."
    assert rows[2] == EventRow(2, "plans", "| hello you")
    assert rows[3] == EventRow(3, "failures", "An assertion failed in step 2, line 14 no kettle")


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
    assert (
        rows[1]
        == msgspec.structs.replace(rows[3], number=2)
        == EventRow(2, "actions", 'A call began > {"tool": "send"}')
    )
