"""Reads the episodes of one folder: a bench's, a folder of runs, or a single run's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from codeplan.bench import store
from codeplan.bench.episode_measures import measure_episode
from codeplan.bench.file_names import REPEAT_SUFFIX, safe_file_name
from codeplan.bench.grid import BenchCell
from codeplan.bench.papers.comparable import published_results
from codeplan.bench.store import EpisodeOutcome
from codeplan.recording.events import EpisodeEnded, EpisodeStarted
from codeplan.report.pages import run_folders
from codeplan.report.pages.report_data import MAX_COLUMNS, SCRIPTED, ReportColumn, ReportData, ReportEpisode, page_names
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.types import Task
from codeplan.untrusted.files import is_regular_file
from codeplan.untrusted.folders import list_folder

_YEAR_5138 = 1e11
"""Unix times from here on are not shown as dates."""


class FolderSource:
    """A bench's folder, one of run folders, or one run's. Call ``read`` again to follow a growing folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ends: dict[Path, tuple[tuple[int, int], run_folders.FirstAndLastEvent]] = {}
        self._ended: dict[Path, ReportEpisode] = {}

    @property
    def is_bench(self) -> bool:
        """Whether the folder is a bench's."""
        return os.path.lexists(self.folder / store.GRID_FILE)

    def read(self, skip: frozenset[Path] = frozenset()) -> ReportData:
        """The folder's present content, without the traces in the folders to ``skip``.

        Raises: UsageError: the bench's files are damaged.
        """
        return self._bench() if self.is_bench else self._folder(skip)

    # -------------------------------------------------------------- a bench

    def _bench(self) -> ReportData:
        bench = store.read_bench(self.folder)
        columns = _columns(bench.cells)[:MAX_COLUMNS]
        names = {column.cell.name: column.name for column in columns}
        runs = [
            self._run(self.folder / e.run, column.name, e, column.cell)
            for column in columns
            for e in bench.outcomes_of(column.cell.name)
        ]
        episodes = (*runs, *self._running(bench, names))
        left_out = len(bench.cells) - len(columns)
        total, published = bench.total_episodes, published_results(bench)
        return ReportData(self._name, columns, episodes, total, published, columns_left_out=left_out)

    def _running(self, bench: store.BenchRecord, names: dict[str, str]) -> Iterator[ReportEpisode]:
        """The episodes that have a trace and no end."""
        known = {e.key for e in bench.outcomes}
        for cell in (cell for cell in bench.cells if cell.name in names):
            for task, repeat in _found_episodes(bench, cell):
                folder = self.folder / store.episode_folder(cell.name, task.id, repeat)
                if (cell.name, task.id, repeat) not in known and is_regular_file(folder / TRACE_NAME, self.folder):
                    start, _ = self._ends_of(folder / TRACE_NAME)
                    known_run = ReportEpisode(folder, names[cell.name], task, repeat, root=self.folder)
                    yield _dated(known_run, start, None)

    # -------------------------------------------------------------- a folder of runs

    def _folder(self, skip: frozenset[Path]) -> ReportData:
        found = (path for path in run_folders.find_traces(self.folder) if skip.isdisjoint(path.parents))
        traces = [(path, *self._ends_of(path)) for path in sorted(found, key=run_folders.natural_sort_key)]
        began = [(path.parent, start, end) for path, start, end in traces if start]
        starts = {run_folders.column_key(start): start for _, start, _ in began}
        short_names = run_folders.column_names(list(starts.values()), SCRIPTED)
        names = page_names([(start.env, name) for start, name in zip(starts.values(), short_names, strict=True)])
        columns = {
            key: ReportColumn(name, short_name, _cell(name, start))
            for (key, start), name, short_name in zip(starts.items(), names, short_names, strict=True)
        }
        runs = tuple(self._found(folder, columns[run_folders.column_key(s)], s, end) for folder, s, end in began)
        unread = tuple(path for path, start, _ in traces if start is None)
        return ReportData(self._name, tuple(columns.values()), runs, unread=unread)

    def _found(
        self, folder: Path, column: ReportColumn, start: EpisodeStarted, end: EpisodeEnded | None
    ) -> ReportEpisode:
        if end is None:
            return _dated(ReportEpisode(folder, column.name, start.task, root=self.folder), start, None)
        place = str(folder.relative_to(self.folder))
        outcome = EpisodeOutcome(column.name, start.task, 0, place, end.result, broken=end.broken_off)
        return self._run(folder, column.name, outcome, column.cell)

    def _ends_of(self, path: Path) -> run_folders.FirstAndLastEvent:
        """The first and the last event of a trace. The file is read again only after it changed."""
        try:
            seen = path.lstat()
            stamp = (seen.st_size, seen.st_mtime_ns)
            if path not in self._ends or self._ends[path][0] != stamp:
                self._ends[path] = (stamp, run_folders.read_ends(path, seen.st_size, self.folder))
        except OSError:
            return None, None
        return self._ends[path][1]

    # -------------------------------------------------------------- both

    @property
    def _name(self) -> str:
        return self.folder.resolve().name

    def _run(self, folder: Path, column: str, outcome: EpisodeOutcome, cell: BenchCell) -> ReportEpisode:
        """An episode that ended, with its measures. Its trace is read once."""
        known = self._ended.get(folder)
        if known is None or known.outcome != outcome:
            measures = measure_episode(outcome, self.folder, cell.no_effect_prefixes)
            known = ReportEpisode(folder, column, outcome.task, outcome.repeat, outcome, measures, self.folder)
            known = self._ended[folder] = _dated(known, *self._ends_of(folder / TRACE_NAME))
        return msgspec.structs.replace(known, column=column)


