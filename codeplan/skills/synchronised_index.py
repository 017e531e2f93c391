"""Keeps the index in step with the folders, also if other programs change them."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from codeplan.skills import durable_files, skill_folder
from codeplan.skills.durable_files import DamagedSkill
from codeplan.skills.evidence import summarise_evidence
from codeplan.skills.index import SkillIndex
from codeplan.skills.manifest import plan_digest
from codeplan.untrusted.folders import list_folder

INDEX_FILE = ".index.sqlite"
_JOURNAL = "-journal"
"""The suffix of SQLite's journal. A crafted journal could make SQLite delete any file. An index has a journal only for
a moment, while it is created.
"""

_T = TypeVar("_T")


class SynchronisedIndex:
    """The index of the library at ``path``: a file there, or in memory if the folder is not writable.

    Callers that write hold the library's lock. Not thread-safe.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: SkillIndex | None = None

    def close(self) -> None:
        """Close the index; the next use opens it again."""
        if self._open is not None:
            self._open.close()
        self._open = None

    def query(self, operation: Callable[[SkillIndex], _T]) -> _T:
        """Return the operation's result; a damaged index is rebuilt first."""
        try:
            return operation(self._index())
        except sqlite3.DatabaseError:
            self.rebuild()
            return operation(self._index())

    def is_outdated(self) -> bool:
        """Whether a folder has changed since it was indexed."""
        return self.query(lambda index: index.signatures()) != dict(self._signatures(self.skill_folders()))

    def update(self) -> None:
        """Index the changed folders and remove the entries of missing ones."""
        known = self.query(lambda index: index.signatures())
        now = dict(self._signatures(self.skill_folders()))
        changed = {place: signature for place, signature in now.items() if known.get(place) != signature}
        if changed or known.keys() - now.keys():
            self.query(lambda index: self._apply_changes(index, changed, known.keys() - now.keys()))

    def update_folder(self, place: str) -> None:
        """Index one folder (``environment/name``) after a write."""
        self.query(lambda index: self._apply_changes(index, dict(self._signatures([place])), ()))

    def rebuild(self) -> None:
        """Build the index again from the folders."""
        with contextlib.suppress(OSError):
            os.unlink(f"{self._path / INDEX_FILE}{_JOURNAL}")
        try:
            self._fill(self._index())
        except sqlite3.DatabaseError:
            self.close()
            for left in self._path.glob(f"{INDEX_FILE}*"):
                left.unlink(missing_ok=True)
            self._fill(self._index())

    def skill_folders(self) -> Iterator[str]:
        """Yield the skills' folders as ``environment/name``."""
        for environment in _list_folders(str(self._path)):
            inside = _list_folders(f"{self._path}/{environment}", str(self._path))
            yield from (f"{environment}/{name}" for name in inside)

    def temporary_files(self) -> list[Path]:
        """Return what crashed writers have left behind."""
        folders = [self._path / place for place in (*_list_folders(str(self._path)), *self.skill_folders())]
        return [folder / name for folder in folders for name in os.listdir(folder) if durable_files.is_temporary(name)]

    # -------------------------------------------------------------- the parts

    def _index(self) -> SkillIndex:
        if self._open is None:
            file = self._path / INDEX_FILE if os.access(self._path, os.W_OK) else None
            if file is not None and not _is_usable(file):
                file = None
            try:
                self._open = SkillIndex(file)
            except sqlite3.OperationalError:  # a file system that SQLite does not support
                self._open = SkillIndex(None)
        return self._open

    def _fill(self, index: SkillIndex) -> None:
        with index.transaction():
            index.clear()
            for place, signature in self._signatures(self.skill_folders()):
                self._put_folder(index, place, signature)

    def _apply_changes(self, index: SkillIndex, changed: dict[str, str], gone: Iterable[str]) -> None:
        with index.transaction():
            for place in gone:
                index.remove(place)
            for place, signature in changed.items():
                self._put_folder(index, place, signature)

    def _put_folder(self, index: SkillIndex, place: str, signature: str) -> None:
        where = self._path / place
        try:
            skill = skill_folder.read_skill(where)
            records, bad = skill_folder.read_evidence(where)
        except DamagedSkill as e:
            index.put_fault(place, signature, str(e))
            return
        lines = ", ".join(map(str, bad[:10]))
        fault = f"{where / skill_folder.EVIDENCE}: no record can be read from line {lines}" if bad else None
        summary = summarise_evidence(records, skill.version)
        index.put_skill(place, signature, skill, plan_digest(skill.plan), summary, records, fault)

    def _signatures(self, places: Iterable[str]) -> Iterator[tuple[str, str]]:
        root = str(self._path)
        for place in places:
            found = skill_folder.signature(f"{root}/{place}")
            if found is not None:
                yield place, found


def _list_folders(path: str, below: str | None = None) -> list[str]:
    """The names of a folder's visible sub-folders that are valid text, without links; none if it cannot be read."""
    with contextlib.suppress(OSError):
        return [e.name for e in list_folder(path, below) if e.is_folder and e.name[0] != "." and _is_text(e.name)]
    return []


def _is_usable(index: Path) -> bool:
    """Whether SQLite may open the index: its files are our own, and it has no journal."""
    return not os.path.lexists(f"{index}{_JOURNAL}") and all(
        _is_own_file(Path(f"{index}{e}")) for e in ("", "-wal", "-shm")
    )


def _is_own_file(path: Path) -> bool:
    """Whether SQLite may write here: the file is missing, or a regular one whose only name this is."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8; an index can hold no other."""
    return not any("\ud800" <= character <= "\udfff" for character in name)
