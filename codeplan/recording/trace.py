"""The trace of an episode: what happened, kept as it happens, and followed when it is to happen again.

A trace is a JSON Lines file: one event a line, on disk before anybody acts on it, never changed. So an episode that
died leaves all but a torn last line readable. Given what was recorded, a method is a deterministic function: an
episode that is resumed, replayed or forked runs the same method again while the recording answers, until it ends.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from codeplan.errors import Diverged, TraceFailure, UsageError
from codeplan.recording.comparison import describe_difference, describe_kind_mismatch
from codeplan.recording.events import EpisodeEnded, Event, EventHandler, ModelCallFailed, SpanClosed, decode_event
from codeplan.recording.file_lock import lock_exclusively

_encoder = msgspec.json.Encoder()

_E = TypeVar("_E")


class Trace:
    """Collects the events of one episode: in memory, in a file where one is given, and to a listener.

    ``path`` must not exist yet: a trace is never overwritten. ``recording`` is what the episode is to do again: each
    event must be the recorded one, but for times, and is not written anew. After its end events are new, or, where the
    trace is not ``live``, a divergence. Safe to use from several threads.

    Raises UsageError where the file cannot be created.
    """

    def __init__(
        self,
        path: Path | None = None,
        on_event: EventHandler | None = None,
        recording: Sequence[Event] = (),
        live: bool = True,
    ) -> None:
        self.path = path
        self.events: list[Event] = []
        self.recording = list(recording)
        self._on_event, self._live = on_event, live
        self._lock = threading.Lock()
        self._file = _create(path) if path else None
        self._clock_offset: float | None = None

    @classmethod
    def resume(cls, path: Path, on_event: EventHandler | None = None) -> Trace:
        """The trace of an episode that died or was interrupted, to be followed and then written on.

        A torn last line, and the end that an interruption wrote, are taken back. Raises UsageError where the file
        cannot be read or is damaged elsewhere, and where its episode still runs.
        """
        file = _open(path)
        try:
            events, size = _drop_interruption(_read_lines(path))
            file.truncate(size)
            file.seek(size)
        except BaseException:
            file.close()
            raise
        trace = cls(None, on_event, events)
        trace.path, trace._file = path, file
        return trace

    @staticmethod
    def read(path: Path | str) -> list[Event]:
        """All events of a trace file. A torn last line, as a crash leaves it, is left out.

        Raises UsageError where the file cannot be read, or where another line is damaged or out of its place (its
        number is named).
        """
        return [event for event, _ in _read_lines(Path(path))]

    @staticmethod
    def read_resumable(path: Path) -> list[Event]:
        """As ``read``, without the end that an interruption wrote: what can be done again."""
        return _drop_interruption(_read_lines(path))[0]

    def next_recorded(self, *kinds: type[_E]) -> _E | None:
        """The event that comes next in the recording; None when that is over, and all is live from here on.

        Raises Diverged where it is of none of these kinds, and where the recording is over but nothing may be live.
        """
        if not self.is_replaying:
            return None
        event = self.recording[len(self.events)]
        if not isinstance(event, kinds):
            raise Diverged(f"event {event.seq} is not what was recorded: {describe_kind_mismatch(event, kinds[0])}")
        return event

    def peek_recorded(self, kind: type[_E]) -> _E | None:
        """The event that comes next in the recording where it is of this kind; None where it is not, or none comes."""
        event = self.recording[len(self.events)] if len(self.events) < len(self.recording) else None
        return event if isinstance(event, kind) else None

    def save_file(self, folder: str, ending: str, data: bytes) -> str:
        """Write a file beside the trace, under a name of its own; returns its path relative to the trace.

        Raises TraceFailure where that cannot be done.
        """
        assert self.path is not None, "only a trace in a file has a place beside it"
        file = Path(folder) / f"{len(self.events):05}{ending}"
        try:
            (self.path.parent / folder).mkdir(exist_ok=True)
            (self.path.parent / file).write_bytes(data)
        except OSError as e:
            raise TraceFailure(f"the file {self.path.parent / file} cannot be written: {e.strerror}") from e
        return str(file)

    @property
    def is_replaying(self) -> bool:
        """Whether the recording goes on: nothing may be done in the world then, nor a model asked."""
        if len(self.events) < len(self.recording):
            return True
        if self._live:
            return False
        raise Diverged(f"the recording ends after {len(self.events)} events, but the episode goes on")

    def append(self, event: Event, span: int | None = None) -> Event:
        """Number, date, write and return the event; or check it against the recording and return what was recorded.

        Raises Diverged where it is another than the recorded one, or an end with which the recording does not end;
        TraceFailure where it cannot be written.
        """
        with self._lock:
            if self.is_replaying:
                event = self._match_recorded(msgspec.structs.replace(event, span=span))
            else:
                event = msgspec.structs.replace(event, seq=len(self.events), at=self.now(), span=span)
                self._write(event)
            self.events.append(event)
        if self._on_event:
            self._on_event(event)
        return event

    def now(self) -> float:
        """Unix time in seconds, without the gap between the recording's end and its resumption."""
        position = len(self.events)
        if position < len(self.recording):
            # An end is as late as what it ends; everything else began when the event before it was over.
            ends = isinstance(self.recording[position], EpisodeEnded)
            return self.recording[position if ends else max(position - 1, 0)].at
        if self._clock_offset is None:
            self._clock_offset = time.time() - self.recording[-1].at if self.recording else 0.0
        return time.time() - self._clock_offset

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if self._file:
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def _match_recorded(self, event: Event) -> Event:
        recorded = self.recording[len(self.events)]
        if differs := describe_difference(recorded, event):
            raise Diverged(f"event {recorded.seq} is not what was recorded: {differs}")
        if isinstance(event, EpisodeEnded) and recorded is not self.recording[-1]:
            raise Diverged(f"event {recorded.seq + 1} was recorded after the episode's end")
        return recorded

    def _write(self, event: Event) -> None:
        if self._file is None:
            return
        try:
            self._file.write(_encoder.encode(event) + b"\n")
        except OSError as e:
            raise TraceFailure(f"the trace {self.path} cannot be written on: {e.strerror}") from e


