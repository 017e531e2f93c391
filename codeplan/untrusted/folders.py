"""Lists folders that other people may have made, within bounds and without following links."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from codeplan.untrusted.files import open_folder

MAX_ENTRIES = 100_000
"""Maximum number of entries of one folder that are read."""


class FolderEntry(NamedTuple):
    """A name in a folder: of a folder, or of a regular file."""

    name: str
    is_folder: bool


def list_folder(path: Path | str, below: Path | str | None = None) -> list[FolderEntry]:
    """Return the folders and regular files in a folder, sorted by name; at most ``MAX_ENTRIES`` entries are read.

    ``below`` is None for a folder that the user named, which may be a link. Raises: OSError, UnsafeFile for a link.
    """
    with contextlib.closing(open_folder(path, below)) as folder, folder.scan() as entries:
        found = [_entry(entry) for _, entry in zip(range(MAX_ENTRIES), entries, strict=False)]
    return sorted(entry for entry in found if entry)


def find_folders(root: Path | str, depth: int) -> Iterator[Path]:
    """Yield the folders at a depth below a folder that the user named, in order; 1 are those in it.

    Leaves out links and folders that cannot be read.
    """
    folders = iter([Path(root)])
    for _ in range(depth):
        folders = (inner for folder in folders for inner in _inner_folders(folder, root))
    return folders


def _inner_folders(folder: Path, root: Path | str) -> list[Path]:
    try:
        entries = list_folder(folder, None if folder == Path(root) else root)
    except OSError:
        return []
    return [folder / e.name for e in entries if e.is_folder]


def find_files(root: Path | str, name: str | None, max_depth: int) -> Iterator[Path]:
    """Yield the regular files called ``name`` (None: any) in a folder that the user named, and in its subfolders.

    ``max_depth`` is 0 for the folder alone. Leaves out links and folders that cannot be read. Visits at most
    ``MAX_ENTRIES`` folders.
    """
    folders = [(Path(root), 0)]
    for _ in range(MAX_ENTRIES):
        if not folders:
            return
        folder, depth = folders.pop()
        try:
            entries = list_folder(folder, root if depth else None)
        except OSError:
            continue
        yield from (folder / e.name for e in entries if not e.is_folder and name in (None, e.name))
        if depth < max_depth:
            folders += [(folder / e.name, depth + 1) for e in reversed(entries) if e.is_folder]


def _entry(entry: os.DirEntry[str]) -> FolderEntry | None:
    """The entry, if it is a folder or a regular file; None for a link, a pipe, a device or a socket."""
    if entry.is_dir(follow_symlinks=False):
        return FolderEntry(entry.name, is_folder=True)
    return FolderEntry(entry.name, is_folder=False) if entry.is_file(follow_symlinks=False) else None
