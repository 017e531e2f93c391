"""The trace of an episode: records events as they happen, and replays recorded ones.

A trace is a JSON Lines file with one event per line. Each event is on disk before anything acts on it, and never
changes, so after a kill everything except a torn last line is readable. Given its recorded answers a method is
deterministic: to resume, replay or fork an episode, the same method runs again while the recording answers.
"""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import msgspec

from codeplan.cancellation import in_force_here, raise_if_cancelled
from codeplan.durable_files import lock_exclusively, require_path
from codeplan.errors import CodeplanError, Diverged, TraceFailure, TurnOver, UsageError
from codeplan.recording.event_log import (
    CLOSING_EVENTS,
    EpisodeEvents,
    Events,
    JoinedEvents,
    StoredEvents,
    TemporaryTraceFile,
    TraceFile,
    TraceSize,
    digest_of_start,
    parse_events,
    read_events,
)
from codeplan.recording.events import (
    ApprovalAnswered,
    CallBegun,
    CallDecided,
    CallRepeated,
    DoubtDecided,
    EnvironmentRestored,
    EpisodeContinued,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventHandler,
    ModelCallFailed,
    PlanEnded,
    PlanOrigins,
    ReplyWritten,
    SpanClosed,
    TurnStarted,
)
from codeplan.types import NeedsInput, Outcome, Stopped, Waiting
from codeplan.types.value import short_repr
from codeplan.untrusted import files
from codeplan.untrusted.comparison import describe_changes
from codeplan.untrusted.texts import shell_word
from codeplan.untrusted.values import in_quotes, value_text


class HandlerError(CodeplanError):
    """What a handler raised. An agent, an environment or a model that reported the event lets it through."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


def guard_handler(on_event: EventHandler | None) -> EventHandler | None:
    """The handler, whose errors become HandlerError; None if there is none."""
    if on_event is None:
        return None

    def handle(event: Event) -> None:
        try:
            on_event(event)
        except CodeplanError:
            raise
        except (Exception, SystemExit) as error:
            raise HandlerError(error) from error

    return handle


@contextmanager
def handler_errors_unwrapped() -> Iterator[None]:
    """Raise what a handler raised, as it was."""
    try:
        yield
    except HandlerError as wrapped:
        raise wrapped.error from wrapped.error.__cause__


class EventsOnly:
    """A handler that hears no replies while they are written; endpoints then need not send them piece by piece."""

    hears_replies = False

    def __init__(self, handle: EventHandler) -> None:
        self._handle = handle

    def __call__(self, event: Event) -> None:
        self._handle(event)


class KeepAndTell:
    """Hands each event to ``keep``, which hears no replies while they are written, and then to ``tell``."""

    def __init__(self, keep: EventHandler, tell: EventHandler | None) -> None:
        self._keep, self._tell = keep, tell

    @property
    def hears_replies(self) -> bool:
        return hears_replies(self._tell)

    def __call__(self, event: Event) -> None:
        if not isinstance(event, ReplyWritten):
            self._keep(event)
        if self._tell:
            self._tell(event)


def hears_replies(handler: EventHandler | None) -> bool:
    """Whether a handler hears replies while they are written, as those of users do."""
    return handler is not None and bool(getattr(handler, "hears_replies", True))


ActivityObserver = Callable[[str], None]
"""Called with the purpose of a model call as it begins, and with an empty text at its end."""

_observer: ContextVar[ActivityObserver | None] = ContextVar("activity_observer", default=None)


@contextmanager
def observe_activity(observer: ActivityObserver) -> Iterator[None]:
    """Inside this context, the observer receives the model calls of this thread's episodes."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


@contextmanager
def tell_model_call(purpose: str) -> Iterator[None]:
    """Tell the observer, if there is one, that a model is being called."""
    observer = _observer.get()
    if observer is None:
        yield
        return
    observer(purpose)
    try:
        yield
    finally:
        observer("")


def find_end(events: Sequence[Event]) -> EpisodeEnded | None:
    """The end of an episode that is over. None if it has none yet, or was broken off: ``resume`` finishes it."""
    end = events[-1] if events else None
    return end if isinstance(end, EpisodeEnded) and not end.broken_off else None


def is_waiting(event: Event) -> bool:
    """Whether an episode ended with this event because it waits for an approval."""
    return isinstance(event, EpisodeEnded) and isinstance(event.result.ending, Waiting)


