"""Crash-safe file operations: durable appends, and locks between processes; the user's own folder for codeplan's files.
Links are not followed.

The system releases a lock when its process ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from codeplan.errors import UsageError
from codeplan.untrusted import files
from codeplan.untrusted.values import type_name

_SECONDS = 2.0
_POLL_SECONDS = 0.02


def require_path(given: object, what: str) -> str:
    """The path as a text. Raises: UsageError: it is none; the message says what it should be the path of."""
    if isinstance(given, str | os.PathLike) and isinstance(path := os.fspath(given), str):
        return path
    raise UsageError(f"name {what} by its path, not by a value of the type {type_name(given)}")


def config_folder() -> Path | None:
    """The user's configuration folder for codeplan; None if neither variable nor home folder is an absolute path."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    base = given if os.path.isabs(given) else os.path.join(os.path.expanduser("~"), ".config")
    return Path(base) / "codeplan" if os.path.isabs(base) else None


def make_private(folder: Path) -> None:
    """Make the folder, if it is not there, the user's alone: no other user reads or writes a file in it, even for a
    moment. Raises: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def lock_exclusively(file: BinaryIO, refusal: str) -> BinaryIO:
    """Lock the file for this process and return it; the lock ends with the process.

    If another process holds the lock, waits a moment: a process that was killed while it started a child may still be
    ending.

    Raises: UsageError: the other process keeps the lock. The message is ``refusal``, and the file is closed.
    """
    deadline = time.monotonic() + _SECONDS
    while not try_lock(file):
        if time.monotonic() > deadline:
            file.close()
            raise UsageError(refusal)
        time.sleep(_POLL_SECONDS)
    return file


def unlock(file: BinaryIO) -> None:
    """Let others lock a file of which this process keeps the lock."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)


def wait_for_lock(file: BinaryIO) -> None:
    """Lock the file for this process, however long another one holds it."""
    if sys.platform == "win32":
        while not try_lock(file):
            time.sleep(_POLL_SECONDS)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def try_lock(file: BinaryIO) -> bool:
    """Whether the file could be locked at once."""
    try:
        if sys.platform == "win32":
            import msvcrt

            place = file.tell()
            file.seek(1 << 40)  # past the content: locked bytes cannot be written
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            finally:
                file.seek(place)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError) or sys.platform == "win32":
            return False
        raise
    return True


def is_temporary(name: str) -> bool:
    """Whether this is the name of a file or folder that a writer has not finished."""
    return name.startswith(".") and name.endswith(".tmp")


def append_line(path: Path, line: bytes, below: Path) -> None:
    """Append a line durably. If a crash left a torn last line, it is terminated first and otherwise kept.

    Raises: UsageError: the file cannot be written, or is a link or anything but a regular file.
    """
    try:
        with files.open_to_append(path, below) as file:
            if file.tell() and not _ends_with_newline(file):
                line = b"\n" + line
            files.write_all(file, line + b"\n")
            os.fsync(file.fileno())
    except OSError as e:
        raise UsageError(f"{path} cannot be written: {e.strerror}") from None


def remove_tree(path: Path) -> None:
    """Remove a file or a folder with its contents, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make files created or renamed in a folder durable."""
    with contextlib.closing(files.open_folder(folder)) as opened:
        opened.sync()


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold the lock file against all other processes and threads. The system releases it if the holder dies.

    Raises: UsageError: the file cannot be opened, or is a link or anything but a regular file.
    """
    try:
        file = files.open_to_append(path)
    except OSError as e:
        raise UsageError(f"{path} cannot be locked: {e.strerror}") from None
    with file:
        wait_for_lock(file)
        yield


def _ends_with_newline(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"
