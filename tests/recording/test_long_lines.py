"""Lines that no recorder writes: their values would take many times their length in memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from codeplan.errors import UsageError
from codeplan.recording.event_log import MAX_EVENT_BYTES
from codeplan.recording.events import EpisodeStarted, ModelCallFailed, PlanDrafted, TextPrinted
from codeplan.recording.tape import read_tape
from codeplan.recording.trace import Trace, write_trace
from codeplan.types import Task

HEADER = EpisodeStarted(
    task=Task("t/0", "household"), env="household", method="m", model="m", codeplan_version="1", seq=0
)
LISTS = b"[" + b"[]," * (MAX_EVENT_BYTES // 3) + b"[]]"
PLAIN = msgspec.json.encode(HEADER)[:-1]

LONG = {
    "settings": PLAIN.replace(b'"settings":{}', b'"a":0') + b',"settings":{"x":' + LISTS + b"}}",
    "model settings": PLAIN + b',"model_settings":{"x":' + LISTS + b"}}",
    "unknown field": PLAIN + b',"x":' + LISTS + b"}",
    "spaces": PLAIN + b" " * MAX_EVENT_BYTES + b"}",
    "failed call within": b'{"x":{"event":"model_call_failed"},' + PLAIN[1:] + b',"y":' + LISTS + b"}",
    "failed call later": PLAIN + b',"y":' + LISTS + b',"event":"model_call_failed"}',
    "plan": msgspec.json.encode(PlanDrafted(seq=0, number=1, origin="plan", source="#" * MAX_EVENT_BYTES)),
    "text": msgspec.json.encode(TextPrinted(seq=0, text="x" * MAX_EVENT_BYTES)),
    "no event": b"\0" * (MAX_EVENT_BYTES + 1),
    "failed call that no call makes": b'{"event":"model_call_failed"' + b" " * (8 * MAX_EVENT_BYTES) + b"}",
}


@pytest.mark.parametrize("name", LONG)
def test_a_trace_with_a_line_that_is_too_long_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "trace.jsonl").write_bytes(LONG[name] + b"\n")
    for read in (Trace.read, Trace.read_resumable, Trace.resume):
        with pytest.raises(UsageError, match="line 1 is too long for an event"):
            read(tmp_path / "trace.jsonl")
    assert (tmp_path / "trace.jsonl").read_bytes() == LONG[name] + b"\n"


@pytest.mark.parametrize("name", [name for name in LONG if name != "no event"])
def test_a_tape_with_a_line_that_is_too_long_is_refused(tmp_path: Path, name: str) -> None:
    digest = hashlib.sha256(b"0 " + LONG[name]).hexdigest()[:16].encode()
    (tmp_path / "tape").write_bytes(b'{"episode":0,"digest":"' + digest + b'","event":' + LONG[name] + b"}\n")
    with pytest.raises(UsageError, match="line 1 is too long for an event"):
        read_tape(tmp_path / "tape")


def test_the_record_of_a_failed_call_may_be_longer(tmp_path: Path) -> None:
    failed = ModelCallFailed(purpose="plan", messages=[], error="x" * (MAX_EVENT_BYTES + 1), seconds=0.0, seq=1)
    write_trace(tmp_path / "trace.jsonl", [HEADER, failed])
    assert Trace.read(tmp_path / "trace.jsonl") == [HEADER, failed]


def test_a_line_may_have_the_maximum_length_and_no_more(tmp_path: Path) -> None:
    longest = PLAIN + b" " * (MAX_EVENT_BYTES - len(PLAIN) - 1) + b"}"
    (tmp_path / "trace.jsonl").write_bytes(longest + b"\n")
    assert Trace.read(tmp_path / "trace.jsonl") == [HEADER]
    (tmp_path / "trace.jsonl").write_bytes(b" " + longest + b"\n")
    with pytest.raises(UsageError, match="line 1 is too long for an event"):
        Trace.read(tmp_path / "trace.jsonl")
