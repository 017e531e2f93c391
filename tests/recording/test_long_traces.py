"""A long trace is in its file, and only a part of it in memory; it looks the same as one that is held whole."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.trace_samples import ended, flat, started, write

from codeplan.errors import TraceFailure
from codeplan.recording.event_log import KEPT_BYTES, events_of, latest_of, places_of
from codeplan.recording.events import CallAnswered, CallBegun, Event, SpanOpened, TextPrinted
from codeplan.recording.trace import Trace
from codeplan.types import Answer, Call

TEXT = "x" * (KEPT_BYTES // 8)
ROWS = [{"id": n, "name": f"row {n}", "tags": ["a", "b"]} for n in range(200)]


def called(number: int, value: object = TEXT) -> tuple[CallBegun, CallAnswered]:
    """A call and its answer, by default such that eight calls are more than what stays in memory."""
    return CallBegun(id=number, call=Call("f", {"n": number})), CallAnswered(id=number, answer=Answer(value), seconds=0)


def events(calls: int, value: object = TEXT) -> list[Event]:
    return flat(started(), *(called(n, value) for n in range(calls)), TextPrinted(text="end"))


def played(path: Path, further: list[Event], repeated: int | None = None) -> Trace:
    """The trace of an episode that goes on: it has repeated so many events, or all and then further ones."""
    trace = Trace.resume(path)
    for event in trace.recording[:repeated]:
        trace.append(event)
    for event in further if repeated is None else ():
        trace.append(event)
    return trace


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("long"), *events(20))


@pytest.fixture(scope="module", params=["read", "repeated", "written on", "without a file"])
def trace(request: pytest.FixtureRequest, path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    """A trace of which most is in the file alone."""
    copy = tmp_path_factory.mktemp("copy") / "trace.jsonl"
    copy.write_bytes(path.read_bytes())
    if request.param == "without a file":
        made = Trace()
        for event in events(20):
            made.append(event)
    elif request.param == "read":
        made = Trace(recording=Trace.read(copy))
        for event in made.recording:
            made.append(event)
    else:
        made = played(copy, events(20)[1:], 17 if request.param == "repeated" else None)
    yield made
    made.close()


parts = st.slices(90)


@settings(max_examples=50)
@given(first=parts, second=parts)
def test_any_part_of_it_is_that_of_a_list(trace: Trace, first: slice, second: slice) -> None:
    held = list(trace.events)
    assert len(held) == len(trace.events) > 16
    for lazy, whole in ((trace.events[first], held[first]), (trace.events[first][second], held[first][second])):
        assert lazy == whole and list(reversed(lazy)) == whole[::-1]
        assert [lazy[n] for n in range(-len(lazy), len(lazy))] == whole + whole
        assert list(events_of(lazy, CallAnswered)) == [e for e in whole if isinstance(e, CallAnswered)]
        assert list(places_of(lazy, CallBegun, TextPrinted)) == [
            n for n, e in reversed(list(enumerate(whole))) if isinstance(e, CallBegun | TextPrinted)
        ]
        assert latest_of(lazy, CallBegun) == next((e for e in reversed(whole) if isinstance(e, CallBegun)), None)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_the_next_turn_takes_the_place_of_an_end(is_recorded: bool, tmp_path: Path) -> None:
    end, first = ended(started()), events(20)
    path = write(tmp_path, *first, *([end] if is_recorded else []))
    goes_on = played(path, [] if is_recorded else [end])
    goes_on.take_end_back()
    assert goes_on.events == list(Trace.read(path))[:-1]
    for event in called(20):
        goes_on.append(event)
    assert [type(e) for e in goes_on.events] == [*map(type, first), CallBegun, CallAnswered]
    goes_on.close()
    assert goes_on.events == Trace.read(path)


def test_without_a_file_the_next_turn_takes_the_place_of_an_end_too() -> None:
    trace = Trace()
    for event in (*events(20), ended(started())):
        trace.append(event)
    trace.take_end_back()
    for event in events(20)[1:]:
        trace.append(event)
    assert [type(e) for e in trace.events] == [*map(type, events(20)), *map(type, events(20)[1:])]


def write_all(path: Path, values: list[Event]) -> None:
    written = Trace(path)
    for event in values:
        written.append(event)
    assert sum(1 for _ in written.events) == len(values)
    written.close()


def keep_all(path: Path, values: list[Event]) -> None:
    kept = Trace()
    for event in values:
        kept.append(event)
    assert sum(isinstance(event, CallAnswered) for event in kept.events) == len(values) // 2


def read_all(path: Path, values: list[Event]) -> None:
    assert sum(isinstance(event, CallAnswered) for event in Trace.read(path)) == len(values) // 2


def repeat_all(path: Path, values: list[Event]) -> None:
    repeated = played(path, [SpanOpened(id=1, kind="trial", name="1")])
    assert len(repeated.events) == len(values) + 1
    repeated.close()


@pytest.mark.parametrize("use", [write_all, keep_all, read_all, repeat_all])
def test_a_long_trace_takes_little_memory(use: Callable[[Path, list[Event]], None], tmp_path: Path) -> None:
    """What stays in memory takes ten times the room of its text, whatever the length; these, held whole, twice that."""
    path, one = tmp_path / "trace.jsonl", called(1, ROWS)
    values: list[Event] = [started(), *one * 300]
    if use is not write_all:  # it makes the file itself
        write(tmp_path, *values)
    tracemalloc.start()
    try:
        use(path, values)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 16 * KEPT_BYTES


def test_a_line_that_somebody_changes_meanwhile_is_not_taken(path: Path, tmp_path: Path) -> None:
    """The attacker: a plan whose tools write files, and which would have an answer say what no tool said."""
    copy = tmp_path / "trace.jsonl"
    copy.write_bytes(path.read_bytes())
    read = Trace.read(copy)
    assert read[2] == called(0)[1] or isinstance(read[2], CallAnswered)
    with copy.open("r+b") as file:
        file.seek(copy.read_bytes().index(b"xxx"))
        file.write(b"y")
    list(read[5:9])  # what was read last is known a little longer
    with pytest.raises(TraceFailure, match="was changed while it was in use"):
        read[2]


def test_events_can_be_read_after_the_trace_is_closed_while_another_episode_has_it(tmp_path: Path) -> None:
    written = Trace(tmp_path / "trace.jsonl")
    for event in events(20):
        written.append(event)
    written.close()
    other = Trace.resume(tmp_path / "trace.jsonl")
    assert written.events == other.recording
    other.close()


def test_a_temporary_file_is_closed_with_its_trace() -> None:
    trace = Trace()
    for event in events(20):
        trace.append(event)
    part = trace.events[3:]
    file = trace._stored[0].file._file
    del trace
    gc.collect()
    assert isinstance(part[1], CallAnswered) and not file.closed
    del part
    gc.collect()
    assert file.closed


@pytest.mark.parametrize("calls", [2, 20])
def test_no_file_stays_open_once_nobody_has_the_events(calls: int, tmp_path: Path) -> None:
    read = Trace.read(write(tmp_path, *events(calls)))
    part, file = read[3:], read.file._file  # type: ignore[attr-defined]
    del read
    gc.collect()
    assert file.closed == (calls == 2)
    del part
    gc.collect()
    assert file.closed
