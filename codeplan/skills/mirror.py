"""Keeps the index in line with the folders, whoever changed them."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from codeplan.skills import files, folder
from codeplan.skills.evidence import tally
from codeplan.skills.files import DamagedSkill
from codeplan.skills.index import Index
from codeplan.skills.manifest import digest

INDEX = ".index.sqlite"

_T = TypeVar("_T")


class Mirror:
    """The index of the library at ``path``, in a file there, or in memory where none can be written.

    Whoever writes holds the library's lock; not safe between threads by itself.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: Index | None = None

    def close(self) -> None:
        """Close the index; it is opened again when it is needed."""
        if self._open is not None:
            self._open.close()
        self._open = None

    def ask(self, question: Callable[[Index], _T]) -> _T:
        """What the index answers. One that turns out to be damaged is made anew first."""
        try:
            return question(self._index())
        except sqlite3.DatabaseError:
            self.make_anew()
            return question(self._index())

    def differs(self) -> bool:
        """Whether some folder is not as it was when it was entered."""
        return self.ask(lambda index: index.signatures()) != dict(self._signatures(self.places()))

    def follow(self) -> None:
        """Enter the folders that changed since they were entered, and forget those that are gone."""
        known = self.ask(lambda index: index.signatures())
        now = dict(self._signatures(self.places()))
        changed = {place: signature for place, signature in now.items() if known.get(place) != signature}
        if changed or known.keys() - now.keys():
            self.ask(lambda index: self._enter(index, changed, known.keys() - now.keys()))

    def enter(self, place: str) -> None:
        """Enter one folder (``environment/name``) that was just written to."""
        self.ask(lambda index: self._enter(index, dict(self._signatures([place])), ()))

    def make_anew(self) -> None:
        """Throw away what the index holds, and fill it from the folders."""
        try:
            self._refill(self._index())
        except sqlite3.DatabaseError:
            self.close()
            for left in self._path.glob(f"{INDEX}*"):
                left.unlink(missing_ok=True)
            self._refill(self._index())

    def unsound(self) -> list[str]:
        """The folders that a crash may have left half changed, or that cannot be used."""
        faulty = self.ask(lambda index: index.faulty())
        changed = [place for place in self.places() if os.path.isdir(f"{self._path}/{place}/{folder.VERSIONS}")]
        return list(dict.fromkeys([*faulty, *changed]))

    def places(self) -> Iterator[str]:
        """The skills' folders, as ``environment/name``."""
        for environment in _folders_in(str(self._path)):
            yield from (f"{environment}/{name}" for name in _folders_in(f"{self._path}/{environment}"))

    def left_over(self) -> list[Path]:
        """What writers that died have left, in the environments' folders and in the skills'."""
        folders = [*_folders_in(str(self._path)), *self.places()]
        left = ((f, name) for f in folders for name in os.listdir(f"{self._path}/{f}") if files.is_temporary(name))
        return [self._path / f / name for f, name in left]

    # -------------------------------------------------------------- the parts

    def _index(self) -> Index:
        if self._open is None:
            file = self._path / INDEX if os.access(self._path, os.W_OK) else None
            if file is not None and file.is_symlink():  # what it leads to is no index of ours to write to
                file.unlink()
            try:
                self._open = Index(file)
            except sqlite3.OperationalError:  # a file system that SQLite cannot work on
                self._open = Index(None)
        return self._open

    def _refill(self, index: Index) -> None:
        with index.change():
            index.clear()
            for place, signature in self._signatures(self.places()):
                self._put(index, place, signature)

    def _enter(self, index: Index, changed: dict[str, str], gone: Iterable[str]) -> None:
        with index.change():
            for place in gone:
                index.forget(place)
            for place, signature in changed.items():
                self._put(index, place, signature)

    def _put(self, index: Index, place: str, signature: str) -> None:
        where = self._path / place
        try:
            skill = folder.read(where)
            trials, bad = folder.trials(where)
        except DamagedSkill as e:
            index.put_fault(place, signature, str(e))
            return
        lines = ", ".join(map(str, bad[:10]))
        fault = f"{where / folder.EVIDENCE}: no trial can be read from line {lines}" if bad else None
        index.put(
            place,
            signature,
            skill,
            digest(skill.plan),
            tally(trials, skill.version),
            trials,
            fault,
        )

    def _signatures(self, places: Iterable[str]) -> Iterator[tuple[str, str]]:
        root = str(self._path)
        for place in places:
            found = folder.signature(f"{root}/{place}")
            if found is not None:
                yield place, found


def _folders_in(path: str) -> list[str]:
    """The names of the folders in a folder; none where it is not there. Left out is what is hidden, or is no text."""
    with contextlib.suppress(FileNotFoundError), os.scandir(path) as found:
        return [entry.name for entry in found if entry.name[0] != "." and _is_text(entry.name) and entry.is_dir()]
    return []


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8: an index can hold no other, and no skill has one."""
    return not any("\ud800" <= character <= "\udfff" for character in name)
