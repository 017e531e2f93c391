"""The lines of a trace's file as events, of which a long trace keeps most in its file alone.

A value takes many times the memory of its text. So the latest events stay in memory, and of the others only their
places in the file; they are decoded again when somebody asks for them. Everything is a sequence, and a slice of it is a
view.
"""

from __future__ import annotations

import errno
import hashlib
import os
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final, TypeVar, get_args, overload

import msgspec

from codeplan.durable_files import unlock
from codeplan.errors import SizeExceeded, TraceExhausted, TraceFailure, UsageError
from codeplan.plain_data import MAX_VALUES
from codeplan.recording.events import (
    TRACE_FORMAT,
    EnvironmentRestored,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    ModelCallFailed,
    PlanEnded,
    RecordedEvent,
    SpanClosed,
)
from codeplan.types import Checkpoint
from codeplan.types.value import MAX_PART, MAX_ROWS, html_list, html_text, html_value
from codeplan.untrusted import files
from codeplan.untrusted.json_values import MAX_NESTING, TOO_DEEP, ValueLimit, measure_json
from codeplan.untrusted.texts import parser_reason, with_count
from codeplan.untrusted.values import in_quotes

MAX_EVENT_BYTES: Final = 8 << 20
"""Maximum size of an event in JSON. The longest prompt with the longest reply fits, in any script."""

SIZE_VARIABLE: Final = "CODEPLAN_MAX_TRACE_MIB"
"""The variable that sets the maximum size of a trace, in MiB, and of its values in proportion."""

_USUAL_MIB: Final = 512


def _max_mib() -> int:
    """Raises: UsageError: the variable is set to something else than a whole number of MiB, ``_USUAL_MIB`` or more."""
    given = os.environ.get(SIZE_VARIABLE, str(_USUAL_MIB))
    if not (given.isascii() and given.isdigit() and _USUAL_MIB <= int(given[:7]) <= 1 << 20):
        raise UsageError(f"{SIZE_VARIABLE} is a whole number of MiB from {_USUAL_MIB} on, not {in_quotes(given)}")
    return int(given)


MAX_TRACE_BYTES: Final = _max_mib() << 20
"""Maximum size of a trace. A larger one is neither written nor read as a whole; the report reads any size in parts.

It usually holds four hundred model calls with the longest prompts and replies in ASCII; the default budget allows two
hundred.
"""

MAX_LINE_BYTES: Final = 8 * MAX_EVENT_BYTES
"""Maximum length of a line in a trace. A reader treats a longer line as the trace's end, because no event is this
long.
"""

MAX_SAVED_VALUES: Final = 4_000_000 * MAX_TRACE_BYTES // (_USUAL_MIB << 20)
"""Maximum number of values in all checkpoints of an episode. In memory a value takes some hundred bytes, so a plan that
saves many small ones could otherwise fill ten times as much memory as its trace fills on disk."""

MAX_TRACE_VALUES: Final = 12_000_000 * MAX_TRACE_BYTES // (_USUAL_MIB << 20)
"""Maximum number of values in all events of a trace, nested ones included. A value takes at most some hundred bytes in
memory. A trace with more is neither written nor read as a whole."""

CLOSING_EVENTS: Final = (ModelCallFailed, SpanClosed, EpisodeEnded)
"""Events that are written even to a full trace, so that it ends as it should. Their own content bounds their size."""

_CLOSING_LINES = (b'{"event":"model_call_failed"', b'{"event":"span_closed"', b'{"event":"episode_ended"')

KEPT_BYTES: Final = 1 << 20 if hasattr(os, "pread") else 1 << 62
"""The latest events with this much JSON, in bytes, stay in memory. A shorter trace is never read again."""

_KINDS: Final[tuple[type, ...]] = get_args(RecordedEvent)
_NUMBERS: Final = {kind: number for number, kind in enumerate(_KINDS)}
_READ_AGAIN: Final = 2  # events that were read last: a replay asks several times for one and the one before

_decoder: Final = msgspec.json.Decoder(RecordedEvent)

_E = TypeVar("_E")
_F = TypeVar("_F")


