"""Finds the runs that branched off from one another: their traces begin with the same events."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from codeplan.recording.event_log import MAX_LINE_BYTES
from codeplan.report.pages.report_source import ReportEpisode
from codeplan.runner.episodes import TRACE_NAME
from codeplan.untrusted.files import bounded_lines, open_to_read

MAX_BRANCHES = 100
"""Runs of one origin whose traces are compared. Further ones are not shown as its branches."""

_MAX_EVENTS = 20_000


class Branch(msgspec.Struct, frozen=True):
    """A run in a tree of branches: its place in the list of episodes, and the run and event at which it branched off.

    ``parent`` is None for the run that all others come from.
    """

    episode: int
    parent: int | None
    at: int


def find_branches(episodes: Sequence[ReportEpisode]) -> list[Branch]:
    """The runs that were branched off, and those they come from; each after the one it comes from.

    A branch has its origin's header, so both tell the same start. Its parent is the run that was branched off before it
    and has the same events up to there, the earliest if there are several.
    """
    starts = {e.started_at for e in episodes if e.branched_at is not None and e.started_at is not None}
    families: dict[float, list[int]] = {start: [] for start in starts}
    for number, episode in enumerate(episodes):
        if episode.started_at in starts and len(families[episode.started_at]) < MAX_BRANCHES:
            families[episode.started_at].append(number)
    return [branch for start in sorted(starts) for branch in _tree(families[start], episodes)]


def _tree(numbers: Sequence[int], episodes: Sequence[ReportEpisode]) -> list[Branch]:
    """Each run of a family, below the run that it left. A branch whose origin is not there stands at the top."""
    events = {number: _digests(episodes[number]) for number in numbers}
    ordered = sorted(numbers, key=lambda number: episodes[number].branched_at or 0)
    tree: list[Branch] = []
    for place, number in enumerate(ordered):
        at = episodes[number].branched_at or 0
        own = events[number][: at - 1]
        parents = (n for n in ordered[:place] if at and events[n][: at - 1] == own)
        tree.append(Branch(number, next(parents, None), at))
    return tree if len(tree) > 1 else []


def _digests(episode: ReportEpisode) -> list[bytes]:
    """A digest of each event after the header, which tells a branch what its origin did later."""
    try:
        with open_to_read(episode.folder / TRACE_NAME, episode.root or episode.folder) as file:
            lines = zip(range(_MAX_EVENTS), bounded_lines(file, MAX_LINE_BYTES), strict=False)
            return [hashlib.blake2b(line, digest_size=16).digest() for _, line in lines][1:]
    except OSError:
        return []
