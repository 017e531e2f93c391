"""One episode for the page: its head, and its events page by page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codeplan.recording.events import Event
from codeplan.report.json_output import to_plain_data
from codeplan.report.pages import episode_course
from codeplan.report.pages.event_renderer import EventItem, EventRenderer, PictureAddress, visible_data
from codeplan.report.pages.plan_text import plan_layout
from codeplan.report.pages.report_data import ReportEpisode
from codeplan.report.pages.trace_index import TraceIndex, UnreadableEvent
from codeplan.report.pages.visible_text import label
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.untrusted.differences import DiffEffort


class EpisodeView:
    """An episode, readable in pages.

    ``picture`` gives the address of a picture from the number of its event and its file. ``max_characters`` cuts each
    text. All diffs of the episode share ``effort``; without it, those of each page have an effort of their own.
    """

    def __init__(
        self, episode: ReportEpisode, picture: PictureAddress, max_characters: int, effort: DiffEffort | None = None
    ) -> None:
        self.episode, self._picture, self._max_characters, self._effort = episode, picture, max_characters, effort
        self.index = TraceIndex(episode.folder / TRACE_NAME, episode.root)

    @property
    def folder(self) -> Path:
        """The folder of the episode's trace."""
        return self.episode.folder

    def head(self) -> dict[str, Any]:
        """The task, the result, the course and the number of pages, without reading any event.

        Reads the trace's new events since the last call.

        Raises: UsageError: the trace cannot be read.
        """
        index = self.index.refresh()
        result = self.episode.result
        fields = to_plain_data(result) | {"plan": None, "trace": None, "task": None} if result else None
        return {
            "task": visible_data(to_plain_data(self.episode.task)),
            "state": self.episode.state,
            "result": visible_data(fields),
            "started": self.episode.started_at,
            "version": label(self.episode.codeplan_version, 40),
            "events": index.count,
            "bytes": index.size,
            "plans": len(index.plan_offsets),
            "pages": [page.first for page in index.pages],
            "course": episode_course.plan_rows(index.course_events),
            "spans": episode_course.span_rows(index.course_events),
        }

    def page(self, number: int) -> dict[str, Any]:
        """The events of a page, and the plan, step and spans at its start."""
        page = self.index.pages[number]
        before = self.index.plan_at(page.context.plan_event)
        renderer = self._renderer(before.source if before else None, self._max_characters)
        items = [renderer.render(page.first + at, event) for at, event in enumerate(self.index.read(number))]
        plan = {"plan": before.number, "n": page.context.plan_event, **plan_layout(before.source)} if before else None
        return {
            "first": page.first,
            "items": items,
            "context": {"plan": plan, "step": page.context.step, "spans": list(page.context.spans)},
        }

    def event(self, number: int) -> Event | UnreadableEvent | None:
        """The event with this number, or None."""
        if not 0 <= number < self.index.count:
            return None
        at = self.index.page_of(number)
        return self.index.read(at)[number - self.index.pages[at].first]

    def item(self, number: int, max_characters: int) -> EventItem | None:
        """The page's data for one event, or None; ``max_characters`` cuts each text."""
        event = self.event(number)
        return None if event is None else self._renderer(None, max_characters).render(number, event)

    def _renderer(self, plan: str | None, max_characters: int) -> EventRenderer:
        return EventRenderer(self._picture, max_characters, self.index.started_at, plan, self._effort)
