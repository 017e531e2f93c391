"""An index of a trace file, so that any part of a large trace can be read without the rest.

The index reads the file line by line and keeps the small fields of each event. Whole events are read on demand. If
the file grows, reading continues where it stopped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from codeplan.errors import UsageError
from codeplan.recording.event_log import MAX_LINE_BYTES
from codeplan.recording.events import CallBegun, Event, PlanDrafted, PlanFixed
from codeplan.report.pages.html_page import label
from codeplan.untrusted import files
from codeplan.untrusted.json_values import TOO_DEEP, is_too_deep

MAX_PAGE_EVENTS = 200
MAX_PAGE_BYTES = 1 << 20
"""Limits for one page. A larger event gets a page of its own."""

MAX_EVENT_BYTES = 8 << 20
"""Larger events are not shown."""

MAX_COURSE_EVENTS = 2000
MAX_OPEN_SPANS = 50
MAX_OPEN_CALLS = 200
_PLAN_EVENTS = {"plan_drafted", "plan_fixed", "plan_rejected", "plan_started", "plan_ended"}
COURSE_EVENTS = frozenset(_PLAN_EVENTS | {"step_entered", "span_opened", "span_closed", "episode_ended"})
"""Tags of the events that describe the course of an episode."""

_event_decoder = msgspec.json.Decoder(Event)


class OutcomeHeader(msgspec.Struct, frozen=True):
    """The small fields of a plan's outcome; ``type`` is its tag."""

    type: str
    step: int | None = None
    line: int | None = None
    error: str = ""
    message: str = ""
    reason: str = ""


class EventHeader(msgspec.Struct, frozen=True):
    """The small fields of any event. Fields that an event lacks have their defaults."""

    event: str
    at: float = 0.0
    span: int | None = None
    step: int | None = None
    number: int | None = None
    start_from: int | None = None
    line: int | None = None
    id: int | None = None
    title: str = ""
    kind: str = ""
    name: str = ""
    message: str = ""
    outcome: OutcomeHeader | None = None


_header_decoder = msgspec.json.Decoder(EventHeader)


class UnreadableEvent(msgspec.Struct, frozen=True):
    """A line that cannot be shown, and why."""

    reason: str
    size: int


@dataclass(frozen=True)
class PageContext:
    """The state at the start of a page: the latest plan's event, the running step and the open spans."""

    plan_event: int | None = None
    """The event number of the latest drafted plan, None before the first."""

    step: int | None = None
    spans: tuple[int, ...] = ()
    open_calls: Mapping[int, int] = field(default_factory=dict)
    """The calls that have begun and are not answered: the offsets of their events by ``id``."""


@dataclass(frozen=True)
class EventPage:
    """Consecutive events: the number of the first, its offset in the file, and the state there."""

    first: int
    offset: int
    context: PageContext


