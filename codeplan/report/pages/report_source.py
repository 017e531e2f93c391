"""Collects the folders that the user named for one page: each bench in them, and the runs outside benches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from codeplan.bench.papers.comparable import PublishedResults
from codeplan.bench.store import GRID_FILE
from codeplan.errors import UsageError
from codeplan.report.pages import run_folders
from codeplan.report.pages.folder_source import FolderSource
from codeplan.report.pages.report_data import ReportData
from codeplan.runner.new_episodes import TRACE_NAME

_T = TypeVar("_T")


class ReportSource:
    """Folders to show: benches, folders of benches and runs, single runs. Call ``read`` again to follow them.

    Raises: UsageError: a folder does not exist or holds nothing to show.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._sources: dict[Path, FolderSource] = {}
        for folder in self._folders:
            if not folder.is_dir():
                raise UsageError(f"there is no folder {folder}; name a bench's, one of runs, or one run's")
            if not run_folders.find_benches(folder) and next(run_folders.find_traces(folder), None) is None:
                raise UsageError(
                    f"there is nothing to show in {folder}: no {GRID_FILE}, and no folder with a "
                    f"{TRACE_NAME} (links and pipes are not read)"
                )

    def read(self) -> ReportData:
        """The present content of the folders.

        The columns of several benches, or of a bench and runs, begin with their folder.

        Raises: UsageError: a bench's files are damaged.
        """
        parts = [(name, part) for folder in self._folders for name, part in self._parts(folder)]
        names = [name for name, _ in parts]
        if len(set(names)) < len(names):
            names = [f"{number}. {name}" for number, name in enumerate(names, 1)]
        titles = [folder.resolve().name for folder in self._folders]
        if len(parts) == 1:
            return replace(parts[0][1], name=titles[0]).limited()
        named = [_named(name, part) for name, (_, part) in zip(names, parts, strict=True)]
        return _joined(", ".join(titles), named).limited()

    def _parts(self, folder: Path) -> Iterator[tuple[str, ReportData]]:
        """The benches of a folder, then its other runs if there are any, each with a name."""
        own = folder.resolve().name
        if self._source(folder).is_bench:
            yield own, self._source(folder).read()
            return
        benches = run_folders.find_benches(folder)
        for bench in benches:
            yield str(bench.relative_to(folder)), self._source(bench).read()
        runs = self._source(folder).read(frozenset(benches))
        if runs.episodes or runs.unread:
            yield own, runs

    def _source(self, folder: Path) -> FolderSource:
        return self._sources.setdefault(folder, FolderSource(folder))


def _named(name: str, part: ReportData) -> ReportData:
    """The part with its name before each of its columns."""
    columns = tuple(
        replace(column, name=f"{name}: {column.name}", short_name=f"{name}: {column.short_name}")
        for column in part.columns
    )
    episodes = tuple(replace(episode, column=f"{name}: {episode.column}") for episode in part.episodes)
    return replace(part, columns=columns, episodes=episodes)


def _joined(name: str, parts: list[ReportData]) -> ReportData:
    return ReportData(
        name,
        tuple(column for part in parts for column in part.columns),
        tuple(episode for part in parts for episode in part.episodes),
        sum(len(part.episodes) if part.total is None else part.total for part in parts),
        PublishedResults(
            _distinct(row for part in parts for row in part.published.rows),
            _distinct(reason for part in parts for reason in part.published.reasons),
        ),
        tuple(path for part in parts for path in part.unread),
        sum(part.columns_left_out for part in parts),
    )


def _distinct(values: Iterable[_T]) -> tuple[_T, ...]:
    found: list[_T] = []
    for value in values:
        if value not in found:
            found.append(value)
    return tuple(found)
