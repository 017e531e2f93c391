"""The folder of a bench: the grid, the outcomes, and a trace for each episode.

    OUT/bench.json                                    the grid
    OUT/results.jsonl                                 one line for each finished episode
    OUT/runs/<cell>/<task>[-r<repeat>]/trace.jsonl    the episode's trace
    OUT/trainings/<training>/                         learnt plans and training episodes (``trainings.py``)

Everything is readable after a kill. At worst the last line is torn; readers ignore it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from codeplan.bench.grid import BenchCell, BenchGrid, find_excess, require_contained, require_sound, total_episodes
from codeplan.durable_files import lock_exclusively, require_path
from codeplan.errors import TraceFailure, UsageError
from codeplan.runner.episodes import describe_episode_folder
from codeplan.types import NO_USAGE, Result, Task, Value
from codeplan.types.value import MAX_ROWS, Count, html_list, html_text, short_repr
from codeplan.untrusted import files
from codeplan.untrusted.json_values import ValueLimit
from codeplan.untrusted.texts import parser_reason, with_count

REPEAT_SUFFIX = re.compile(r"-r\d+\Z", re.ASCII)
"""The suffix of the folder of an episode's repeat."""


def safe_file_name(name: str) -> str:
    """The name itself if it is a safe file name, else a safe part of it with a digest."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.=+,") else "-" for c in name)[:80].lstrip(".")
    if kept == name and name and not REPEAT_SUFFIX.search(name):
        return name
    return f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


MAX_BENCH_BYTES = 1 << 29
"""Larger files are not read."""

MAX_BENCH_VALUES = 20_000_000
"""Files with more values, nested ones included, are not read."""

GRID_FILE = "bench.json"
RESULTS_FILE = "results.jsonl"
RUNS_FOLDER = "runs"


class EpisodeOutcome(Value, frozen=True):
    """A finished episode. ``repeat`` counts from 0; ``run`` is its folder, relative to the bench's, with ``/``.

    ``broken`` means that infrastructure failed despite all retries: the episode says nothing about its method, is
    counted separately, and runs again when the bench is started again. ``failures`` counts all infrastructure failures.
    ``hijacked`` is whether an attacker reached their goal, None without an attack.
    """

    cell: str
    task: Task
    repeat: int
    run: str
    result: Result
    broken: bool = False
    failures: Count = 0
    hijacked: bool | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """Cell, task and repeat."""
        return self.cell, self.task.id, self.repeat


class BenchRecord(Value, frozen=True, dict=True):
    """A bench as read from its folder: each finished episode once, in the order of the grid."""

    folder: Path
    grid: BenchGrid
    outcomes: tuple[EpisodeOutcome, ...] = ()

    @property
    def cells(self) -> tuple[BenchCell, ...]:
        """The grid's cells."""
        return self.grid.cells

    @property
    def total_episodes(self) -> int:
        """How many episodes the whole grid has."""
        return total_episodes(self.grid)

    def __repr__(self) -> str:
        shown = {"folder": str(self.folder), "cells": [cell.name for cell in self.cells]}
        return short_repr(self, {**shown, "ended": self.ended_episodes, "total": self.total_episodes})

    def _repr_html_(self) -> str:
        """The cells as a table, for a notebook: how many episodes ended, and how many of them were solved."""
        rows = (self._html_row(cell.name) for cell in self.cells[:MAX_ROWS])
        title = f"Bench: {self.ended_episodes:,} of {with_count(self.total_episodes, 'episode')} ended"
        return html_list(title, ("Cell", "Ended", "Solved", "Money"), rows, len(self.cells) - MAX_ROWS)

    @property
    def ended_episodes(self) -> int:
        """How many episodes ended; those that infrastructure broke off run again."""
        return sum(not outcome.broken for outcome in self.outcomes)

    def _html_row(self, cell: str) -> tuple[str, ...]:
        results = [outcome.result for outcome in self.outcomes_of(cell) if not outcome.broken]
        money = sum((result.usage for result in results), NO_USAGE).money
        solved = f"{sum(result.success for result in results):,}" if results else "–"
        return html_text(cell), f"{len(results):,}", solved, f"${money:.2f}" if money else "–"

    def outcomes_of(self, cell: str) -> tuple[EpisodeOutcome, ...]:
        """Return the outcomes of the cell with this name."""
        return tuple(self._by_cell.get(cell, ()))

    @cached_property
    def _by_cell(self) -> dict[str, list[EpisodeOutcome]]:
        found: dict[str, list[EpisodeOutcome]] = {}
        for outcome in self.outcomes:
            found.setdefault(outcome.cell, []).append(outcome)
        return found