def check_sequence(event: Event, wanted: int, path: Path, line: int) -> None:
    """Raises UsageError where the event of this line is not the one that an episode's file has to go on with."""
    if event.seq != wanted:
        raise UsageError(f"{path}, line {line} is out of its place: it holds event {event.seq}, not {wanted}")


def write_trace(path: Path, events: Sequence[Event]) -> None:
    """Write a trace file of these events. Raises UsageError where there is one already."""
    with _create(path) as file:
        file.write(b"".join(_encoder.encode(e) + b"\n" for e in events))


def _create(path: Path) -> IO[bytes]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _lock_trace(path.open("xb", buffering=0), path)
    except FileExistsError as e:
        raise UsageError(f"{e.filename or path} exists already and is not overwritten; name another folder") from None
    except OSError as e:
        raise UsageError(f"the trace cannot be written to {path}: {e.strerror}") from None


def _open(path: Path) -> IO[bytes]:
    try:
        return _lock_trace(path.open("r+b", buffering=0), path)
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be opened: {e.strerror}") from None


def _lock_trace(file: IO[bytes], path: Path) -> IO[bytes]:
    return lock_exclusively(file, f"the episode of {path} still runs; wait for its end, or end it first")


def _read_lines(path: Path) -> list[tuple[Event, int]]:
    """The events, each with the size of the file up to and with its line."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be read: {e.strerror}") from None
    events: list[tuple[Event, int]] = []
    size = 0
    for number, line in enumerate(lines[:-1], 1):  # what follows the last newline is empty, or torn
        size += len(line) + 1
        event = decode_event(line, f"{path}, line {number}", "event of a trace")
        check_sequence(event, len(events), path, number)
        events.append((event, size))
    return events


def _is_interruption(event: Event) -> bool:
    return isinstance(event, ModelCallFailed | SpanClosed) or (isinstance(event, EpisodeEnded) and event.broken_off)


def _drop_interruption(lines: list[tuple[Event, int]]) -> tuple[list[Event], int]:
    """The events of an episode that may go on, and their size in the file: a call that failed last is made again.

    What an exception closed on its way out is open again, too.
    """
    while lines and _is_interruption(lines[-1][0]):
        lines = lines[:-1]
    return [event for event, _ in lines], lines[-1][1] if lines else 0
