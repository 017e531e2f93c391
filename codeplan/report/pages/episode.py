"""One episode for the page: its head, at once, and its events, page by page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codeplan.recording.events import Event
from codeplan.report.pages import course
from codeplan.report.pages.index import Index, Unreadable
from codeplan.report.pages.items import Item, Picture, Teller, str_of
from codeplan.report.pages.plans import laid_out
from codeplan.report.pages.runs import Run
from codeplan.report.plain import fields
from codeplan.runner.live import TRACE


class Told:
    """An episode that can be told in pages. ``most`` is how many characters of one text are shown.

    ``picture`` gives the address of a picture, from the number of the event that names it and its file.
    """

    def __init__(self, run: Run, picture: Picture, most: int) -> None:
        self.run, self._picture, self._most = run, picture, most
        self.index = Index(run.folder / TRACE)

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
        told = fields(result) | {"plan": None, "trace": None, "task": None} if result else None
        return {
            "task": str_of(fields(self.run.task)),
            "state": self.run.state,
            "result": str_of(told),
            "events": index.count,
            "bytes": index.size,
            "plans": len(index.drafts),
            "pages": [page.first for page in index.pages],
            "course": course.rows(index.turns),
            "spans": course.spans(index.turns),
        }

    def page(self, number: int) -> dict[str, Any]:
        """The events of a page, and what holds where it begins."""
        page = self.index.pages[number]
        before = self.index.plan_at(page.carried.drafted)
        teller = self._teller(before.source if before else None, self._most)
        items = [teller.tell(page.first + at, event) for at, event in enumerate(self.index.read(number))]
        plan = {"plan": before.number, "n": page.carried.drafted, **laid_out(before.source)} if before else None
        return {
            "first": page.first,
            "items": items,
            "carried": {"plan": plan, "step": page.carried.step, "spans": list(page.carried.spans)},
        }

    def event(self, number: int) -> Event | Unreadable | None:
        """The event with this number; None where there is none."""
        if not 0 <= number < self.index.count:
            return None
        at = self.index.page_of(number)
        return self.index.read(at)[number - self.index.pages[at].first]

    def item(self, number: int, most: int) -> Item | None:
        """What is shown of one event, with up to ``most`` characters of each text; None where there is none."""
        event = self.event(number)
        return None if event is None else self._teller(None, most).tell(number, event)

    def _teller(self, plan: str | None, most: int) -> Teller:
        return Teller(self._picture, most, self.index.started, plan)
