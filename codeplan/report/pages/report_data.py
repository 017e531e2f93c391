"""What a page shows: the columns, the episodes and how they ended."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from codeplan.bench.episode_measures import EpisodeMeasures
from codeplan.bench.papers.comparable import PublishedResults
from codeplan.bench.store import BenchCell, EpisodeOutcome
from codeplan.report.summary import end_state
from codeplan.types import Result, Task

EpisodeState = Literal["success", "claimed", "failure", "broken", "open"]
"""The state of an episode: solved, only claimed, not solved, broken off by its infrastructure, or without an end."""

SCRIPTED = "scripted"
"""The name of the stand-in, which is no language model."""


class ReportColumn(msgspec.Struct, frozen=True):
    """What the episodes of a column have in common, and the column's name, unique on the page."""

    name: str
    cell: BenchCell


class ReportEpisode(msgspec.Struct, frozen=True):
    """One episode: the folder of its trace, its column and task, and how it ended; None until then.

    ``root`` is the folder that the user named; None if it is the trace's.
    """

    folder: Path
    column: str
    task: Task
    repeat: int = 0
    outcome: EpisodeOutcome | None = None
    measures: EpisodeMeasures | None = None
    root: Path | None = None

    @property
    def state(self) -> EpisodeState:
        """The state of the episode."""
        if self.outcome is None:
            return "open"
        return "broken" if self.outcome.broken else end_state(self.outcome.result)

    @property
    def result(self) -> Result | None:
        """The result, None until the episode ends."""
        return self.outcome.result if self.outcome else None


class ReportData(msgspec.Struct, frozen=True):
    """Everything to show. ``total`` is the number of planned episodes, None if unknown.

    ``unread`` are traces whose beginning cannot be read.
    """

    name: str
    columns: tuple[ReportColumn, ...]
    episodes: tuple[ReportEpisode, ...]
    total: int | None = None
    published: PublishedResults = PublishedResults()
    unread: tuple[Path, ...] = ()
