"""Files with too many values, or too deep ones, are refused before they are parsed.

Their size in memory is many times that of the file, and what shows them recurses.
"""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.trace_samples import acted, started, write

from codeplan.bench import store
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.store import EpisodeOutcome, read_bench
from codeplan.errors import SizeExceeded, TraceExhausted, UsageError
from codeplan.recording import tape
from codeplan.recording.event_log import MAX_SAVED_VALUES, MAX_TRACE_VALUES, LineSizes, TraceSize
from codeplan.recording.events import EpisodeEnded, StepEntered
from codeplan.recording.tape import TapeRecorder, read_tape
from codeplan.recording.trace import Trace
from codeplan.report.json_output import to_plain_data
from codeplan.report.pages.trace_index import UnreadableEvent, decode_event
from codeplan.types import Checkpoint, Result, Success, Task
from codeplan.untrusted.json_values import (
    MAX_NESTING,
    ValueLimit,
    has_more_values,
    is_too_deep,
    may_have_more_values,
    measure_json,
)

MANY = [[]] * 1000


@pytest.mark.parametrize(
    ("value", "most"),
    [("a" * 9999, 1), ("," * 9999, 1), ('",[{' * 9999, 1), ("\\" * 9999, 1), (MANY, 2001), ({"a": [1, 2]}, 4)],
)
def test_values_are_counted_and_signs_within_texts_are_not(value: Any, most: int) -> None:
    text = json.dumps(value).encode()
    assert measure_json(text)[0] == most
    assert has_more_values(text, most - 1) and not has_more_values(text, most)


@pytest.mark.parametrize("piece", [b'"', b"\\", b'"\\', b'",', b'"\\"', b"[", b"a"])
def test_counting_takes_linear_time(piece: bytes) -> None:
    begun = time.process_time()
    measure_json(piece * 2_000_000)[0]
    assert time.process_time() - begun < 5


def test_the_limit_is_for_all_texts_together() -> None:
    limit = ValueLimit(10)
    limit.check(b"[1,2,3]", "line 1")
    limit.check(b"[1,2,3,4,5]", "line 2")
    with pytest.raises(UsageError, match="line 3: the file holds more than 10 values up to here"):
        limit.check(b"1", "line 3")


def test_a_trace_with_too_many_values_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = StepEntered(step=1, title="", checkpoint=Checkpoint(nodes=MANY))
    path = write(tmp_path, started(), *[full] * 3)
    assert len(Trace.read(path)) == 4
    monkeypatch.setattr(LineSizes.__init__, "__defaults__", (5000,))
    with pytest.raises(UsageError, match=r"line 4: the file holds more than 5,000 values"):
        Trace.read(path)


def test_what_may_be_written_may_be_read() -> None:
    """An episode ends before its trace is too large to be read."""
    size, event = TraceSize(), acted()
    size.count(event, b"[" + b"0," * (MAX_TRACE_VALUES - 2_000_003))
    size.add(event, b"0")
    with pytest.raises(TraceExhausted, match="it has reached 10,000,000 values"):
        size.add(event, b"0")


def test_a_tape_with_too_many_values_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = TapeRecorder(tmp_path / "tape.jsonl")
    handle = recorder.start_episode()
    for number in range(4):
        handle(StepEntered(seq=number, step=1, title="", checkpoint=Checkpoint(nodes=MANY)))
    recorder.close()
    assert len(read_tape(tmp_path / "tape.jsonl")[0]) == 4
    monkeypatch.setattr(tape, "MAX_TAPE_VALUES", 5000)
    with pytest.raises(UsageError, match="the file holds more than 5,000 values"):
        read_tape(tmp_path / "tape.jsonl")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def ended_with(depth: int) -> EpisodeEnded:
    """The end of an episode, whose JSON is nested so deep."""
    return EpisodeEnded(result=Result(Task("t/0"), Success(), value=nested(depth - 2)))


def test_signs_within_texts_may_be_values_to_the_quick_count() -> None:
    text = msgspec.json.encode(["[{," * 20, 1])
    assert [has_more_values(text, most) for most in (2, 3)] == [True, False]
    assert [may_have_more_values(text, most) for most in (62, 63)] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        b'"",' * 200_000,
        b'"' + b"[," * 300_000 + b'",1,',
        b"1," * 300_000,
        b'"\\\\","\\"",' * 100_000,
        b"1," * 200_000 + b'"' + b'\\",' * 100_000 + b'",[1]',
        b'{"a":"' + b"x" * (64 << 10) + b'"},' + b"[]," * 99,
    ],
)
def test_pieces_of_a_long_text_hold_as_many_values_as_the_whole(text: bytes) -> None:
    bare = re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text)
    assert measure_json(text)[0] == 1 + sum(bare.count(sign) for sign in (b",", b"[", b"{"))
    values = measure_json(text)[0]
    assert [has_more_values(text, most) for most in (values - 1, values)] == [True, False]


