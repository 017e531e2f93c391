"""The settings files and benches' files that the user trusts, kept in the user's own configuration folder.

A settings file is trusted by its path and by the SHA-256 of its bytes, so a changed file is not trusted any more. The
list is ``$XDG_CONFIG_HOME/codeplan/trusted.json``; ``~/.config`` is used if the variable is not an absolute path.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from codeplan.errors import UsageError
from codeplan.skills.durable_files import exclusive_lock
from codeplan.types import Value
from codeplan.untrusted import files

MAX_LIST_BYTES = 1_000_000
"""The largest list of trusted settings files, in bytes."""


class TrustedFile(Value, frozen=True):
    """A settings file that the user trusts: its path without links, and the SHA-256 of its bytes in hexadecimal."""

    path: str
    sha256: str


class _TrustList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    trusted: tuple[TrustedFile, ...]


def config_folder() -> Path | None:
    """The user's configuration folder for codeplan; None if neither variable nor home folder is an absolute path."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    base = given if os.path.isabs(given) else os.path.join(os.path.expanduser("~"), ".config")
    return Path(base) / "codeplan" if os.path.isabs(base) else None


def real_path(file: Path) -> str:
    """The settings file's path with its folder's links resolved, by which the list knows it."""
    return os.path.join(os.path.realpath(file.parent), file.name)


def is_trusted(file: Path, sha256: str) -> bool:
    """Whether the user trusts this settings file with these bytes. Raises UsageError if the list is damaged."""
    return TrustedFile(real_path(file), sha256) in trusted_files()


def trusted_files() -> tuple[TrustedFile, ...]:
    """The trusted settings files, by path. Raises UsageError if the list is damaged, or others may write it."""
    folder = config_folder()
    return () if folder is None else _read_list(_list_file(folder))


def trust(file: Path, sha256: str) -> None:
    """Add a settings file to the list, in place of an earlier version of it.

    Raises: UsageError: the list is damaged, full, or cannot be written.
    """
    path = real_path(file)
    with _changed_list() as (file_of_list, before):
        kept = [entry for entry in before if entry.path != path]
        _write_list(file_of_list, [*kept, TrustedFile(path, sha256)])


def forget(place: Path) -> tuple[str, ...]:
    """Remove a file, or all files of a folder, from the list and return their paths. The place need not exist.

    Raises: UsageError: the list is damaged or cannot be written.
    """
    gone = os.path.realpath(place)
    with _changed_list() as (file_of_list, before):
        kept = [entry for entry in before if gone not in (entry.path, os.path.dirname(entry.path))]
        if len(kept) < len(before):
            _write_list(file_of_list, kept)
    return tuple(entry.path for entry in before if entry not in kept)


def _list_file(folder: Path) -> Path:
    return folder / "trusted.json"


@contextlib.contextmanager
def _changed_list() -> Iterator[tuple[Path, tuple[TrustedFile, ...]]]:
    """The list's file and its entries, locked against other processes."""
    folder = config_folder()
    if folder is None:
        raise UsageError("there is no home folder for the list of trusted folders; set XDG_CONFIG_HOME to a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # so that no other user can write a file here, even for a moment
        with exclusive_lock(folder / "trusted.lock"):
            yield _list_file(folder), _read_list(_list_file(folder))
    except OSError as e:
        raise UsageError(f"the list of trusted folders cannot be written to {folder}: {e.strerror}") from None


def _write_list(file: Path, entries: list[TrustedFile]) -> None:
    plain = [msgspec.to_builtins(entry) for entry in sorted(entries, key=lambda entry: entry.path)]
    text = json.dumps({"trusted": plain}, indent=1) + "\n"  # in ASCII: a path may hold bytes that are not UTF-8
    if len(text) > MAX_LIST_BYTES:
        raise UsageError("the list of trusted folders is full; remove some with: codeplan trust --forget FOLDER")
    target = os.path.realpath(file)  # the list may be a link that the user made
    files.write_atomically(target, text)
    os.chmod(target, 0o600)


def _read_list(file: Path) -> tuple[TrustedFile, ...]:
    """The entries; none if there is no list. It is the user's own file, so links are followed."""
    try:
        with open(file, "rb", opener=_open_without_waiting) as opened:
            _require_own_file(file, os.fstat(opened.fileno()))
            text = opened.read(MAX_LIST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as e:
        raise UsageError(f"the list of trusted folders {file} cannot be read: {e.strerror}") from None
    try:
        if len(text) > MAX_LIST_BYTES:
            raise ValueError
        return msgspec.convert(json.loads(text), _TrustList).trusted
    except (ValueError, RecursionError):  # JSON, UTF-8 and validation errors are ValueErrors
        raise UsageError(
            f"the list of trusted folders {file} is damaged; correct or remove it, then trust your folders again"
        ) from None


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would block otherwise


def _require_own_file(file: Path, status: os.stat_result) -> None:
    """Raises UsageError unless the list is a regular file that only this user, or root, may write."""
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"the list of trusted folders {file} is not a regular file; remove it")
    if not hasattr(os, "geteuid"):
        return  # Windows: the settings folder belongs to the user alone
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError(f"others may write the list of trusted folders {file}; take it over with chown and chmod 600")