def asks_user(event: Event) -> bool:
    """Whether an episode ended with this event because it asks the user."""
    return isinstance(event, EpisodeEnded) and isinstance(event.result.ending, NeedsInput)


def _is_interruption(event: Event) -> bool:
    if isinstance(event, EpisodeEnded):
        return event.broken_off or is_waiting(event) or asks_user(event)
    return isinstance(event, ModelCallFailed | SpanClosed | CallDecided | CallRepeated | DoubtDecided)


def drop_interruption(events: Sequence[Event], sizes: array[int]) -> tuple[Sequence[Event], int]:
    """The events from which an episode can continue, and their size in the file; ``sizes`` are those up to each event.

    Drops the end that an interruption wrote, or that waits for the user, a failed last call (the model is asked
    again), a last decision about a tool's call (the call was not made, so the decision is taken again), and trailing
    SpanClosed events, so that spans interrupted by an exception reopen.
    """
    count = len(events)
    while count and _is_interruption(events[count - 1]):
        count -= 1
    return events[:count], sizes[count - 1] if count else 0


TRACE_NAME = "trace.jsonl"
"""The name of an episode's trace in its folder."""

_encoder = msgspec.json.Encoder()

_E = TypeVar("_E")


class Trace:
    """Collects the events of one episode: in memory, in a file if ``path`` is given, and for ``on_event``.

    ``path`` must not exist: a trace is never overwritten. ``recording`` holds the events that the episode must
    repeat: each event must equal the recorded one, except for times, and is not written again. After the recording's
    end events are new, or, if the trace is not ``live``, a divergence. ``approval`` is the last recorded event if
    that is the user's own answer about the call that comes next: a trace may be forged, so the one who sets it has
    verified it. ``last_end`` is the end that a resumed episode had, also one that gives way to what follows. ``size``
    counts what the trace holds, and so decides when it is full. ``has_recording`` is false for a new episode.
    Safe to use from several threads.

    Raises: UsageError: the file cannot be created.
    """

    def __init__(
        self,
        path: Path | None = None,
        on_event: EventHandler | None = None,
        recording: Sequence[Event] = (),
        live: bool = True,
        size: TraceSize | None = None,
    ) -> None:
        self.path = path
        self._on_event, self._live = guard_handler(on_event), live
        self._hears_replies = partial(hears_replies, on_event)
        self._lock = threading.Lock()
        self._file = _create(path) if path else None
        recorded = recording if isinstance(recording, Events) else list(recording)
        self._keep_in(TraceFile(self._file, path) if path and self._file else TemporaryTraceFile(), recorded)
        self.has_recording = bool(recorded)
        self._clock_offset: float | None = None
        self._size = size or TraceSize()
        self.approval: ApprovalAnswered | None = None
        self._last_start = 0  # of the recording's last event in the file, in bytes
        self._sizes = array("Q")  # of the file up to each recorded event
        self._continuation: EpisodeContinued | None = None
        self._end_start = 0  # of the episode's end in the file, in bytes
        self.last_end: EpisodeEnded | None = None
        self._turn: TurnStarted | None = None  # the recording's last event, if it is not written yet

    def __repr__(self) -> str:
        return short_repr(self, {"path": self.path and str(self.path), "events": len(self.events)})

    def _repr_html_(self) -> str:
        return self.events._repr_html_()

    @property
    def recording(self) -> Sequence[Event]:
        """The events that the episode must repeat."""
        return self.events.recording

    @recording.setter
    def recording(self, events: Sequence[Event]) -> None:
        self.events.recording = events

    @classmethod
    def resume(cls, path: Path, on_event: EventHandler | None = None) -> Trace:
        """The trace of a killed or interrupted episode: replays its events, then writes on.

        Leaves out a torn last line, and the end that an interruption wrote. The file changes only when the first new
        event replaces them.

        Raises: UsageError: the file is no trace, cannot be read or is damaged, or its episode is still running.
        """
        file = _open(path)
        try:
            every = parse_events(file, path)
            sizes = every.ends
            events, size = drop_interruption(every, sizes)
            if os.fstat(file.fileno()).st_size:  # an episode killed at once leaves an empty file
                _require_start(events, path)
        except BaseException:
            file.close()
            raise
        trace = cls(None, on_event, events)
        trace.path, trace._file, trace._sizes = path, file, sizes
        every.file.give_way_from(size)
        trace._keep_in(every.file, events)
        trace._stored.append(every)
        end = every[-1] if every else None
        trace.last_end = end if isinstance(end, EpisodeEnded) else None
        trace._end_start = sizes[-2] if len(sizes) > 1 else 0
        trace._last_start = sizes[len(events) - 2] if len(events) > 1 else 0
        return trace

    def go_on(self, continuation: EpisodeContinued) -> None:
        """Let an episode that has ended go on: its recorded end gives way to ``continuation``.

        As with ``resume``, the file changes only when the episode comes to its first new event.
        """
        self.recording, size = drop_interruption(self.recording[:-1], self._sizes)
        self._lines.give_way_from(size)
        self._continuation = continuation

    def start_turn(self, turn: TurnStarted) -> None:
        """Let the session of a resumed trace go on with this turn, whatever ended the turn before.

        As with ``resume``, the file changes only when the session comes to it.
        """
        kept = self.recording[:-1] if isinstance(self.recording[-1], EpisodeEnded) else self.recording
        self._lines.give_way_from(self._sizes[len(kept) - 1])
        self._turn = msgspec.structs.replace(turn, seq=len(kept), at=kept[-1].at)
        self.recording = JoinedEvents(kept, [self._turn])

    def take_end_back(self) -> None:
        """Let a session go on after its end, which stood last; the next event replaces it, in the file as well."""
        assert isinstance(self.events[-1], EpisodeEnded), "a session's trace has an end after each turn"
        self.events.pop()
        if self.events.left:
            self.recording = self.recording[:-1]
        self._lines.give_way_from(self._end_start)

    def next_continuation(self) -> EpisodeContinued | None:
        """The event with which the episode goes on after an earlier end, if that end was here; it is written."""
        event = self.peek_recorded(EpisodeContinued)
        if event is None and self._continuation and not self.events.left:
            event, self._continuation = self._continuation, None
        return event and cast(EpisodeContinued, self.append(event))

    @staticmethod
    def read(path: Path | str) -> Events:
        """All events of a trace, without a torn last line; ``path`` is the file, or the episode's folder.

        Of a long trace, most events are read again whenever they are wanted; a slice is a view.

        Raises: UsageError: the file cannot be read, or another line (the message names it) is damaged or out of order.
        """
        named = require_path(path, "a trace, or an episode's folder,")
        return read_events(os.path.join(named, TRACE_NAME) if os.path.isdir(named) else named)

    @staticmethod
    def read_resumable(path: Path) -> Sequence[Event]:
        """The events as from ``read``, without the end that an interruption wrote."""
        events = read_events(path)
        return drop_interruption(events, events.ends)[0]

    @staticmethod
    def read_replayable(path: Path) -> Sequence[Event]:
        """The events as from ``read_resumable``, with the end if the episode waits for the user."""
        events = read_events(path)
        waits = bool(events) and (is_waiting(events[-1]) or asks_user(events[-1]))
        return events if waits else drop_interruption(events, events.ends)[0]

    def digest_before_last(self) -> bytes:
        """The SHA-256 of the file up to the last event of the recording."""
        return self._lines.digest(self._last_start)

    def next_recorded(self, *kinds: type[_E]) -> _E | None:
        """The next event of the recording; None after its end, when the episode is live.

        Raises: Diverged: the event is of none of these kinds, or the recording is over and the trace is not live.
        """
        if not self.is_replaying:
            return None
        event = self._following()
        if not isinstance(event, kinds):
            _require_turn_goes_on(event)
            raise Diverged(f"event {event.seq} is not what was recorded: {describe_kind_mismatch(event, kinds[0])}")
        return event

    def peek_recorded(self, *kinds: type[_E]) -> _E | None:
        """The next event of the recording if it is of one of these kinds, otherwise None."""
        event = self.events.next_recorded
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
        if self.events.left:
            return True
        if self._live:
            return False
        raise Diverged(f"the recording ends before event {len(self.events)}; resume can finish the episode")

    def append(self, event: Event, span: int | None = None) -> Event:
        """Number, date, write and return a new event; during a replay, compare it and return the recorded one.

        Raises:
            Diverged: the event differs from the recorded one.
            SizeExceeded: the event is too large. TraceExhausted: the trace would be.
            TraceFailure: the event cannot be written.
            KeyboardInterrupt: the episode was cancelled; it is written.
        """
        with self._lock:
            if self.is_replaying:
                event = self._match_recorded(msgspec.structs.replace(event, span=span))
                packed = _encoder.encode(event)
                self._size.count(event, packed)
                if self._turn is not None and event.seq == self._turn.seq:
                    self._lines.write(packed + b"\n")
                self.events.repeat()
            else:
                event = msgspec.structs.replace(event, seq=self.events.length, at=self.now(), span=span)
                packed = _encoder.encode(event)
                self._size.add(event, packed)
                self._end_start = self._lines.size
                self.events.write(event, packed + b"\n")
        if self._on_event:
            self._on_event(event)
        if in_force_here.cancellation is not None:
            raise_if_cancelled()
        return event

    @property
    def hears_replies(self) -> bool:
        """Whether somebody wants to be told of replies while they are written."""
        return self._hears_replies()

    def tell_reply(self, written: ReplyWritten) -> None:
        """Tell the handler of events of a piece of a reply. It is not kept.

        Raises: KeyboardInterrupt: the episode was cancelled.
        """
        if self._on_event:
            self._on_event(msgspec.structs.replace(written, at=self.now()))
        if in_force_here.cancellation is not None:
            raise_if_cancelled()

    def require_room(self, calls: int = 1) -> None:
        """Check that this many calls and their answers, however large, can be recorded. Raises: TraceExhausted."""
        if self.events.left and not isinstance(self.events.next_recorded, CLOSING_EVENTS):
            return
        with self._lock:
            self._size.require_room_for(calls)

    def now(self) -> float:
        """Unix time in seconds, without the gap between the recording's end and its resumption."""
        if self.events.left:
            # These have their own time: they may follow the end of a budget's seconds. Any other event began at the
            # end of the event before it.
            following = self._following()
            ends = isinstance(following, EpisodeEnded | SpanClosed | EnvironmentRestored)
            return (following if ends or not self.events else self.events[-1]).at
        if self._clock_offset is None:
            self._clock_offset = time.time() - self.recording[-1].at if self.recording else 0.0
        return time.time() - self._clock_offset

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if self._file:
            os.fsync(self._file.fileno())
            self._lines.close(self._stored)
            self._file = None

    def _following(self) -> Event:
        """The next event of the recording, which has one."""
        assert self.events.next_recorded is not None, "the recording is over"
        return self.events.next_recorded

    def _match_recorded(self, event: Event) -> Event:
        recorded = self._following()
        if isinstance(recorded, CLOSING_EVENTS):  # a refused event is not part of the recording
            self._size.require_room(event, _encoder.encode(event))
        if not isinstance(event, TurnStarted):
            _require_turn_goes_on(recorded)
        if differs := describe_difference(recorded, event):
            raise Diverged(f"event {recorded.seq} is not what was recorded: {differs}")
        return recorded

    def _keep_in(self, file: TraceFile, recording: Sequence[Event]) -> None:
        """Keep the new events in this file, all but the latest there alone."""
        self._lines, self._stored = file, [StoredEvents(file)]
        self.events = EpisodeEvents(recording, self._stored[0])


