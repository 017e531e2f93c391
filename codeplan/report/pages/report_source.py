"""Collects the folders that the user named for one page: each bench in them, and the runs outside benches."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from codeplan.bench import store
from codeplan.bench.grid import BenchCell
from codeplan.bench.metrics import EpisodeMeasures, measure_episode
from codeplan.bench.papers import PublishedResults, published_results
from codeplan.bench.store import GRID_FILE, REPEAT_SUFFIX, EpisodeOutcome, safe_file_name
from codeplan.errors import UsageError
from codeplan.recording.event_log import MAX_LINE_BYTES
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, TurnStarted
from codeplan.report.event_view import end_state
from codeplan.report.pages.trace_index import UnreadableEvent, decode_event
from codeplan.runner.episodes import TRACE_NAME
from codeplan.tools.environment import GOAL, ToolEnvironment
from codeplan.types import NO_USAGE, Result, Task
from codeplan.untrusted.files import bounded_lines, find_files, is_regular_file, list_folder, open_to_read
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import value_text

MAX_NAMED_SETTINGS = 8
"""Maximum number of settings in a column's name."""

_MAX_SHOWN = 80
_MAX_DEPTH = 7
"""Deep enough for the traces of a bench in a folder of folders of benches."""
_HEAD_BYTES = 4 << 20
_TAIL_BYTES = 1 << 20

SESSION = "session"
"""The kind of task that a page gives to a session."""

_TURN_PREFIX = b'{"event":"turn_started"'
_COUNTS = ("actions", "asks", "refinements", "model_calls", "seconds")

FirstAndLastEvent = tuple[EpisodeStarted | None, EpisodeEnded | None]


def find_traces(folder: Path) -> Iterator[Path]:
    """The traces in a folder and its subfolders. Links are not followed."""
    return find_files(folder, TRACE_NAME, _MAX_DEPTH)


def find_benches(folder: Path) -> list[Path]:
    """The folders of benches in a folder and its subfolders, in order. Links are not followed."""
    found = (path.parent for path in find_files(folder, GRID_FILE, _MAX_DEPTH))
    return sorted(found, key=natural_sort_key)


def natural_sort_key(path: Path) -> list[tuple[int, str]]:
    """A key that sorts clean-9 before clean-10."""
    parts = [*re.findall(r"\d+|\D", str(path)), ""]
    return [(int(part[:18]), part) if part.isdecimal() else (-1, part) for part in parts]


def read_ends(path: Path, size: int, below: Path) -> FirstAndLastEvent:
    """The first and the last event of a trace of ``size`` bytes. None for an event that is missing or damaged.

    ``below`` is the folder that the user named. Raises: OSError: the file cannot be read.
    """
    with open_to_read(path, below) as file:
        first = _event(file.readline(_HEAD_BYTES))
        file.seek(max(0, size - _TAIL_BYTES))
        lines = file.read(_TAIL_BYTES).split(b"\n")
    last = _event(lines[-2]) if len(lines) > 1 else None
    return first if isinstance(first, EpisodeStarted) else None, last if isinstance(last, EpisodeEnded) else None


def column_key(start: EpisodeStarted) -> tuple[str, str, str, bytes]:
    """The common properties of one column's runs: environment, method, model and settings."""
    return start.env, start.method, start.model, msgspec.json.encode(start.settings, order="sorted")


def column_names(starts: Sequence[EpisodeStarted], scripted: str) -> list[str]:
    """A name for each column, unique in its environment: its method, and what distinguishes it: model and settings.

    The model ``scripted`` is not named, because the page marks it. Shows ``MAX_NAMED_SETTINGS`` settings at most;
    columns that are alike then are numbered.
    """
    common = _common_settings(starts)
    names: list[str] = []
    seen: Counter[tuple[str, str]] = Counter()
    for s in starts:
        parts = [s.method, *([s.model] if s.model != scripted else [])]
        differing = sorted(s.settings.keys() - common)[:MAX_NAMED_SETTINGS]
        parts += [f"{one_line(n, _MAX_SHOWN)}={_shown(s.settings[n])}" for n in differing]
        name = ", ".join(parts)
        seen[s.env, name] += 1
        number = seen[s.env, name]
        names.append(name if number == 1 else f"{name} ({number})")
    return names


def _common_settings(starts: Sequence[EpisodeStarted]) -> set[str]:
    """The settings that all runs have with the same value."""
    common = set(starts[0].settings) if starts else set()
    for s in starts:
        common = {n for n in common if n in s.settings and s.settings[n] == starts[0].settings[n]}
    return common


def _shown(value: object) -> str:
    return one_line(value if isinstance(value, str) else value_text(value, _MAX_SHOWN), _MAX_SHOWN)


def _event(line: bytes) -> Event | None:
    event = decode_event(line)
    return None if isinstance(event, UnreadableEvent) else event


EpisodeState = Literal["success", "claimed", "waiting", "failure", "broken", "open"]
"""The state of an episode: solved, only claimed, waiting for an approval, not solved, broken off by its infrastructure,
or without an end."""

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
    unknown. ``branched_at`` is the event at which it left the episode that it was branched off from.
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
    branched_at: int | None = None

    @property
    def name(self) -> str:
        """What its row and page are called: its task, or for a goal with the user's tools its folder and start."""
        if not _is_goal(self.task):
            return self.task.id
        place = self.folder.relative_to(self.root) if self.root else Path()
        shown = str(place) if place.parts else self.folder.resolve().name
        if self.started_at is None:
            return shown
        return f"{shown}, {datetime.fromtimestamp(self.started_at, UTC):%Y-%m-%d %H:%M} UTC"

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


