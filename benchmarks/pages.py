"""Measures pages of a very large trace: its index compared with plain reading, one page of it, and the memory.

python benchmarks/pages.py [MEGABYTES]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from codeplan.recording.events import CallAnswered, CallBegun, EpisodeStarted, StepEntered
from codeplan.report.pages import archive
from codeplan.report.pages.report_source import ReportSource
from codeplan.report.pages.trace_index import TraceIndex
from codeplan.sandbox import encode
from codeplan.types import Answer, Call, Observation, Task

_T = TypeVar("_T")


def main(megabytes: int) -> None:
    """Write a trace of ``megabytes`` and print the cost of its index, one page and the whole report."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "run", "trace.jsonl")
        write(path, megabytes << 20)
        before = memory()
        plain = cpu("reading the file's lines", lambda: sum(1 for _ in path.open("rb")))[1]
        index, seconds = cpu("the index of the trace", TraceIndex(path).refresh)
        print(f"  {seconds / plain:.1f} times the plain reading; {index.count:,} events, {len(index.pages):,} pages")
        cpu("one page out of the middle", lambda: index.read(len(index.pages) // 2))
        written = cpu(
            "the whole report", lambda: archive.write_archive(ReportSource(path.parent), Path(place, "page.html"))
        )[0]
        print(f"  {written.size / 1e6:.1f} MB, {written.left_out:,} pages left out")
        print(f"memory: {(memory() - before) / 1e3:.0f} MB more than before, for a trace of {megabytes} MB")


def write(path: Path, size: int) -> None:
    """Write a trace of about ``size`` bytes."""
    path.parent.mkdir()
    head = EpisodeStarted(
        task=Task("long"), env="household", method="adaplanner", model="scripted", codeplan_version="0"
    )
    state = encode({"seen": [f"drawer {n}" for n in range(200)]}, 1 << 18)
    events = [
        event
        for n in range(60)
        for event in (
            CallBegun(id=n + 1, call=Call(f"go to drawer {n}")),
            CallAnswered(id=n + 1, answer=Answer(observation=Observation("Nothing. " * 40)), seconds=0.0),
        )
    ]
    lines = msgspec.json.Encoder().encode_lines([StepEntered(step=1, title="look", checkpoint=state), *events])
    with path.open("wb") as file:
        file.write(msgspec.json.encode(head) + b"\n")
        for _ in range(size // len(lines)):
            file.write(lines)


def cpu(what: str, do: Callable[[], _T]) -> tuple[_T, float]:
    """Call ``do``, print its processor time, and return its result with that time."""
    started = time.process_time()
    result = do()
    seconds = time.process_time() - started
    print(f"{what}: {seconds:.3f} s of processor time")
    return result, seconds


def memory() -> int:
    """The peak memory of this process in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
