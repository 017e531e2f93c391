"""One episode for the page: its head, at once, and its events, page by page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codeplan.recording.events import Event
from codeplan.report.json_output import to_plain_data
from codeplan.report.pages import course
from codeplan.report.pages.event_renderer import EventItem, EventRenderer, PictureAddress, visible_data
from codeplan.report.pages.plan_text import plan_layout
from codeplan.report.pages.source import ReportEpisode
from codeplan.report.pages.trace_index import TraceIndex, UnreadableEvent
from codeplan.runner.live import TRACE_NAME


class EpisodeView:
    """An episode that can be told in pages. ``most`` is how many characters of one text are shown.

    ``picture`` gives the address of a picture, from the number of the event that names it and its file.
    """

    def __init__(self, run: ReportEpisode, picture: PictureAddress, max_characters: int) -> None:
        self.run, self._picture, self._most = run, picture, max_characters
        self.index = TraceIndex(run.folder / TRACE_NAME)

    @property
    def folder(self) -> Path:
        """The folder of the episode's trace."""
        return self.run.folder

    def head(self) -> dict[str, Any]:
        """What is known before any event is read: the task, the result, the course, how many pages there are.

        Reads on in the trace, if it has grown. Raises UsageError where it cannot be read.
        """
        index = self.index.refresh()
        result = self.run.result
        told = to_plain_data(result) | {"plan": None, "trace": None, "task": None} if result else None
        return {
            "task": visible_data(to_plain_data(self.run.task)),
            "state": self.run.state,
            "result": visible_data(told),
            "events": index.count,
            "bytes": index.size,
            "plans": len(index.plan_offsets),
            "pages": [page.first for page in index.pages],
            "course": course.plan_rows(index.course_events),
            "spans": course.span_rows(index.course_events),
        }

    def page(self, number: int) -> dict[str, Any]:
        """The events of a page, and what holds where it begins."""
        page = self.index.pages[number]
        before = self.index.plan_at(page.context.plan_event)
        teller = self._teller(before.source if before else None, self._most)
        items = [teller.render(page.first + at, event) for at, event in enumerate(self.index.read(number))]
        plan = {"plan": before.number, "n": page.context.plan_event, **plan_layout(before.source)} if before else None
        return {
            "first": page.first,
            "items": items,
            "carried": {"plan": plan, "step": page.context.step, "spans": list(page.context.spans)},
        }

    def event(self, number: int) -> Event | UnreadableEvent | None:
        """The event with this number; None where there is none."""
        if not 0 <= number < self.index.count:
            return None
        at = self.index.page_of(number)
        return self.index.read(at)[number - self.index.pages[at].first]

    def item(self, number: int, max_characters: int) -> EventItem | None:
        """What is shown of one event, with up to ``most`` characters of each text; None where there is none."""
        event = self.event(number)
        return None if event is None else self._teller(None, max_characters).render(number, event)

    def _teller(self, plan: str | None, most: int) -> EventRenderer:
        return EventRenderer(self._picture, most, self.index.started_at, plan)
