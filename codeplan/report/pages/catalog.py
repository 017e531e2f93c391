"""The episodes of a folder for the server. An episode keeps its number while the folder grows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from codeplan.recording.events import Event
from codeplan.report.pages import skills
from codeplan.report.pages.episode_view import EpisodeView
from codeplan.report.pages.overview import build_overview
from codeplan.report.pages.report_data import ReportData, ReportEpisode
from codeplan.report.pages.report_source import ReportSource
from codeplan.report.pages.trace_index import UnreadableEvent
from codeplan.skills.library import SkillLibrary

MAX_TEXT_CHARACTERS = 50_000
MAX_WHOLE_TEXT_CHARACTERS = 4_000_000
"""Limits for one text: in a page of events, and for a reader who asks for the whole text."""

_MAX_CACHED_VIEWS = 32

T = TypeVar("T")


class EpisodeCatalog:
    """Answers the server's requests with plain data, or None if there is no such thing. Thread-safe."""

    def __init__(self, source: ReportSource, library: SkillLibrary | None = None) -> None:
        self._source, self._library = source, library
        self._lock = threading.RLock()
        self._numbers: dict[Path, int] = {}
        self._runs: list[ReportEpisode] = []
        self._views: OrderedDict[int, EpisodeView] = OrderedDict()
        self._refresh()

    def overview(self) -> dict[str, Any]:
        """The overview of the folder as it is now. An episode's place in its list is its number."""
        with self._lock:
            report = self._refresh()
            overview = build_overview(report) | {"skills": self._library is not None}
            # A folder of runs may grow while it is shown; one run's folder does not.
            overview["single"] = overview["single"] and self._runs[0].folder == self._runs[0].root
            return overview

    def head(self, number: int) -> dict[str, Any] | None:
        """An episode's head."""
        return self._ask(number, lambda view: view.head())

    def page(self, number: int, page: int) -> dict[str, Any] | None:
        """A page of an episode's events."""
        return self._ask(number, lambda v: v.page(page) if 0 <= page < len(v.index.refresh().pages) else None)

    def item(self, number: int, event: int) -> dict[str, Any] | None:
        """One event with its whole texts."""
        return self._ask(number, lambda view: view.item(event, MAX_WHOLE_TEXT_CHARACTERS))

    def event(self, number: int, event: int) -> tuple[Path, Event | UnreadableEvent | None] | None:
        """The folder of an episode, and one event of it."""
        return self._ask(number, lambda view: (view.folder, view.event(event)))

    def skills(self) -> dict[str, Any] | None:
        """The library's overview."""
        return skills.skills_overview(self._library) if self._library else None

    def skill(self, env: str, name: str) -> dict[str, Any] | None:
        """One skill in full."""
        if self._library is None:
            return None
        with self._lock:
            episodes = {folder.resolve(): number for folder, number in self._numbers.items()}
        return skills.skill_details(self._library, env, name, episodes)

    def _refresh(self) -> ReportData:
        """Read the folder again. New episodes come after the known ones."""
        report = self._source.read()
        for run in report.episodes:
            number = self._numbers.setdefault(run.folder, len(self._numbers))
            self._runs[number : number + 1] = [run]
            if number in self._views:
                self._views[number].episode = run
        return msgspec.structs.replace(report, episodes=tuple(self._runs))

    def _ask(self, number: int, read: Callable[[EpisodeView], T | None]) -> T | None:
        """The result of ``read`` for an episode; None if there is no such episode."""
        with self._lock:
            view = self._episode(number)
            return read(view) if view else None

    def _episode(self, number: int) -> EpisodeView | None:
        if not 0 <= number < len(self._runs):
            return None
        if number not in self._views:

            def picture(event: int, file: str) -> str:
                return f"api/episodes/{number}/pictures/{event}"

            self._views[number] = EpisodeView(self._runs[number], picture, MAX_TEXT_CHARACTERS)
        self._views.move_to_end(number)
        while len(self._views) > _MAX_CACHED_VIEWS:
            self._views.popitem(last=False)
        view = self._views[number]
        if not view.index.count:
            view.index.refresh()
        return view