def _require_turn_goes_on(recorded: Event) -> None:
    """Raises: TurnOver: the recording goes on with the next turn."""
    if isinstance(recorded, TurnStarted):
        raise TurnOver("the recorded turn ended here")


def replace_end(path: Path, make: Callable[[Sequence[Event], int, bytes], Event]) -> Event:
    """Write an event in place of the end of an episode that waits, and return it. Nobody else writes meanwhile.

    ``make`` makes it of all events, the number of those that are kept before it, and the SHA-256 of their part of the
    file. It should have the time of the event before it, so that the wait does not count as the episode's.

    Raises: UsageError: the file is no trace, its episode still runs, or it does not wait. TraceFailure: the event
    cannot be written.
    """
    with _open(path) as file:
        every = parse_events(file, path)
        if not every or not is_waiting(every[-1]):
            raise UsageError(_no_question(every, path))
        events, size = drop_interruption(every, every.ends)
        event = make(every, len(events), digest_of_start(file, size))
        try:
            file.truncate(size)
            file.seek(size)
            files.write_all(file, _encoder.encode(event) + b"\n")
            os.fsync(file.fileno())
        except OSError as e:
            raise TraceFailure(f"the trace {path} cannot be written: {e.strerror}") from e
    return event


def _no_question(events: Sequence[Event], path: Path) -> str:
    """Why the episode of these events waits for no answer."""
    if any(isinstance(event, ApprovalAnswered) for event in events[-2:]):
        return f"the call was answered before; go on with: codeplan resume {shell_word(path.parent)}"
    if events and asks_user(events[-1]):
        return f"the episode waits for an answer; go on with: codeplan resume {shell_word(path.parent)} --answer TEXT"
    ended = bool(events) and isinstance(events[-1], EpisodeEnded) and not events[-1].broken_off
    return f"the episode of {path.parent} waits for no approval: it {'has ended' if ended else 'was broken off'}"