class Events(Sequence[Event]):
    """Events of a trace, in order. They show themselves briefly, and as a numbered table in a notebook."""

    __hash__ = None  # type: ignore[assignment]

    def event(self, number: int) -> Event:
        """The event at this place, which counts from 0."""
        raise NotImplementedError

    def scan(self, numbers: range) -> Iterator[Event]:
        """The events at these places, in this order."""
        return map(self.event, numbers)

    def find(self, kinds: tuple[type, ...], numbers: range) -> Iterator[int]:
        """Those of these places that have an event of these kinds, in this order."""
        raise NotImplementedError

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> Events: ...
    def __getitem__(self, at: int | slice) -> Event | Events:
        places = range(len(self))[at]
        return self.event(places) if isinstance(places, int) else EventSlice(self, places)

    def __iter__(self) -> Iterator[Event]:
        return self.scan(range(len(self)))

    def __reversed__(self) -> Iterator[Event]:
        return self.scan(range(len(self))[::-1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"<{with_count(len(self), 'event')} of a trace>"

    def _repr_html_(self) -> str:
        """The first MAX_ROWS events as a table, for a notebook."""
        rows = map(_event_row, self[:MAX_ROWS])
        return html_list(with_count(len(self), "event"), ("seq", "Event", "Content"), rows, len(self) - MAX_ROWS)


def _event_row(event: Event) -> tuple[str, str, str]:
    shown = event._shown().items()
    content = "<br>".join(f"{html_text(name)}: {html_value(part, MAX_PART)}" for name, part in shown)
    return str(event.seq), html_text(type(event).__name__), content


@overload
def events_of(events: Sequence[Event], kind: type[_E], /) -> Iterator[_E]: ...
@overload
def events_of(events: Sequence[Event], kind: type[_E], other: type[_F], /) -> Iterator[_E | _F]: ...
def events_of(events: Sequence[Event], /, *kinds: type[Any]) -> Iterator[Any]:
    """The events of one kind or two, in order. Of a long trace, the others are not read."""
    return map(events.__getitem__, _find(events, range(len(events)), kinds))


@overload
def latest_of(events: Sequence[Event], kind: type[_E], /) -> _E | None: ...
@overload
def latest_of(events: Sequence[Event], kind: type[_E], other: type[_F], /) -> _E | _F | None: ...
def latest_of(events: Sequence[Event], /, *kinds: type[Any]) -> Any:
    """The latest event of one kind or two; None if there is none."""
    return next(map(events.__getitem__, places_of(events, *kinds)), None)


def places_of(events: Sequence[Event], *kinds: type) -> Iterator[int]:
    """The places of the events of these kinds, the latest first."""
    return _find(events, range(len(events))[::-1], kinds)


def standing_events(events: Sequence[Event]) -> Sequence[Event]:
    """The events that led to the present state: without those whose effect an EnvironmentRestored undid, and without
    these themselves. ``events`` are those of an episode from its start.
    """
    if latest_of(events, EnvironmentRestored) is None:
        return events
    path, at = list[Event](), len(events) - 1
    while at >= 0:
        event = events[at]
        if isinstance(event, EnvironmentRestored):
            at = min(event.to, at - 1)  # a forged trace may point forward
        else:
            path.append(event)
            at -= 1
    return path[::-1]


class EventSlice(Events):
    """A part of other events, by their places there."""

    def __init__(self, source: Events, places: range) -> None:
        self._source, self._places = source, places

    def __len__(self) -> int:
        return len(self._places)

    def event(self, number: int) -> Event:
        return self._source.event(self._places[number])

    def scan(self, numbers: range) -> Iterator[Event]:
        return self._source.scan(self._in_source(numbers))

    def find(self, kinds: tuple[type, ...], numbers: range) -> Iterator[int]:
        return map(self._places.index, self._source.find(kinds, self._in_source(numbers)))

    def _in_source(self, numbers: range) -> range:
        first, step = self._places.start, self._places.step
        return range(first + numbers.start * step, first + numbers.stop * step, numbers.step * step)


def digest_of_start(file: BinaryIO, size: int) -> bytes:
    """The SHA-256 of the first ``size`` bytes of a file."""
    digest, left = hashlib.sha256(), size
    file.seek(0)
    while left and (data := file.read(min(left, 1 << 20))):
        digest.update(data)
        left -= len(data)
    return digest.digest()


class TraceFile:
    """An open trace file, from which events are read again. Several sequences of events may share it."""

    def __init__(self, file: BinaryIO, path: Path | str) -> None:
        self._file, self._path = file, path
        self._size = 0
        self._cuts = False

    @property
    def size(self) -> int:
        """The size up to the last event that counts, in bytes."""
        return self._size

    def give_way_from(self, size: int) -> None:
        """Let what follows the first ``size`` bytes give way to the next line that is written."""
        self._size, self._cuts = size, True

    def write(self, line: bytes) -> None:
        """Write the next event's line. Raises: TraceFailure: it cannot be written."""
        left = memoryview(line)
        try:
            if self._cuts:
                os.ftruncate(self._file.fileno(), self._size)
                self._cuts = False
            while left:  # one write may take only a part
                left = left[os.pwrite(self._file.fileno(), left, self._size + len(line) - len(left)) :]
        except OSError as e:
            raise TraceFailure(f"the trace {self._path} cannot be written: {e.strerror}") from e
        self._size += len(line)

    def digest(self, size: int) -> bytes:
        """The SHA-256 of the first ``size`` bytes."""
        return digest_of_start(self._file, size)

    def line(self, start: int, end: int, hashed: int) -> bytes:
        """The line at this place. Raises: TraceFailure: it cannot be read, or has another hash."""
        try:
            line = os.pread(self._file.fileno(), end - start, start)
        except (OSError, ValueError) as e:
            raise TraceFailure(f"the trace {self._path} cannot be read: {getattr(e, 'strerror', e)}") from None
        if hash(line) != hashed:
            raise TraceFailure(f"the trace {self._path} was changed while it was in use; nothing else may write to it")
        return line

    def close(self, events: Iterable[StoredEvents]) -> None:
        """Close the file now, or once nobody has those of its events that are in the file alone."""
        if all(each.is_kept for each in events):
            self._file.close()
            return
        unlock(self._file)
        weakref.finalize(self, self._file.close)


class TemporaryTraceFile(TraceFile):
    """The file of a trace that has none: nameless, and made when the first events leave memory."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, bytes]] = []
        self._size = self._bytes = 0
        self._is_open = False

    def give_way_from(self, size: int) -> None:
        """Let what follows the first ``size`` bytes give way to the next line that is written."""
        self._size = size

    def write(self, line: bytes) -> None:
        """Write the line, or keep it while all events are in memory. Raises: TraceFailure: it cannot be written."""
        self._waiting.append((self._size, line))
        self._size += len(line)
        self._bytes += len(line)
        if self._bytes <= KEPT_BYTES:
            return
        try:
            if not self._is_open:
                self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with this
                self._path = "in a temporary file"
                weakref.finalize(self, self._file.close)
                self._is_open = True
            for place, text in self._waiting:
                os.pwrite(self._file.fileno(), text, place)
        except OSError as e:
            sentence = f"the events of an episode without a folder cannot be kept in a temporary file: {e.strerror}"
            raise TraceFailure(sentence) from e
        self._waiting.clear()


class _EventsInMemory(dict[int, Event]):
    """Those events of a file that are in memory, by their places. One that is missing is read from its line.

    ``start`` is where the first line stands in the file, ``ends`` where each of them ends, ``hashes`` those of each.
    """

    def __init__(self, file: TraceFile) -> None:
        self._file, self.start = file, 0
        self.ends, self.hashes = array("Q"), array("q")
        self.again: dict[int, Event] = {}

    def __missing__(self, number: int) -> Event:
        if number in self.again:
            return self.again[number]
        event: Event = _decoder.decode(self._file.line(self.begin(number), self.ends[number], self.hashes[number]))
        self.again = {**dict([*self.again.items()][1 - _READ_AGAIN :]), number: event}
        return event

    def begin(self, number: int) -> int:
        """Where the line of the event at this place begins in the file."""
        return self.ends[number - 1] if number else self.start


class StoredEvents(Events):
    """Events of a trace's open file; ``ends`` are the places where their lines end.

    Other programs, a tool of a plan among them, may change the file meanwhile. An event is therefore taken from it only
    if its line has the hash that it had when it was checked or written; the key of these hashes is this process's own.
    """

    def __init__(self, file: TraceFile) -> None:
        self.file = file
        self._kept = _EventsInMemory(file)  # the first event, and those from _oldest on
        self._oldest = self._kept_bytes = 0
        self.ends, self._kinds = self._kept.ends, bytearray()

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def is_kept(self) -> bool:
        """Whether all events are in memory."""
        return len(self._kept) == len(self.ends)

    def write(self, event: Event, line: bytes) -> None:
        """Write the next event's line to the file, and add the event. Raises: TraceFailure: it cannot be written."""
        start = self.file.size
        self.file.write(line)
        self.append(event, line, start)

    def append(self, event: Event, line: bytes, start: int) -> None:
        """Add the next event; its line, with the line's end, stands in the file from ``start`` on."""
        if not self.ends:
            self._kept.start = start
        self._kept[len(self.ends)] = event
        self._kept_bytes += len(line)
        self.ends.append(start + len(line))
        self._kept.hashes.append(hash(line))
        self._kinds.append(_NUMBERS[type(event)])
        while self._kept_bytes > KEPT_BYTES and self._oldest < len(self.ends) - 1:
            self._kept_bytes -= self._size(self._oldest)
            if self._oldest:  # prompts look at the header again and again
                del self._kept[self._oldest]
            self._oldest += 1

    def pop(self) -> None:
        """Take the last event back."""
        last = len(self.ends) - 1
        self._kept.again.pop(last, None)
        if self._kept.pop(last, None) is not None and last >= self._oldest:
            self._kept_bytes -= self._size(last)
        self._oldest = min(self._oldest, last)
        for column in (self.ends, self._kept.hashes, self._kinds):
            column.pop()

    def find(self, kinds: tuple[type, ...], numbers: range) -> Iterator[int]:
        wanted = {_NUMBERS[kind] for kind in _KINDS if issubclass(kind, kinds)}
        return compress(numbers, map(wanted.__contains__, map(self._kinds.__getitem__, numbers)))

    def event(self, number: int) -> Event:
        return self._kept[number]

    def scan(self, numbers: range) -> Iterator[Event]:
        return map(self._kept.__getitem__, numbers)

    def _size(self, number: int) -> int:
        return self.ends[number] - self._kept.begin(number)


class JoinedEvents(Events):
    """The ``first`` events, so many of them as count, and then others."""

    def __init__(self, first: Sequence[Event], then: Sequence[Event] = (), *, count: int | None = None) -> None:
        self._first, self._then = first, then
        self._count = len(first) if count is None else count

    def __len__(self) -> int:
        return self._count + len(self._then)

    def event(self, number: int) -> Event:
        count = self._count
        return self._first[number] if number < count else self._then[number - count]

    def scan(self, numbers: range) -> Iterator[Event]:
        return chain.from_iterable(
            (events.scan(part) if isinstance(events, Events) else map(events.__getitem__, part))
            for events, part, _ in self._parts(numbers)
        )

    def find(self, kinds: tuple[type, ...], numbers: range) -> Iterator[int]:
        for events, part, start in self._parts(numbers):
            yield from (place + start for place in _find(events, part, kinds))

    def _parts(self, numbers: range) -> Iterator[tuple[Sequence[Event], range, int]]:
        """These places as places among the first events and among the others, in their order, with where each start."""
        count = self._count
        end = min(count, numbers.stop) if numbers.step > 0 else max(count - 1, numbers.stop)
        length = len(range(numbers.start, end, numbers.step))
        for part in (numbers[:length], numbers[length:]):
            if part and part[0] < count:
                yield self._first, part, 0
            elif part:
                yield self._then, range(part.start - count, part.stop - count, part.step), count


class EpisodeEvents(JoinedEvents):
    """The events of an episode so far: as many of its ``recording`` as it has repeated, then the ``new`` ones.

    ``length`` is how many they are, ``left`` how many of the recording it has not repeated, and ``next_recorded`` the
    first of these; None if none is left.
    """

    next_recorded: Event | None

    def __init__(self, recording: Sequence[Event], new: StoredEvents) -> None:
        self._new, self.length = new, 0
        super().__init__(recording, new, count=0)
        self._look_ahead()

    def __len__(self) -> int:
        return self.length

    @property
    def recording(self) -> Sequence[Event]:
        """The events that the episode repeats."""
        return self._first

    @recording.setter
    def recording(self, events: Sequence[Event]) -> None:
        self._first = events
        self._look_ahead()

    def repeat(self) -> None:
        """Count the next event of the recording."""
        self._count += 1
        self.length += 1
        self._look_ahead()

    def write(self, event: Event, line: bytes) -> None:
        """Write a new event's line, and add the event. Raises: TraceFailure: it cannot be written."""
        self._new.write(event, line)
        self.length += 1

    def pop(self) -> None:
        """Take the last event back."""
        self.length -= 1
        if self._new:
            self._new.pop()
        else:
            self._count -= 1
            self._look_ahead()

    def _look_ahead(self) -> None:
        self.left = len(self._first) - self._count
        self.next_recorded = self._first[self._count] if self.left else None


def _find(events: Sequence[Event], numbers: range, kinds: tuple[type, ...]) -> Iterator[int]:
    if isinstance(events, Events):
        return events.find(kinds, numbers)
    return (n for n in numbers if isinstance(events[n], kinds))


class LineSizes:
    """Checks the lines of events before they are parsed: values can take thirty times as much memory as their text.

    ``max_values`` is the maximum number of values in all lines.
    """

    def __init__(self, max_values: int = MAX_TRACE_VALUES) -> None:
        self._values = ValueLimit(max_values)

    def check(self, line: bytes, where: str) -> None:
        """Check the next line; ``where`` is for the message.

        Raises: UsageError: the line is longer than an event can be, its values are nested too deep, or the lines hold
            too many values.
        """
        most = MAX_LINE_BYTES if line.startswith(_CLOSING_LINES) else MAX_EVENT_BYTES
        if len(line) > most:
            raise UsageError(f"{where} is too long for an event: it has {len(line):,} bytes, more than {most:,}")
        self._values.check(line, where)


_MAX_FILLED_BYTES: Final = MAX_TRACE_BYTES - 4 * MAX_EVENT_BYTES
_MAX_FILLED_VALUES: Final = MAX_TRACE_VALUES - 2_000_000
_ROOM_FOR_CALL: Final = MAX_EVENT_BYTES  # a call's arguments and its answer are smaller, in JSON too
_VALUES_OF_CALL: Final = 4 * MAX_VALUES


def limits_changed_since(limit: int) -> bool:
    """Whether a trace that was full at this limit, in bytes or values, may go on: other limits hold now."""
    return limit not in (_MAX_FILLED_BYTES, _MAX_FILLED_VALUES, MAX_SAVED_VALUES)


class TraceSize:
    """Counts the bytes and values of a trace's events, and the values in their checkpoints."""

    def __init__(self) -> None:
        self._bytes = self._values = self._saved = 0

    def count(self, event: Event, packed: bytes) -> None:
        """Count an event and its JSON, even if there is no room for it."""
        saved, values = _count_saved_values(event), measure_json(packed)[0]
        self._bytes, self._values, self._saved = self._bytes + len(packed), self._values + values, self._saved + saved

    def add(self, event: Event, packed: bytes) -> None:
        """Count an event and its JSON if there is room for it, and it can be read again.

        Raises: SizeExceeded, TraceExhausted.
        """
        saved = _count_saved_values(event)
        values, too_deep = measure_json(packed)
        if too_deep:
            raise SizeExceeded("event", MAX_NESTING, f"an event of the trace holds {TOO_DEEP}")
        sums = self._bytes + len(packed), self._values + values, self._saved + saved
        _require_room(event, len(packed), *sums)
        self._bytes, self._values, self._saved = sums

    def require_room(self, event: Event, packed: bytes) -> None:
        """Check that there is room for an event and its JSON. Raises: SizeExceeded."""
        saved, values = _count_saved_values(event), measure_json(packed)[0]
        _require_room(event, len(packed), self._bytes + len(packed), self._values + values, self._saved + saved)

    def require_room_for(self, calls: int) -> None:
        """Check that there is room for this many calls and their answers. Raises: TraceExhausted."""
        _require_sums(self._bytes + calls * _ROOM_FOR_CALL, self._values + calls * _VALUES_OF_CALL, self._saved)


def _require_room(event: Event, size: int, total: int, values: int, saved: int) -> None:
    """Check an event's size, and the sums with it. Raises: SizeExceeded."""
    if isinstance(event, CLOSING_EVENTS):
        return
    if size > MAX_EVENT_BYTES:
        # The message leaves out the exact size, which differs between a run and its replay.
        raise SizeExceeded("event", MAX_EVENT_BYTES, f"an event of the trace has more than {MAX_EVENT_BYTES:,} bytes")
    _require_sums(total, values, saved)


def _require_sums(total: int, values: int, saved: int) -> None:
    """Check what a trace holds. Raises: TraceExhausted."""
    if total > _MAX_FILLED_BYTES:
        raise TraceExhausted(_MAX_FILLED_BYTES, f"the trace is full: it has reached {_MAX_FILLED_BYTES:,} bytes")
    if values > _MAX_FILLED_VALUES:
        raise TraceExhausted(_MAX_FILLED_VALUES, f"the trace is full: it has reached {_MAX_FILLED_VALUES:,} values")
    if saved > MAX_SAVED_VALUES:
        raise TraceExhausted(
            MAX_SAVED_VALUES, f"the trace is full: its checkpoints have reached {MAX_SAVED_VALUES:,} values"
        )


def _count_saved_values(event: Event) -> int:
    """The names and values in an event's checkpoints, with the parts of each value."""
    outcome = event.outcome if isinstance(event, PlanEnded) else None
    saved = [getattr(event, "checkpoint", None), getattr(outcome, "checkpoint", None)]
    values = 0
    for each in saved:
        if isinstance(each, Checkpoint):
            values += len(each.names) + len(each.nodes) + len(each.dropped)
            values += sum(len(node) for node in each.nodes if isinstance(node, list))
    return values


class _FormatLine(msgspec.Struct):
    event: str
    format: int = 1


def decode_event(line: bytes | msgspec.Raw, where: str, what: str) -> Event:
    """The event on a line; ``where`` and ``what`` (as in "event of a trace") are for the message.

    Raises: UsageError: the line is damaged, or the header of a trace in another format.
    """
    try:
        event: Event = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        _check_format(line, where)
        raise UsageError(f"{where} is no {what}: {parser_reason(e)}") from None
    if isinstance(event, EpisodeStarted):
        _check_format(line, where)
    return event


def _check_format(line: bytes | msgspec.Raw, where: str) -> None:
    try:
        found = msgspec.json.decode(line, type=_FormatLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if found.event == "episode_started" and found.format != TRACE_FORMAT:
        raise UsageError(
            f"{where} is in trace format {found.format}, and this version of codeplan reads format {TRACE_FORMAT}; "
            "run the episode again"
        )


def check_order(event: Event, before: Sequence[Event], path: Path | str, line: int) -> None:
    """Check that the event of this line is the next after the events ``before``. Raises: UsageError: it is not."""
    if event.seq != len(before):
        raise UsageError(f"{path}, line {line} is out of order: it holds event {event.seq}, not {len(before)}")
    if before and isinstance(before[-1], EpisodeEnded):
        raise UsageError(f"{path}, line {line} is damaged: its event follows the episode's end")


def read_events(path: Path | str) -> StoredEvents:
    try:
        file = files.open_to_read(path)
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be read: {e.strerror}") from None
    try:
        events = parse_events(file, path)
    except BaseException:
        file.close()
        raise
    events.file.close([events])
    return events


def parse_events(file: BinaryIO, path: Path | str) -> StoredEvents:
    """The events of an open file. Never is the whole file in memory, nor all events of a long one."""
    events = StoredEvents(TraceFile(file, path))
    checked = LineSizes()
    size = 0
    try:
        for number, line in enumerate(_whole_lines(file, path), 1):
            checked.check(line.removesuffix(b"\n"), f"{path}, line {number}")
            event = decode_event(line, f"{path}, line {number}", "event of a trace")
            check_order(event, events, path, number)
            events.append(event, line, size)
            size += len(line)
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be read: {e.strerror}") from None
    return events


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
        raise files.UnsafeFile(
            f"it is larger than {MAX_TRACE_BYTES:,} bytes; set {SIZE_VARIABLE} higher", path, errno.EFBIG
        )
