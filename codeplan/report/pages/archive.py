"""Writes a bench and its episodes as one file that needs neither a server nor a network."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from codeplan.errors import UsageError
from codeplan.report.pages.episode_pages import EmbeddedPictures, EpisodeView
from codeplan.report.pages.html_page import PAGE_MARK, render_page
from codeplan.report.pages.overview import build_overview, skill_details, skills_overview
from codeplan.report.pages.report_source import MAX_EPISODES, ReportEpisode, ReportSource
from codeplan.skills.library import SkillLibrary
from codeplan.untrusted.comparison import DiffEffort
from codeplan.untrusted.files import open_to_read, write_atomically

MAX_FILE_BYTES = 14_000_000
"""Limit for the overview and all episodes together, these compressed; pictures also count before compression.

Beyond it, pictures and the middle of long episodes are left out, then all events of some episodes.
"""

MAX_SKILL_BYTES = 16 << 20
"""Limit for all skills' plans and trials. Skills beyond it appear with their figures only."""

MAX_TEXT_CHARACTERS = 20_000
"""Limit for one text."""

HEADS_IN_BLOCK = 64
"""Heads of episodes that are compressed together, because they resemble one another (``HEADS_IN_BLOCK`` in data.js)."""

_MAX_PAGES = 400


class ArchiveSummary(msgspec.Struct, frozen=True):
    """The content of the file: the number of episodes, its bytes, the pages of events left out, and unreadable traces.

    ``episodes_left_out`` are not listed, but count in the figures; ``columns_left_out`` are nowhere on the page.
    ``pictures_left_out`` are those in the pages of events that are there.
    """

    episodes: int
    size: int
    left_out: int
    unread: tuple[Path, ...]
    episodes_left_out: int = 0
    columns_left_out: int = 0
    pictures_left_out: int = 0


def write_archive(source: ReportSource, out: Path, library: SkillLibrary | None = None) -> ArchiveSummary:
    """Write the page to ``out`` atomically, with a library of skills if one is given.

    Raises: UsageError: the file cannot be written, or would replace a file that is not such a page.
    """
    _check_replaceable(out)
    report = source.read()
    listed = report.episodes[:MAX_EPISODES]
    overview = build_overview(report) | {"skills": library is not None}
    packed = _EpisodeBlocks(listed, MAX_FILE_BYTES - len(msgspec.json.encode(overview)))
    blocks = "".join(packed.blocks())
    if library:
        blocks += "".join(_skills(library, {run.folder.resolve(): at for at, run in enumerate(listed)}))
    text = render_page(report.name, overview, blocks)
    _write(out, text.encode())
    unlisted = len(report.episodes) - len(listed)
    return ArchiveSummary(
        len(listed),
        len(text),
        packed.left_out,
        report.unread,
        unlisted,
        report.columns_left_out,
        packed.pictures_left_out,
    )


class _EpisodeBlocks:
    """The episodes as blocks of the page: the heads of all, and the events that fit into ``room``.

    ``left_out`` counts the pages of events that did not fit, ``pictures_left_out`` the pictures of the other pages.
    """

    def __init__(self, runs: tuple[ReportEpisode, ...], room: int) -> None:
        self._runs, self._room, self._used = runs, room, 0
        self._has_events = False
        self.left_out = self.pictures_left_out = 0

    def blocks(self) -> Iterator[str]:
        """Each episode's head, and the pages that fit. An episode has an equal share of the room, and what the ones
        before it left: if the shares are too small for a page, some episodes have events, evenly spread.
        """
        for first in range(0, len(self._runs), HEADS_IN_BLOCK):
            opened = [self._open(run) for run in self._runs[first : first + HEADS_IN_BLOCK]]
            yield self._block(f"h{first // HEADS_IN_BLOCK}", _pack([each and each.head for each in opened]))
            for at, each in enumerate(opened, first):
                if each:
                    yield from self._pages(f"e{at}", each, self._room * (at + 1) // len(self._runs))

    def _open(self, run: ReportEpisode) -> _OpenEpisode | None:
        """The episode's view with its head; None if its result has no trace."""
        pictures = EmbeddedPictures(run.folder)
        view = EpisodeView(run, pictures.address, MAX_TEXT_CHARACTERS, DiffEffort())
        try:
            return _OpenEpisode(view, pictures, view.head())
        except UsageError:
            return None

    def _pages(self, name: str, episode: _OpenEpisode, room: int) -> Iterator[str]:
        """The pages of events as long as all blocks so far take no more than ``room``; the file has at least one."""
        pages, kept = len(episode.head["pages"]), 0
        for number in islice(_from_both_ends(pages), _MAX_PAGES):
            if self._has_events and room <= self._used:
                break
            episode.pictures.start_page(room - self._used)
            block = _pack(episode.view.page(number))
            size = max(len(block), episode.pictures.size)
            if self._has_events and self._used + size > room:
                break
            kept += 1
            self._has_events = True
            self.pictures_left_out += episode.pictures.left_out
            yield self._block(f"{name}p{number}", block, size)
        self.left_out += pages - kept

    def _block(self, name: str, packed: str, size: int = 0) -> str:
        self._used += max(len(packed), size)
        return _element(name, packed)


class _OpenEpisode(NamedTuple):
    """An episode that is being written, and its head."""

    view: EpisodeView
    pictures: EmbeddedPictures
    head: dict[str, Any]


def _skills(library: SkillLibrary, episodes: Mapping[Path, int]) -> Iterator[str]:
    """The blocks of the library: its overview, then skills while they fit."""
    overview = skills_overview(library)
    yield _element("skills", _pack(overview))
    room = MAX_SKILL_BYTES
    for at, row in enumerate(overview["skills"]):
        block = _pack(skill_details(library, row["env"], row["name"], episodes))
        room -= len(block)
        if room < 0:
            return
        yield _element(f"s{at}", block)


def _element(name: str, packed: str) -> str:
    return f'<script type="text/plain" id="{name}">{packed}</script>\n'


def _from_both_ends(count: int) -> Iterator[int]:
    """First, last, second, last but one …: the start and the end of a long episode matter most."""
    for at in range(count):
        yield count - 1 - at // 2 if at % 2 else at // 2


def _pack(value: Any) -> str:
    return base64.b64encode(gzip.compress(msgspec.json.encode(value), 6, mtime=0)).decode()


def _check_replaceable(out: Path) -> None:
    """Raise UsageError if ``out`` is a file that is not such a page."""
    try:
        with open_to_read(out) as file:
            ours = file.read(len(PAGE_MARK)) == PAGE_MARK
    except FileNotFoundError:
        return
    except OSError as e:
        raise UsageError(f"cannot write the page to {out}: {e.strerror}") from None
    if not ours:
        raise UsageError(f"{out} exists and is not a codeplan page, so it is not overwritten; name another file")


def _write(out: Path, content: bytes) -> None:
    try:
        write_atomically(out, content)
    except OSError as e:
        raise UsageError(f"cannot write the page to {out}: {e.strerror}") from None