_YEAR_5138 = 1e11
"""Unix times from here on are not shown as dates."""


class FolderSource:
    """A bench's folder, one of run folders, or one run's. Call ``read`` again to follow a growing folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ends: dict[Path, tuple[tuple[int, int], FirstAndLastEvent]] = {}
        self._ended: dict[Path, ReportEpisode] = {}
        self._turns: dict[Path, tuple[EpisodeEnded, tuple[Result, ...]]] = {}

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
        found = (path for path in find_traces(self.folder) if skip.isdisjoint(path.parents))
        traces = [(path, *self._ends_of(path)) for path in sorted(found, key=natural_sort_key)]
        began = [(path.parent, start, end) for path, start, end in traces if start]
        starts = {column_key(start): start for _, start, _ in began}
        short_names = column_names(list(starts.values()), SCRIPTED)
        names = page_names([(start.env, name) for start, name in zip(starts.values(), short_names, strict=True)])
        columns = {
            key: ReportColumn(name, short_name, _cell(name, start))
            for (key, start), name, short_name in zip(starts.items(), names, short_names, strict=True)
        }
        runs = tuple(self._found(folder, columns[column_key(s)], s, end) for folder, s, end in began)
        unread = tuple(path for path, start, _ in traces if start is None)
        return ReportData(self._name, tuple(columns.values()), runs, unread=unread)

    def _found(
        self, folder: Path, column: ReportColumn, start: EpisodeStarted, end: EpisodeEnded | None
    ) -> ReportEpisode:
        task = _told_apart(start)
        if end is None:
            return _dated(ReportEpisode(folder, column.name, task, root=self.folder), start, None)
        place, result = str(folder.relative_to(self.folder)), end.result
        if _is_goal(start.task) and (turns := self._earlier_turns(folder / TRACE_NAME, start, end)):
            task, result = _session(start.task, place, end.result, len(turns) + 1), _sum_of_turns(turns, end.result)
        outcome = EpisodeOutcome(column.name, task, 0, place, result, broken=end.broken_off)
        return self._run(folder, column.name, outcome, column.cell)

    def _ends_of(self, path: Path) -> FirstAndLastEvent:
        """The first and the last event of a trace. The file is read again only after it changed."""
        try:
            seen = path.lstat()
            stamp = (seen.st_size, seen.st_mtime_ns)
            if path not in self._ends or self._ends[path][0] != stamp:
                self._ends[path] = (stamp, read_ends(path, seen.st_size, self.folder))
        except OSError:
            return None, None
        return self._ends[path][1]

    def _earlier_turns(self, path: Path, start: EpisodeStarted, end: EpisodeEnded) -> tuple[Result, ...]:
        """How the turns of a session before its latest ended; none if it has one turn. Read again after a turn."""
        if end.result.task == start.task:
            return ()
        if path not in self._turns or self._turns[path][0] is not end:
            self._turns[path] = (end, tuple(_earlier_turns(path, self.folder)))
        return self._turns[path][1]

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


def _is_goal(task: Task) -> bool:
    return task.env == ToolEnvironment.name and task.kind in (GOAL, SESSION)


def _told_apart(start: EpisodeStarted) -> Task:
    """The task of a run outside a bench. Goals with the user's tools all have one id; here they are the same task only
    with the same goal, tools, type of value and verifier.
    """
    if not _is_goal(start.task):
        return start.task
    judge = start.verifier or start.has_verifier
    same = msgspec.json.encode([start.task.goal, start.tools, judge, start.returns], order="sorted")
    return replace(start.task, id=f"{GOAL}-{hashlib.sha256(same).hexdigest()[:16]}")


def _session(first: Task, place: str, latest: Result, turns: int) -> Task:
    """A session as a task, which no other run repeats: what the user said to it first and last."""
    goal = f"{one_line(first.goal, _MAX_SHOWN)} … {one_line(latest.task.goal, _MAX_SHOWN)} ({turns} turns)"
    return replace(first, id=f"{SESSION}-{hashlib.sha256(place.encode()).hexdigest()[:16]}", kind=SESSION, goal=goal)


def _earlier_turns(path: Path, below: Path) -> Iterator[Result]:
    """How the turns of a session before its latest ended; none for an episode that is no session."""
    try:
        with open_to_read(path, below) as file:
            for line in bounded_lines(file, MAX_LINE_BYTES):
                turn = _event(line) if line.startswith(_TURN_PREFIX) else None
                if isinstance(turn, TurnStarted):
                    yield turn.before
    except OSError:
        return


def _sum_of_turns(earlier: Sequence[Result], latest: Result) -> Result:
    """The ending of the latest turn, with the counts of all."""
    every = [*earlier, latest]
    counts = {name: sum(getattr(turn, name) for turn in every) for name in _COUNTS}
    return replace(latest, usage=sum((turn.usage for turn in every), NO_USAGE), **counts)


def _dated(run: ReportEpisode, start: EpisodeStarted | None, end: EpisodeEnded | None) -> ReportEpisode:
    """The episode with what its trace's first and last event tell: times, the version of codeplan, its branching."""
    version, branched = (start.codeplan_version, start.branched_at) if start else ("", None)
    times = {"started_at": _time(start), "ended_at": _time(end)}
    return msgspec.structs.replace(run, codeplan_version=version, branched_at=branched, **times)


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
            if not find_benches(folder) and next(find_traces(folder), None) is None:
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
        benches = find_benches(folder)
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