@dataclass
class TraceIndex:
    """The index of the trace file ``path``. It is empty until ``refresh``, which reads what the file has gained."""

    path: Path
    below: Path | None = None
    """The folder that the user named, below which no link is followed; None for the trace's own folder."""

    count: int = 0
    """The number of events."""

    size: int = 0
    """The bytes of their lines."""

    pages: list[EventPage] = field(default_factory=list)
    plan_offsets: dict[int, int] = field(default_factory=dict)
    """The offset of each plan's latest text, drafted or fixed, by the number of the event that drafted it."""

    course_events: list[tuple[int, EventHeader]] = field(default_factory=list)
    """Numbers and headers of the events in ``COURSE_EVENTS``, at most ``MAX_COURSE_EVENTS``."""

    started_at: float = 0.0
    _context: PageContext = PageContext()

    def refresh(self) -> TraceIndex:
        """Read the lines that were written since the last call.

        Raises: UsageError: the file cannot be read.
        """
        try:
            with files.open_to_read(self.path, self.below) as file:
                file.seek(self.size)
                for line in files.bounded_lines(file, MAX_LINE_BYTES):  # a torn line may be one that is being written
                    self._add(line)
        except OSError as e:
            raise UsageError(f"the trace {self.path} cannot be read: {e.strerror}") from None
        return self

    def page_of(self, number: int) -> int:
        """The number, from 0, of the page that holds an event."""
        return max(0, bisect_right([page.first for page in self.pages], number) - 1)

    def read(self, page: int) -> list[Event | UnreadableEvent]:
        """The events of a page."""
        start = self.pages[page].offset
        size = (self.pages[page + 1].offset if page + 1 < len(self.pages) else self.size) - start
        if size > MAX_EVENT_BYTES:  # a page this large holds one event
            return [_too_large(size)]
        with files.open_to_read(self.path, self.below) as file:
            file.seek(start)
            return [decode_event(line) for line in file.read(size).split(b"\n")[:-1]]

    def plan_at(self, number: int | None) -> PlanDrafted | PlanFixed | None:
        """The plan drafted in the event of this number, as the check mended it; or None."""
        if number not in self.plan_offsets:
            return None
        with files.open_to_read(self.path, self.below) as file:
            file.seek(self.plan_offsets[number])
            event = decode_event(file.readline(MAX_EVENT_BYTES + 1))
        return event if isinstance(event, PlanDrafted | PlanFixed) else None

    def calls_at(self, context: PageContext) -> list[CallBegun]:
        """The calls that were open in this state."""
        begun: list[CallBegun] = []
        for offset in context.open_calls.values():
            with files.open_to_read(self.path, self.below) as file:
                file.seek(offset)
                event = decode_event(file.readline(MAX_EVENT_BYTES + 1))
            begun += [event] if isinstance(event, CallBegun) else []
        return begun

    def is_open(self, call: int) -> bool:
        """Whether the call with this ``id`` has begun and has no answer so far."""
        return call in self._context.open_calls

    def _add(self, line: bytes) -> None:
        header = _decode_header(line)
        self._start_page(len(line))
        if not self.count:
            self.started_at = header.at
        self._apply(header)
        self.count += 1
        self.size += len(line)

    def _start_page(self, size: int) -> None:
        page = self.pages[-1] if self.pages else None
        if not page or self.count - page.first >= MAX_PAGE_EVENTS or self.size + size - page.offset > MAX_PAGE_BYTES:
            self.pages.append(EventPage(self.count, self.size, self._context))

    def _apply(self, header: EventHeader) -> None:
        """Apply the event to the state and the course."""
        context = self._context
        match header.event:
            case "plan_drafted":
                self.plan_offsets[self.count] = self.size
                self._context = PageContext(self.count, None, context.spans, context.open_calls)
            case "plan_fixed" if context.plan_event is not None:
                self.plan_offsets[context.plan_event] = self.size
            case "step_entered":
                self._context = replace(context, step=header.step)
            case "call_begun" if header.id is not None and len(context.open_calls) < MAX_OPEN_CALLS:
                self._context = replace(context, open_calls={**context.open_calls, header.id: self.size})
            case "call_answered" if header.id in context.open_calls:
                self._context = replace(context, open_calls=_without(context.open_calls, header.id))
            case "span_opened" if header.id is not None and len(context.spans) < MAX_OPEN_SPANS:
                self._context = replace(context, spans=(*context.spans, header.id))
            case "span_closed":
                self._context = replace(context, spans=tuple(s for s in context.spans if s != header.id))
        if header.event in COURSE_EVENTS and len(self.course_events) < MAX_COURSE_EVENTS:
            self.course_events.append((self.count, _shortened(header)))


def _shortened(header: EventHeader) -> EventHeader:
    """The header with texts of bounded length."""
    outcome = header.outcome
    if outcome is not None:
        said = {name: label(getattr(outcome, name)) for name in ("type", "error", "message", "reason")}
        outcome = msgspec.structs.replace(outcome, **said)
    return msgspec.structs.replace(header, message=label(header.message), outcome=outcome)


def decode_event(line: bytes) -> Event | UnreadableEvent:
    """The event on a line, or why it cannot be shown."""
    if len(line) > MAX_EVENT_BYTES:
        return _too_large(len(line))
    if is_too_deep(line):
        return UnreadableEvent(f"it holds {TOO_DEEP}", len(line))
    try:
        event: Event = _event_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        return UnreadableEvent(f"damaged: {e}", len(line))
    return event


def _without(offsets: Mapping[int, int], id: int | None) -> Mapping[int, int]:
    return {number: offset for number, offset in offsets.items() if number != id}


def _too_large(size: int) -> UnreadableEvent:
    return UnreadableEvent(f"larger than the {MAX_EVENT_BYTES >> 20} MB that can be shown", size)


def _decode_header(line: bytes) -> EventHeader:
    try:
        return _header_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return EventHeader("")
