"""The trace of an episode: records events as they happen, and replays recorded ones.

A trace is a JSON Lines file with one event per line. Each event is on disk before anything acts on it, and never
changes, so after a kill everything except a torn last line is readable. Given its recorded answers a method is
deterministic: to resume, replay or fork an episode, the same method runs again while the recording answers.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from codeplan.errors import Diverged, TraceFailure, UsageError
from codeplan.recording.cancellation import raise_if_cancelled
from codeplan.recording.event_comparison import describe_difference, describe_kind_mismatch
from codeplan.recording.event_decoding import decode_event
from codeplan.recording.event_handlers import guard_handler
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, EventHandler
from codeplan.recording.file_lock import lock_exclusively
from codeplan.recording.interruption import drop_interruption
from codeplan.recording.recording_list import Recording
from codeplan.recording.trace_size import CLOSING_EVENTS, MAX_LINE_BYTES, MAX_TRACE_BYTES, LineSizes, TraceSize
from codeplan.types.display import short_repr
from codeplan.untrusted import files

_encoder = msgspec.json.Encoder()

_E = TypeVar("_E")


class Trace:
    """Collects the events of one episode: in memory, in a file if ``path`` is given, and for ``on_event``.

    ``path`` must not exist: a trace is never overwritten. ``recording`` holds the events that the episode must repeat:
    each event must equal the recorded one, except for times, and is not written again. After the recording's end
    events are new, or, if the trace is not ``live``, a divergence. Safe to use from several threads.

    Raises: UsageError: the file cannot be created.
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
        self._on_event, self._live = guard_handler(on_event), live
        self._lock = threading.Lock()
        self._file = _create(path) if path else None
        self._clock_offset: float | None = None
        self._size = TraceSize()
        self._kept_bytes: int | None = None  # the file is cut to this size before the first event is written

    def __repr__(self) -> str:
        return short_repr(self, {"path": self.path and str(self.path), "events": len(self.events)})

    def _repr_html_(self) -> str:
        return Recording(self.events)._repr_html_()

    @classmethod
    def resume(cls, path: Path, on_event: EventHandler | None = None) -> Trace:
        """The trace of a killed or interrupted episode: replays its events, then writes on.

        Leaves out a torn last line, and the end that an interruption wrote. The file changes only when the first new
        event replaces them.

        Raises: UsageError: the file is no trace, cannot be read or is damaged, or its episode is still running.
        """
        file = _open(path)
        try:
            events, size = drop_interruption(*_parse_lines(file, path))
            if os.fstat(file.fileno()).st_size:  # an episode killed at once leaves an empty file
                _require_start(events, path)
        except BaseException:
            file.close()
            raise
        trace = cls(None, on_event, events)
        trace.path, trace._file, trace._kept_bytes = path, file, size
        return trace

    @staticmethod
    def read(path: Path | str) -> Recording:
        """All events of a trace file, without a torn last line.

        Raises: UsageError: the file cannot be read, or another line (the message names it) is damaged or out of order.
        """
        return Recording(_read_lines(path)[0])

    @staticmethod
    def read_resumable(path: Path) -> list[Event]:
        """The events as from ``read``, without the end that an interruption wrote."""
        return drop_interruption(*_read_lines(path))[0]

    def next_recorded(self, *kinds: type[_E]) -> _E | None:
        """The next event of the recording; None after its end, when the episode is live.

        Raises: Diverged: the event is of none of these kinds, or the recording is over and the trace is not live.
        """
        if not self.is_replaying:
            return None
        event = self.recording[len(self.events)]
        if not isinstance(event, kinds):
            raise Diverged(f"event {event.seq} is not what was recorded: {describe_kind_mismatch(event, kinds[0])}")
        return event

    def peek_recorded(self, *kinds: type[_E]) -> _E | None:
        """The next event of the recording if it is of one of these kinds, otherwise None."""
        if len(self.events) >= len(self.recording):
            return None
        event = self.recording[len(self.events)]
        return event if isinstance(event, kinds) else None

    def save_file(self, folder: str, ending: str, data: bytes) -> str:
        """Write a file beside the trace, with a name of its own; returns its path relative to the trace.

        Raises: TraceFailure: the file cannot be written.
        """
        assert self.path is not None, "only a trace in a file has a place beside it"
        file = Path(folder) / f"{len(self.events):05}{ending}"
        try:
            files.create_folder(self.path.parent / folder)
            files.write_atomically(self.path.parent / file, data, below=self.path.parent)
        except OSError as e:
            raise TraceFailure(f"the file {self.path.parent / file} cannot be written: {e.strerror}") from e
        return str(file)

    @property
    def is_live(self) -> bool:
        """Whether the episode continues live after the recording's end; False for an offline replay."""
        return self._live

    @property
    def is_replaying(self) -> bool:
        """Whether the recording has further events; environment and model are then not used.

        Raises: Diverged: the recording is over and the trace is not live.
        """
        if len(self.events) < len(self.recording):
            return True
        if self._live:
            return False
        raise Diverged(f"the recording ends before event {len(self.events)}; resume can finish the episode")

    def append(self, event: Event, span: int | None = None) -> Event:
        """Number, date, write and return a new event; during a replay, compare it and return the recorded one.

        Raises:
            Diverged: the event differs from the recorded one.
            SizeExceeded: the event is too large, or the trace would be. TraceFailure: the event cannot be written.
            KeyboardInterrupt: the episode was cancelled; it is written.
        """
        with self._lock:
            if self.is_replaying:
                event = self._match_recorded(msgspec.structs.replace(event, span=span))
                self._size.count(event, _encoder.encode(event))
            else:
                event = msgspec.structs.replace(event, seq=len(self.events), at=self.now(), span=span)
                packed = _encoder.encode(event)
                self._size.add(event, packed)
                self._write(packed)
            self.events.append(event)
        if self._on_event:
            self._on_event(event)
        raise_if_cancelled()
        return event

    def now(self) -> float:
        """Unix time in seconds, without the gap between the recording's end and its resumption."""
        position = len(self.events)
        if position < len(self.recording):
            # An EpisodeEnded has its own time; any other event began at the end of the event before it.
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
        if isinstance(recorded, CLOSING_EVENTS):  # a refused event is not part of the recording
            self._size.require_room(event, _encoder.encode(event))
        if differs := describe_difference(recorded, event):
            raise Diverged(f"event {recorded.seq} is not what was recorded: {differs}")
        return recorded

    def _write(self, packed: bytes) -> None:
        if self._file is None:
            return
        try:
            if self._kept_bytes is not None:
                self._file.truncate(self._kept_bytes)
                self._file.seek(self._kept_bytes)
                self._kept_bytes = None
            files.write_all(self._file, packed + b"\n")
        except OSError as e:
            raise TraceFailure(f"the trace {self.path} cannot be written: {e.strerror}") from e


