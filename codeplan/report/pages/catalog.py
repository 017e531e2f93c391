"""What a server shows: the episodes of a folder, each with a number that stays while the folder grows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from codeplan.recording.events import Event
from codeplan.report.pages import skills
from codeplan.report.pages.episode_view import EpisodeView
from codeplan.report.pages.overview import build_overview
from codeplan.report.pages.source import ReportData, ReportEpisode, ReportSource
from codeplan.report.pages.trace_index import UnreadableEvent
from codeplan.skills.library import SkillLibrary

MAX_TEXT_CHARACTERS = 50_000
MAX_WHOLE_TEXT_CHARACTERS = 4_000_000
"""How much of one text is shown at first, and when it is asked for whole."""

_MAX_CACHED_VIEWS = 32


class EpisodeCatalog:
    """Reads what is asked for. Safe to use from several threads; an answer is plain data, None where there is none."""

    def __init__(self, source: ReportSource, library: SkillLibrary | None = None) -> None:
        self._source, self._library = source, library
        self._lock = threading.RLock()
        self._numbers: dict[Path, int] = {}
        self._runs: list[ReportEpisode] = []
        self._told: OrderedDict[int, EpisodeView] = OrderedDict()
        self._refresh()

    def overview(self) -> dict[str, Any]:
        """The overview as the folder is now; an episode's place in its list is its number."""
        with self._lock:
            found = self._refresh()
            return build_overview(found) | {"skills": self._library is not None}

    def head(self, number: int) -> dict[str, Any] | None:
        """An episode's head."""
        with self._lock:
            told = self._episode(number)
            return told.head() if told else None

    def page(self, number: int, page: int) -> dict[str, Any] | None:
        """A page of an episode's events."""
        with self._lock:
            told = self._episode(number)
            if told is None or not 0 <= page < len(told.index.refresh().pages):
                return None
            return told.page(page)

    def item(self, number: int, event: int) -> dict[str, Any] | None:
        """One event, its texts whole."""
        with self._lock:
            told = self._episode(number)
            return told.item(event, MAX_WHOLE_TEXT_CHARACTERS) if told else None

    def event(self, number: int, event: int) -> tuple[Path, Event | UnreadableEvent | None] | None:
        """The folder of an episode, and one event as it is."""
        with self._lock:
            told = self._episode(number)
            return (told.folder, told.event(event)) if told else None

    def skills(self) -> dict[str, Any] | None:
        """The library at a glance."""
        return skills.skills_overview(self._library) if self._library else None

    def skill(self, env: str, name: str) -> dict[str, Any] | None:
        """All of one skill."""
        if self._library is None:
            return None
        with self._lock:
            episodes = {folder.resolve(): number for folder, number in self._numbers.items()}
        return skills.skill_details(self._library, env, name, episodes)

    def _refresh(self) -> ReportData:
        """Read the folder again; what is new comes after what was there."""
        found = self._source.read()
        for run in found.episodes:
            number = self._numbers.setdefault(run.folder, len(self._numbers))
            if number == len(self._runs):
                self._runs.append(run)
            else:
                self._runs[number] = run
            if number in self._told:
                self._told[number].episode = run
        return ReportData(found.name, found.columns, tuple(self._runs), found.total)

    def _episode(self, number: int) -> EpisodeView | None:
        if not 0 <= number < len(self._runs):
            return None
        if number not in self._told:

            def picture(event: int, file: str) -> str:
                return f"api/episodes/{number}/pictures/{event}"

            self._told[number] = EpisodeView(self._runs[number], picture, MAX_TEXT_CHARACTERS)
        self._told.move_to_end(number)
        while len(self._told) > _MAX_CACHED_VIEWS:
            self._told.popitem(last=False)
        told = self._told[number]
        if not told.index.count:
            told.index.refresh()
        return told