def _found_episodes(bench: store.BenchRecord, cell: BenchCell) -> list[tuple[Task, int]]:
    """The tasks and repeats of a cell that have a folder, in the grid's order."""
    tasks = bench.grid.tasks[cell.suite]
    place = bench.folder / store.RUNS_FOLDER / safe_file_name(cell.name)
    try:
        folders = [entry.name for entry in list_folder(place, bench.folder) if entry.is_folder]
    except OSError:
        return []
    numbers = {Path(store.episode_folder(cell.name, task.id, 0)).name: number for number, task in enumerate(tasks)}
    found = []
    for name in folders:
        suffix = REPEAT_SUFFIX.search(name)
        number = numbers.get(name[: suffix.start()] if suffix else name)
        repeat = int(suffix[0][2:]) if suffix else 0
        if number is not None and repeat < bench.grid.repeats:
            found.append((repeat, number))
    return [(tasks[number], repeat) for repeat, number in sorted(found)]


def _dated(run: ReportEpisode, start: EpisodeStarted | None, end: EpisodeEnded | None) -> ReportEpisode:
    """The episode with the times and the version of codeplan that its trace's first and last event tell."""
    version = start.codeplan_version if start else ""
    return msgspec.structs.replace(run, started_at=_time(start), ended_at=_time(end), codeplan_version=version)


def _time(event: EpisodeStarted | EpisodeEnded | None) -> float | None:
    """The event's Unix time; None if there is no event, or no time that a calendar has."""
    return event.at if event and 0 < event.at < _YEAR_5138 else None


def _columns(cells: tuple[BenchCell, ...]) -> tuple[ReportColumn, ...]:
    """A column for each cell, without what the page shows beside its name, as long as the names stay distinct."""
    suites: dict[str, set[str]] = {}
    for cell in cells:
        suites.setdefault(cell.env, set()).add(cell.suite)
    short = [_short_name(cell, len(suites[cell.env]) > 1) for cell in cells]
    if len({(cell.env, name) for cell, name in zip(cells, short, strict=True)}) < len(cells):
        short = [cell.name for cell in cells]
    names = page_names([(cell.env, name) for cell, name in zip(cells, short, strict=True)])
    return tuple(ReportColumn(*column) for column in zip(names, short, cells, strict=True))


def _short_name(cell: BenchCell, several_suites: bool) -> str:
    """The cell's name without its suite, if the environment has no other, and without the stand-in's."""
    name = cell.name if several_suites else cell.name.removeprefix(f"{cell.suite}.")
    if cell.model != SCRIPTED:
        return name
    return name.removesuffix(f".{SCRIPTED}").replace(f".{SCRIPTED}.", ", ", 1)


def _cell(name: str, start: EpisodeStarted) -> BenchCell:
    return BenchCell(name, "", start.env, start.method, start.model, start.settings, start.budget)