def write_trace(path: Path, events: Sequence[Event]) -> None:
    """Write a trace file of these events. Raises: UsageError: the file exists already."""
    with _create(path) as file:
        for event in events:
            files.write_all(file, _encoder.encode(event) + b"\n")


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


def _require_start(events: Sequence[Event], path: Path) -> None:
    """Raise UsageError unless the events begin as an episode does."""
    if not events or not isinstance(events[0], EpisodeStarted):
        raise UsageError(f"the trace {path} does not begin with the start of an episode; it cannot be continued")


# ------------------------------------------------------------------ how an event differs from the recorded one

TIMING_LIMITS = frozenset({"wall", "cpu", "memory"})
"""Limits that the same plan may reach at different places in different runs."""

_MAX_CHARACTERS = 300


def describe_difference(recorded: Event, event: Event) -> str:
    """How ``event`` differs from ``recorded``, times aside; empty if it does not."""
    was, now = _without_times(recorded), _without_times(event)
    if was == now:
        return ""
    if type(was) is not type(now):
        return describe_kind_mismatch(was, type(now))
    return "; ".join(_field_changes(was, now))


def describe_kind_mismatch(recorded: Event, kind: type) -> str:
    """The message that an event of ``kind`` occurs where the recording has ``recorded``."""
    return f"it was {_named(recorded)}, and is now {kind.__name__}"


