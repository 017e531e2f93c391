"""Finds the episodes in a folder without a bench's files, and names the columns for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from codeplan.bench.store import GRID_FILE
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event
from codeplan.report.pages.trace_index import UnreadableEvent, decode_event
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.untrusted.files import open_to_read
from codeplan.untrusted.folders import find_files
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.values import value_text

MAX_NAMED_SETTINGS = 8
"""Maximum number of settings in a column's name."""

_MAX_SHOWN = 80
_MAX_DEPTH = 7
"""Deep enough for the traces of a bench in a folder of folders of benches."""
_HEAD_BYTES = 4 << 20
_TAIL_BYTES = 1 << 20

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
