"""Crash-safe file operations: atomic writes, durable appends, and a lock between processes."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path


class DamagedSkill(ValueError):
    """A skill's folder cannot be used; the message names the file and the reason. Nothing in it is deleted."""


def is_temporary(name: str) -> bool:
    """Whether this is the name of a file or folder that a writer has not finished."""
    return name.startswith(".") and name.endswith(".tmp")


def write_atomically(path: Path, text: str) -> None:
    """Write the text durably. A concurrent reader sees either the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def open_regular_file(path: str) -> io.FileIO:
    """Open a file for reading. Raises: OSError, also for a pipe or a device, where reading could block."""
    file = io.FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
    return file


def append_line(path: Path, line: bytes) -> None:
    """Append a line durably. If a crash left a torn last line, it is terminated first and otherwise kept."""
    with open(path, "ab+") as file:
        if file.tell() and not _ends_with_newline(file.fileno(), file.tell()):
            line = b"\n" + line
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def remove_tree(path: Path) -> None:
    """Remove a file or a folder with its contents, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make files created or renamed in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold the lock file against all other processes and threads. The system releases it if the holder dies."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _ends_with_newline(descriptor: int, size: int) -> bool:
    return os.pread(descriptor, 1, size - 1) == b"\n"
