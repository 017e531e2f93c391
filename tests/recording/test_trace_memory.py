"""Reading a trace takes little memory beside its events."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from support.trace_samples import acted, ended, started, write

from codeplan.errors import UsageError
from codeplan.recording.trace import Trace


def test_beside_the_events_reading_takes_no_room_for_the_file(tmp_path: Path) -> None:
    write(tmp_path, started(), *[acted()] * 10_000)
    tracemalloc.start()
    try:
        events = Trace.read(tmp_path / "trace.jsonl")
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(events) == 20_001
    assert most - kept < 0.3 * (tmp_path / "trace.jsonl").stat().st_size


def test_a_file_that_is_larger_than_any_trace_is_refused_before_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, started(), acted())
    os.truncate(tmp_path / "trace.jsonl", 512 * 2**20 + 1)
    for read in (Trace.read, Trace.read_resumable, Trace.resume):
        with pytest.raises(UsageError, match="cannot be read: it is larger than 536,870,912 bytes"):
            read(tmp_path / "trace.jsonl")


@pytest.mark.parametrize("torn", ["", '{"event":"acti', "nonsense"])
def test_what_follows_the_last_line_end_is_left_out(tmp_path: Path, torn: str) -> None:
    write(tmp_path, started(), acted(), acted())
    with (tmp_path / "trace.jsonl").open("a") as file:
        file.write(torn)
    assert [event.seq for event in Trace.read(tmp_path / "trace.jsonl")] == [0, 1, 2, 3, 4]


def test_a_damaged_line_is_named_by_its_number(tmp_path: Path) -> None:
    write(tmp_path, started(), acted(), acted())
    lines = (tmp_path / "trace.jsonl").read_bytes().splitlines(keepends=True)
    for text, said in (
        (b"nonsense\n", "line 3 is no event"),
        (b"\n", "line 3 is no event"),
        (lines[1], "line 3 is out"),
    ):
        (tmp_path / "trace.jsonl").write_bytes(b"".join([*lines[:2], text]))
        with pytest.raises(UsageError, match=said):
            Trace.read(tmp_path / "trace.jsonl")


def test_a_resumed_trace_is_cut_behind_the_last_event_that_counts(tmp_path: Path) -> None:
    head = started()
    path = write(tmp_path, head, acted(), msgspec.structs.replace(ended(head), broken_off=True))
    lines = path.read_bytes().splitlines(keepends=True)
    trace = Trace.resume(path)
    for event in (*trace.recording, *acted("open")):
        trace.append(event)
    trace.close()
    found = path.read_bytes().splitlines(keepends=True)
    assert found[:3] == lines[:3]
    assert len(found) == 5 and b'"open"' in found[3]
    assert len(Trace.read_resumable(path)) == 5


def test_a_trace_of_nothing_but_an_interruption_begins_again(tmp_path: Path) -> None:
    path = write(tmp_path, msgspec.structs.replace(ended(started()), broken_off=True))
    assert Trace.read_resumable(path) == []
    assert len(Trace.read(path)) == 1