def _without_times(event: Event) -> Event:
    """The event without what may differ from run to run."""
    changes: dict[str, Any] = {"seq": 0, "at": 0.0}
    if "seconds" in event.__struct_fields__:
        changes["seconds"] = 0.0
    if isinstance(event, EpisodeEnded):
        changes["result"] = msgspec.structs.replace(event.result, seconds=0.0, trace=None)
    if isinstance(event, TurnStarted):
        changes["before"] = msgspec.structs.replace(event.before, seconds=0.0, trace=None)
    if isinstance(event, PlanOrigins):  # a later version may find more
        changes |= {"sites": (), "asks": {}, "variables": (), "followed": True}
    if isinstance(event, PlanEnded):
        changes["outcome"] = _without_timing(event.outcome)
    return msgspec.structs.replace(event, **changes)


def _without_timing(outcome: Outcome) -> Outcome:
    """The outcome without the place where a limit of time or memory struck."""
    if isinstance(outcome, Stopped) and outcome.limit in TIMING_LIMITS:
        return msgspec.structs.replace(outcome, value=0.0, line=None)
    return outcome


def _field_changes(was: msgspec.Struct, now: msgspec.Struct, path: str = "") -> Iterator[str]:
    """The fields that differ, those of a field of the same type one by one."""
    for name in was.__struct_fields__:
        before, after = getattr(was, name), getattr(now, name)
        if before == after:
            continue
        if isinstance(before, msgspec.Struct) and type(before) is type(after):
            yield from _field_changes(before, after, f"{path}{name}.")
        else:
            yield f"{path}{name} {_change(before, after)}"


def _named(event: Event) -> str:
    what = getattr(event, "purpose", None) or getattr(event, "step", None)
    if isinstance(event, CallBegun):
        what = event.call.name
    return type(event).__name__ + (f" ({in_quotes(what)})" if what else "")


def _change(was: object, now: object) -> str:
    if isinstance(was, list) and isinstance(now, list):
        return "differs:\n" + describe_changes(_text(was), _text(now))
    if isinstance(was, str) and isinstance(now, str) and "\n" in was + now:
        return "differs:\n" + describe_changes(was, now)
    return f"was {_short(was)}, and is now {_short(now)}"


def _text(parts: list[Any]) -> str:
    """The messages of a model call, or other parts, one after the other."""
    return "\n".join(m["content"] if isinstance(m, dict) and "content" in m else _short(m) for m in parts)


def _short(value: object) -> str:
    return value_text(value, _MAX_CHARACTERS)