@pytest.mark.parametrize("end", [b'"', b'"\\', b'"' + b"a," * 200_000, b'"' + b'\\"' * 200_000 + b"\\"])
def test_a_string_without_an_end_is_the_rest_of_the_text(end: bytes) -> None:
    assert measure_json(b"1," * 100 + end)[0] == 101
    assert not is_too_deep(b"[" * 200 + end + b"[")
    assert is_too_deep(b"[" * 201 + end)


def test_counting_takes_little_more_memory_than_the_text() -> None:
    text = b'"",' * 1_000_000
    tracemalloc.start()
    try:
        assert measure_json(text)[0] == 1_000_001
        assert is_too_deep(b'["a",' * 201 + text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(text)


def test_depth_is_counted_and_signs_within_texts_are_not() -> None:
    assert not is_too_deep(b"[" * MAX_NESTING + b"]" * MAX_NESTING)
    assert is_too_deep(b"[" * MAX_NESTING + b'{"a":0}' + b"]" * MAX_NESTING)
    assert not is_too_deep(b"[" + b'{"a":[]},' * 500 + b"0]")
    assert not is_too_deep(json.dumps('"[{\\' * 500).encode())


def test_a_trace_with_values_too_deep_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "most", started(), ended_with(MAX_NESTING))
    (read,) = Trace.read(path)[1:]
    assert json.dumps(to_plain_data(read), indent=2).count("[") > MAX_NESTING - 10
    path = write(tmp_path / "more", started(), ended_with(MAX_NESTING + 1))
    with pytest.raises(UsageError, match=r"line 2: it holds values nested deeper than 200"):
        Trace.read(path)


def test_the_report_shows_no_values_that_are_too_deep() -> None:
    shown = decode_event(msgspec.json.encode(ended_with(MAX_NESTING + 1)))
    assert isinstance(shown, UnreadableEvent)
    assert "nested deeper than 200" in shown.reason
    assert decode_event(msgspec.json.encode(ended_with(MAX_NESTING))) == ended_with(MAX_NESTING)


def test_what_is_too_deep_to_be_read_is_not_written() -> None:
    trace = Trace(None)
    with pytest.raises(SizeExceeded, match="nested deeper than 200"):
        trace.append(ended_with(MAX_NESTING + 1))
    trace.append(ended_with(MAX_NESTING))


@pytest.mark.parametrize("where", [store.GRID_FILE, store.RESULTS_FILE])
@pytest.mark.parametrize("more", [0, 1])
def test_a_bench_with_values_too_deep_is_not_read(where: str, more: int, tmp_path: Path) -> None:
    task, in_grid = Task("t/0"), where == store.GRID_FILE
    deep = {"deep": nested(MAX_NESTING + more - (4 if in_grid else 3))}
    cell = BenchCell("c", "s", "e", "m", "x", settings=deep if in_grid else {})
    outcome = EpisodeOutcome("c", task, 0, "", Result(task, Success(), variables={} if in_grid else deep))
    (tmp_path / store.GRID_FILE).write_bytes(msgspec.json.encode(BenchGrid((cell,), {"s": (task,)})))
    (tmp_path / store.RESULTS_FILE).write_bytes(msgspec.json.encode(outcome) + b"\n")
    if not more:
        assert json.dumps(to_plain_data(read_bench(tmp_path)), default=repr)
        return
    with pytest.raises(UsageError, match=rf"{re.escape(where)}.*: it holds values nested deeper than 200"):
        read_bench(tmp_path)


@pytest.mark.parametrize("where", [store.GRID_FILE, store.RESULTS_FILE])
def test_a_bench_with_too_many_values_is_not_read(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, in_grid = Task("t/0"), where == store.GRID_FILE
    cell = BenchCell("c", "s", "e", "m", "x", settings={"a": MANY} if in_grid else {})
    outcome = EpisodeOutcome("c", task, 0, "", Result(task, Success(), value=None if in_grid else MANY))
    (tmp_path / store.GRID_FILE).write_bytes(msgspec.json.encode(BenchGrid((cell,), {"s": (task,)})))
    (tmp_path / store.RESULTS_FILE).write_bytes(msgspec.json.encode(outcome) + b"\n")
    assert len(read_bench(tmp_path).outcomes) == 1
    monkeypatch.setattr(store, "MAX_BENCH_VALUES", 1000)
    with pytest.raises(UsageError, match=rf"{re.escape(where)}.*: the file holds more than 1,000 values"):
        read_bench(tmp_path)


def test_the_limit_leaves_room_for_the_checkpoints_of_an_episode() -> None:
    assert MAX_SAVED_VALUES < MAX_TRACE_VALUES // 2
