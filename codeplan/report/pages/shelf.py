"""What a server shows: the episodes of a folder, each with a number that stays while the folder grows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from codeplan.recording.events import Event
from codeplan.report.pages import skills
from codeplan.report.pages.episode import Told
from codeplan.report.pages.index import Unreadable
from codeplan.report.pages.overview import overview
from codeplan.report.pages.runs import Run, Runs, Source
from codeplan.skills.library import Library

TEXT_CHARACTERS = 50_000
WHOLE_CHARACTERS = 4_000_000
"""How much of one text is shown at first, and when it is asked for whole."""

_MOST_KEPT = 32


class Shelf:
    """Reads what is asked for. Safe to use from several threads; an answer is plain data, None where there is none."""

    def __init__(self, source: Source, library: Library | None = None) -> None:
        self._source, self._library = source, library
        self._lock = threading.RLock()
        self._numbers: dict[Path, int] = {}
        self._runs: list[Run] = []
        self._told: OrderedDict[int, Told] = OrderedDict()
        self._refresh()

    def overview(self) -> dict[str, Any]:
        """The overview as the folder is now; an episode's place in its list is its number."""
        with self._lock:
            found = self._refresh()
            return overview(found) | {"skills": self._library is not None}

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
            return told.item(event, WHOLE_CHARACTERS) if told else None

    def event(self, number: int, event: int) -> tuple[Path, Event | Unreadable | None] | None:
        """The folder of an episode, and one event as it is."""
        with self._lock:
            told = self._episode(number)
            return (told.folder, told.event(event)) if told else None

    def skills(self) -> dict[str, Any] | None:
        """The library at a glance."""
        return skills.glance(self._library) if self._library else None

    def skill(self, env: str, name: str) -> dict[str, Any] | None:
        """All of one skill."""
        if self._library is None:
            return None
        with self._lock:
            episodes = {folder.resolve(): number for folder, number in self._numbers.items()}
        return skills.details(self._library, env, name, episodes)

    def _refresh(self) -> Runs:
        """Read the folder again; what is new comes after what was there."""
        found = self._source.read()
        for run in found.runs:
            number = self._numbers.setdefault(run.folder, len(self._numbers))
            if number == len(self._runs):
                self._runs.append(run)
            else:
                self._runs[number] = run
            if number in self._told:
                self._told[number].run = run
        return Runs(found.name, found.columns, tuple(self._runs), found.total)

    def _episode(self, number: int) -> Told | None:
        if not 0 <= number < len(self._runs):
            return None
        if number not in self._told:

            def picture(event: int, file: str) -> str:
                return f"api/episodes/{number}/pictures/{event}"

            self._told[number] = Told(self._runs[number], picture, TEXT_CHARACTERS)
        self._told.move_to_end(number)
        while len(self._told) > _MOST_KEPT:
            self._told.popitem(last=False)
        told = self._told[number]
        if not told.index.count:
            told.index.refresh()
        return told
