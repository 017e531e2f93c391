"""Where things stand in a trace file, so that any part of a large one can be read without the rest.

The file is read once, line by line, and only the small fields of each event are kept; what an event holds in full is
read from the file when it is to be shown. A file that grows is read on from where the reading ended.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from codeplan.errors import UsageError
from codeplan.recording.events import Event, PlanDrafted
from codeplan.report.pages.visible_text import label

MAX_PAGE_EVENTS = 200
MAX_PAGE_BYTES = 1 << 20
"""What one page holds at most; an event that is larger has a page for itself."""

MAX_EVENT_BYTES = 8 << 20
"""Events above this size are not shown: they would be no use to a reader, and a burden to a browser."""

MAX_COURSE_EVENTS = 2000
MAX_OPEN_SPANS = 50
COURSE_EVENTS = frozenset(
    {
        "plan_drafted",
        "plan_rejected",
        "plan_started",
        "step_entered",
        "plan_failed",
        "plan_stopped",
        "plan_finished",
        "span_opened",
        "span_closed",
        "episode_ended",
    }
)
"""Kinds of the events that tell the course of an episode."""

_decoder = msgspec.json.Decoder(Event)


class EventHeader(msgspec.Struct, frozen=True):
    """The small fields of any event; those that its kind does not have are at their defaults."""

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
    error: str = ""
    limit: str = ""
    message: str = ""


_marks = msgspec.json.Decoder(EventHeader)


class UnreadableEvent(msgspec.Struct, frozen=True):
    """A line that cannot be shown, and why."""

    reason: str
    size: int


@dataclass(frozen=True)
class PageContext:
    """What holds at the start of a page: the latest plan's and checkpoint's place, the step that runs, open spans."""

    plan_event: int | None = None
    """The event number of the latest drafted plan, None before the first."""

    previous_plan_event: int | None = None
    """That of the plan before it."""

    step: int | None = None
    spans: tuple[int, ...] = ()


@dataclass(frozen=True)
class EventPage:
    """Some events in a row: the first one's number, the place of its line in the file, and what holds there."""

    first: int
    offset: int
    context: PageContext


@dataclass
class TraceIndex:
    """The index of the trace file ``path``. ``refresh`` reads what has come since; before it, the index is empty."""

    path: Path
    count: int = 0
    """How many events there are."""

    size: int = 0
    """The bytes of their lines."""

    pages: list[EventPage] = field(default_factory=list)
    plan_offsets: dict[int, int] = field(default_factory=dict)
    """The place in the file of each drafted plan, by the event's number."""

    course_events: list[tuple[int, EventHeader]] = field(default_factory=list)
    """Numbers and marks of the events that tell an episode's course, up to ``MOST_TURNS``."""

    started_at: float = 0.0
    ended: bool = False
    _carried: PageContext = PageContext()

    def refresh(self) -> TraceIndex:
        """Read the lines that were written since the last reading. Raises UsageError where the file cannot be read."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.size)
                for line in file:
                    if not line.endswith(b"\n"):  # torn, or being written
                        break
                    self._add(line)
        except OSError as e:
            raise UsageError(f"the trace {self.path} cannot be read: {e.strerror}") from None
        return self

    def page_of(self, number: int) -> int:
        """The number, from 0, of the page on which an event is."""
        return max(0, bisect_right([page.first for page in self.pages], number) - 1)

    def read(self, page: int) -> list[Event | UnreadableEvent]:
        """The events of a page."""
        start = self.pages[page].offset
        size = (self.pages[page + 1].offset if page + 1 < len(self.pages) else self.size) - start
        if size > MAX_EVENT_BYTES:  # a page so large holds one event
            return [_too_large(size)]
        with self.path.open("rb") as file:
            file.seek(start)
            return [decode_event(line) for line in file.read(size).split(b"\n")[:-1]]

    def plan_at(self, number: int | None) -> PlanDrafted | None:
        """The plan that was drafted in the event of this number; None where none was, or it cannot be read."""
        if number not in self.plan_offsets:
            return None
        with self.path.open("rb") as file:
            file.seek(self.plan_offsets[number])
            event = decode_event(file.readline(MAX_EVENT_BYTES + 1))
        return event if isinstance(event, PlanDrafted) else None

    def _add(self, line: bytes) -> None:
        mark = _mark(line)
        self._turn_page(len(line))
        if not self.count:
            self.started_at = mark.at
        self._follow(mark)
        self.count += 1
        self.size += len(line)

    def _turn_page(self, size: int) -> None:
        page = self.pages[-1] if self.pages else None
        if (
            page is None
            or self.count - page.first >= MAX_PAGE_EVENTS
            or self.size + size - page.offset > MAX_PAGE_BYTES
        ):
            self.pages.append(EventPage(self.count, self.size, self._carried))

    def _follow(self, mark: EventHeader) -> None:
        """Keep what the event changes of the episode's course."""
        carried = self._carried
        if mark.event == "plan_drafted":
            self.plan_offsets[self.count] = self.size
            self._carried = PageContext(self.count, carried.plan_event, None, carried.spans)
        elif mark.event == "step_entered":
            self._carried = PageContext(carried.plan_event, carried.previous_plan_event, mark.step, carried.spans)
        elif mark.event == "span_opened" and mark.id is not None and len(carried.spans) < MAX_OPEN_SPANS:
            self._carried = PageContext(
                carried.plan_event, carried.previous_plan_event, carried.step, (*carried.spans, mark.id)
            )
        elif mark.event == "span_closed":
            spans = tuple(s for s in carried.spans if s != mark.id)
            self._carried = PageContext(carried.plan_event, carried.previous_plan_event, carried.step, spans)
        self.ended = mark.event == "episode_ended"
        if mark.event in COURSE_EVENTS and len(self.course_events) < MAX_COURSE_EVENTS:
            self.course_events.append((self.count, msgspec.structs.replace(mark, message=label(mark.message))))


def decode_event(line: bytes) -> Event | UnreadableEvent:
    """The event that a line holds, or why it cannot be shown."""
    if len(line) > MAX_EVENT_BYTES:
        return _too_large(len(line))
    try:
        event: Event = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        return UnreadableEvent(f"damaged: {e}", len(line))
    return event


def _too_large(size: int) -> UnreadableEvent:
    return UnreadableEvent(f"larger than the {MAX_EVENT_BYTES >> 20} MB that can be shown", size)


def _mark(line: bytes) -> EventHeader:
    try:
        return _marks.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return EventHeader("")
