"""The index of a trace file: any part can be read without the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.trace_samples import PLAN, acted, ended, started, state, write

from codeplan.errors import UsageError
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    EpisodeStarted,
    PlanDrafted,
    PlanFixed,
    PlanStarted,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TextPrinted,
)
from codeplan.recording.trace import Trace
from codeplan.report.pages.trace_index import MAX_EVENT_BYTES, MAX_PAGE_EVENTS, TraceIndex, UnreadableEvent
from codeplan.types import Answer, Call, Fix


def test_the_pages_hold_every_event_once_and_in_order(tmp_path: Path) -> None:
    path = write(tmp_path, started(), *(acted(f"go {n}") for n in range(MAX_PAGE_EVENTS)), ended(started()))
    index = TraceIndex(path).refresh()
    events = [event for page in range(len(index.pages)) for event in index.read(page)]
    assert events == Trace.read(path)
    assert [page.first for page in index.pages] == [0, MAX_PAGE_EVENTS, 2 * MAX_PAGE_EVENTS]
    assert index.count == len(events)


def test_large_events_make_pages_short(tmp_path: Path) -> None:
    index = TraceIndex(write(tmp_path, started(), *(acted(text="x" * 600_000) for _ in range(4)))).refresh()
    assert [len(index.read(page)) for page in range(len(index.pages))] == [4, 2, 2, 1]


def test_an_event_that_is_too_large_is_named_and_not_read(tmp_path: Path) -> None:
    index = TraceIndex(write(tmp_path, started(), acted(text="x" * MAX_EVENT_BYTES), acted("after"))).refresh()
    events = [event for page in range(len(index.pages)) for event in index.read(page)]
    assert isinstance(events[2], UnreadableEvent)
    assert events[2].size > MAX_EVENT_BYTES
    assert isinstance(events[3], CallBegun)
    assert events[3].call.name == "after"


def test_a_damaged_line_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, started(), acted(), acted())
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b'{"event": "call_begun", "seq": [[[', b'{"event": "\xff', *lines[3:]]))
    events = TraceIndex(path).refresh().read(0)
    assert isinstance(events[0], EpisodeStarted)
    assert isinstance(events[1], UnreadableEvent)
    assert isinstance(events[2], UnreadableEvent)
    assert isinstance(events[3], CallBegun)


def test_an_incomplete_last_line_is_read_once_it_is_complete(tmp_path: Path) -> None:
    path = write(tmp_path, started(), acted("one"), acted("two"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    index = TraceIndex(path).refresh()
    assert (index.count, len(index.read(0))) == (4, 4)
    path.write_bytes(whole)
    assert index.refresh().count == 5
    assert index.read(0) == Trace.read(path)


def test_a_page_knows_the_plan_the_step_and_the_spans_at_its_start(tmp_path: Path) -> None:
    begin = [started(), SpanOpened(id=1, kind="trial", name="1"), SpanOpened(id=2, kind="task", name="2")]
    begin += [SpanClosed(id=2), PlanDrafted(number=1, origin="plan", source=PLAN), PlanStarted(number=1, start_from=1)]
    begin += [StepEntered(step=2, title="take", checkpoint=state())]
    index = TraceIndex(write(tmp_path, *begin, *(acted() for _ in range(MAX_PAGE_EVENTS)))).refresh()
    carried = index.pages[1].context
    assert (carried.plan_event, carried.step, carried.spans) == (4, 2, (1,))
    plan = index.plan_at(carried.plan_event)
    assert plan is not None
    assert plan.source == PLAN
    assert index.plan_at(3) is None


def test_a_page_begins_with_the_plan_as_the_check_mended_it(tmp_path: Path) -> None:
    drafted = PlanDrafted(number=1, origin="plan", source=f"import os\n{PLAN}")
    fixed = PlanFixed(number=1, fixes=(Fix("unused-import", 1, "import os", ""),), source=PLAN)
    index = TraceIndex(write(tmp_path, started(), drafted, fixed, *(acted() for _ in range(MAX_PAGE_EVENTS)))).refresh()
    plan = index.plan_at(index.pages[1].context.plan_event)
    assert plan is not None
    assert plan.source == PLAN
    assert index.read(0)[1].source == drafted.source  # type: ignore[union-attr]


def test_a_page_knows_the_calls_that_are_open_at_its_start(tmp_path: Path) -> None:
    first, second = (CallBegun(id=n, call=Call("send", {"to": n})) for n in (1, 2))
    answers = [CallAnswered(id=n, answer=Answer(f"done {n}"), seconds=0.1) for n in (2, 1)]
    noise = [TextPrinted(text="x")] * MAX_PAGE_EVENTS
    index = TraceIndex(write(tmp_path, started(), first, second, *noise, answers[0], *noise, answers[1])).refresh()
    opened = [[event.call for event in index.calls_at(page.context)] for page in index.pages]
    assert opened == [[], [first.call, second.call], [first.call]]


def test_a_missing_trace_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"trace.jsonl cannot be read"):
        TraceIndex(tmp_path / "trace.jsonl").refresh()
