"""The data of a page: the columns, the episodes and how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from codeplan.bench.episode_measures import EpisodeMeasures
from codeplan.bench.grid import BenchCell
from codeplan.bench.papers.comparable import PublishedResults
from codeplan.bench.store import EpisodeOutcome
from codeplan.report.summary import end_state
from codeplan.types import Result, Task

EpisodeState = Literal["success", "claimed", "failure", "broken", "open"]
"""The state of an episode: solved, only claimed, not solved, broken off by its infrastructure, or without an end."""

SCRIPTED = "scripted"
"""The name of the stand-in, which is no language model."""


class ReportColumn(msgspec.Struct, frozen=True):
    """The common data of a column's episodes.

    ``name`` is unique on the page, ``short_name`` among the columns of its environment.
    """

    name: str
    short_name: str
    cell: BenchCell


class ReportEpisode(msgspec.Struct, frozen=True):
    """One episode: the folder of its trace, its column and task, and how it ended; None until then.

    ``root`` is the folder that the user named; None if it is the trace's. ``started_at`` and ``ended_at`` are Unix
    times, None if the trace does not say; ``codeplan_version`` is the version that started the episode, empty if
    unknown.
    """

    folder: Path
    column: str
    task: Task
    repeat: int = 0
    outcome: EpisodeOutcome | None = None
    measures: EpisodeMeasures | None = None
    root: Path | None = None
    started_at: float | None = None
    ended_at: float | None = None
    codeplan_version: str = ""

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


def page_names(names: Sequence[tuple[str, str]]) -> list[str]:
    """The names of columns on a page, from pairs of environment and name: with several environments, both."""
    several = len({env for env, _ in names}) > 1
    return [f"{env}: {name}" if several else name for env, name in names]


MAX_COLUMNS = 100
"""Columns on a page. Further ones are left out, with their episodes."""

MAX_EPISODES = 10_000
"""Episodes that a page lists. Further ones count in its figures only."""


class ReportData(msgspec.Struct, frozen=True):
    """Everything to show. ``total`` is the number of planned episodes, None if unknown.

    ``unread`` are traces whose beginning cannot be read. ``columns_left_out`` counts columns beyond ``MAX_COLUMNS``.
    """

    name: str
    columns: tuple[ReportColumn, ...]
    episodes: tuple[ReportEpisode, ...]
    total: int | None = None
    published: PublishedResults = PublishedResults()
    unread: tuple[Path, ...] = ()
    columns_left_out: int = 0

    def limited(self) -> ReportData:
        """The same with at most ``MAX_COLUMNS`` columns and their episodes."""
        if len(self.columns) <= MAX_COLUMNS:
            return self
        columns = self.columns[:MAX_COLUMNS]
        names = {column.name for column in columns}
        episodes = tuple(episode for episode in self.episodes if episode.column in names)
        left_out = self.columns_left_out + len(self.columns) - MAX_COLUMNS
        return msgspec.structs.replace(self, columns=columns, episodes=episodes, columns_left_out=left_out)