def check_order(event: Event, before: Sequence[Event], path: Path | str, line: int) -> None:
    """Check that the event of this line is the next after the events ``before``. Raises: UsageError: it is not."""
    if event.seq != len(before):
        raise UsageError(f"{path}, line {line} is out of order: it holds event {event.seq}, not {len(before)}")
    if before and isinstance(before[-1], EpisodeEnded):
        raise UsageError(f"{path}, line {line} is damaged: its event follows the episode's end")


def write_trace(path: Path, events: Sequence[Event]) -> None:
    """Write a trace file of these events. Raises: UsageError: the file exists already."""
    with _create(path) as file:
        files.write_all(file, b"".join(_encoder.encode(e) + b"\n" for e in events))


def _create(path: Path) -> BinaryIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _lock_trace(files.create_file(path), path)
    except FileExistsError as e:
        raise UsageError(f"{e.filename or path} exists already and is not overwritten; name another folder") from None
    except OSError as e:
        raise UsageError(f"the trace cannot be written to {path}: {e.strerror}") from None


def _open(path: Path) -> BinaryIO:
    try:
        return _lock_trace(files.open_to_update(path), path)
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be opened: {e.strerror}") from None


def _lock_trace(file: BinaryIO, path: Path) -> BinaryIO:
    return lock_exclusively(file, f"the episode of {path} is still running; wait for its end, or stop it first")


def _read_lines(path: Path | str) -> tuple[list[Event], array[int]]:
    try:
        with files.open_to_read(path) as file:
            return _parse_lines(file, path)
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be read: {e.strerror}") from None


def _require_start(events: Sequence[Event], path: Path) -> None:
    """Raise UsageError unless the events begin as an episode does."""
    if not events or not isinstance(events[0], EpisodeStarted):
        raise UsageError(f"the trace {path} does not begin with the start of an episode; it cannot be continued")


def _parse_lines(file: BinaryIO, path: Path | str) -> tuple[list[Event], array[int]]:
    """The events, and for each the size of the file up to its line's end. The whole file is never in memory."""
    events: list[Event] = []
    sizes = array("Q", [0])
    checked = LineSizes()
    try:
        for line in _whole_lines(file, path):
            number = len(events) + 1
            checked.check(line.removesuffix(b"\n"), f"{path}, line {number}")
            event = decode_event(line, f"{path}, line {number}", "event of a trace")
            check_order(event, events, path, number)
            events.append(event)
            sizes.append(sizes[-1] + len(line))
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be read: {e.strerror}") from None
    return events, sizes[1:]


def _whole_lines(file: BinaryIO, path: Path | str) -> Iterator[bytes]:
    """The lines of a trace without a torn last one. Of a line that is too long, only the beginning.

    Raises: OSError: the file cannot be read; UnsafeFile: it is too large.
    """
    left = MAX_TRACE_BYTES if os.fstat(file.fileno()).st_size <= MAX_TRACE_BYTES else -1
    with os.fdopen(file.fileno(), "rb", closefd=False) as lines:
        while left >= 0 and (line := lines.readline(MAX_LINE_BYTES + 2)):
            if not line.endswith(b"\n") and len(line) <= MAX_LINE_BYTES:
                return
            left -= len(line)  # the file may grow
            yield line
    if left < 0:
        raise files.UnsafeFile(f"it is larger than {MAX_TRACE_BYTES:,} bytes", path, errno.EFBIG)