def read_bench(folder: Path | str) -> BenchRecord:
    """Read the bench in a folder, which may still be running. Raises: UsageError if it is missing or damaged.

    Each episode's folder is where a bench puts it. The paths in the results are not trusted.
    """
    folder = Path(require_path(folder, "a bench's folder"))
    try:
        text = files.read_bytes(folder / GRID_FILE, MAX_BENCH_BYTES)
        ValueLimit(MAX_BENCH_VALUES).check(text, str(folder / GRID_FILE))
        grid = msgspec.json.decode(text, type=BenchGrid)
    except OSError as e:
        missing = f"it has no {GRID_FILE}; name the folder of a bench, as given to --out"
        other = missing if isinstance(e, FileNotFoundError) else f"{GRID_FILE} cannot be read ({e.strerror})"
        why = describe_episode_folder(folder) or other
        raise UsageError(f"there is no bench in {folder}: {why}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        raise UsageError(f"{folder / GRID_FILE} is not a bench: {parser_reason(e)}") from None
    require_sound(grid, folder / GRID_FILE)
    path = folder / RESULTS_FILE
    ended = (outcome for outcome, _ in _read_outcomes(path)) if os.path.lexists(path) else ()
    placed = (replace(one, run=episode_folder(*one.key)) for one in order_outcomes(grid, ended))
    return BenchRecord(folder, grid, tuple(placed))


def episode_folder(cell: str, task: str, repeat: int) -> str:
    """Return the folder of an episode's trace, relative to the bench's; safe and unique for all names."""
    return f"{RUNS_FOLDER}/{safe_file_name(cell)}/{safe_file_name(task)}" + (f"-r{repeat}" if repeat else "")


class BenchStore:
    """Writes to a bench's folder, which it locks until it is closed.

    If the folder holds a bench, ``grid`` must be the same, or the same with more cells, tasks or repeats. Raises:
    UsageError if it is another bench, still running, or too large, or if the folder holds an episode or is not
    writable.
    """

    def __init__(self, folder: Path | str, grid: BenchGrid) -> None:
        if excess := find_excess(grid):
            raise UsageError(excess)
        self.folder = Path(folder)
        holds_bench = os.path.lexists(self.folder / GRID_FILE)
        if not holds_bench and (episode := describe_episode_folder(self.folder)):
            raise UsageError(f"the bench needs a folder of its own, not {self.folder}: {episode}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = files.open_to_append(self.folder / RESULTS_FILE)
            self._file = lock_exclusively(file, f"a bench is still running in {self.folder}; wait for it or stop it")
        except OSError as e:
            raise UsageError(f"the bench cannot be written to {folder}: {e.strerror}") from None
        try:
            self._write_grid(grid)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> BenchStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def append(self, outcome: EpisodeOutcome) -> None:
        """Store an outcome. Raises: TraceFailure if it cannot be written."""
        try:
            files.write_all(self._file, msgspec.json.encode(outcome) + b"\n")
            os.fsync(self._file.fileno())
        except OSError as e:
            raise TraceFailure(f"{self.folder / RESULTS_FILE} cannot be written: {e.strerror}") from e

    def close(self) -> None:
        """Close the file and release the lock. Safe to call twice."""
        self._file.close()

    def _write_grid(self, grid: BenchGrid) -> None:
        if os.path.lexists(self.folder / GRID_FILE):
            before = read_bench(self.folder).grid
            require_contained(grid, before, self.folder)
            grid = replace(grid, codeplan_version=before.codeplan_version)
        elif os.fstat(self._file.fileno()).st_size:
            raise UsageError(f"{self.folder} holds a {RESULTS_FILE} but no {GRID_FILE}; name another folder")
        size = max((end for _, end in _read_outcomes(self.folder / RESULTS_FILE)), default=0)
        try:
            files.write_atomically(self.folder / GRID_FILE, msgspec.json.format(msgspec.json.encode(grid)) + b"\n")
            self._file.truncate(size)  # a torn line would corrupt the next
        except OSError as e:
            raise UsageError(f"the bench cannot be written to {self.folder}: {e.strerror}") from None


def order_outcomes(grid: BenchGrid, outcomes: Iterable[EpisodeOutcome]) -> tuple[EpisodeOutcome, ...]:
    """Return the latest outcome of each episode, in the grid's order."""
    cells = {cell.name: (number, cell.suite) for number, cell in enumerate(grid.cells)}
    tasks = {suite: {task.id: number for number, task in enumerate(of)} for suite, of in grid.tasks.items()}
    placed: dict[tuple[int, int, int], EpisodeOutcome] = {}
    for outcome in outcomes:
        cell, suite = cells.get(outcome.cell, (None, ""))
        task = tasks.get(suite, {}).get(outcome.task.id)
        if cell is not None and task is not None and 0 <= outcome.repeat < grid.repeats:
            placed[cell, outcome.repeat, task] = outcome
    return tuple(outcome for _, outcome in sorted(placed.items()))


def _read_outcomes(path: Path) -> Iterator[tuple[EpisodeOutcome, int]]:
    """The outcomes in a file of JSON lines, each with the place where its line ends. A torn last line is left out."""
    decoder, end = msgspec.json.Decoder(EpisodeOutcome), 0
    values = ValueLimit(MAX_BENCH_VALUES)
    try:
        with files.open_to_read(path) as file:
            if os.fstat(file.fileno()).st_size > MAX_BENCH_BYTES:
                raise UsageError(f"{path} cannot be read: it is larger than {MAX_BENCH_BYTES:,} bytes")
            for number, line in enumerate(files.bounded_lines(file, MAX_BENCH_BYTES), 1):
                end += len(line)
                values.check(line, f"{path}, line {number}")
                yield _decode_outcome(decoder, line, f"{path}, line {number}"), end
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror}") from None


def _decode_outcome(decoder: msgspec.json.Decoder[EpisodeOutcome], line: bytes, place: str) -> EpisodeOutcome:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        raise UsageError(f"{place} is not an episode's outcome: {parser_reason(e)}") from None
