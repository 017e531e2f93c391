"""Locks on files that only one process at a time may write. The system releases a lock when its process ends."""

from __future__ import annotations

import sys
import time
from typing import BinaryIO

from codeplan.errors import UsageError

_SECONDS = 2.0
_POLL_SECONDS = 0.02


def lock_exclusively(file: BinaryIO, refusal: str) -> BinaryIO:
    """Lock the file for this process and return it; the lock ends with the process.

    If another process holds the lock, waits a moment: a process that was killed while it started a child may still be
    ending.

    Raises: UsageError: the other process keeps the lock. The message is ``refusal``, and the file is closed.
    """
    deadline = time.monotonic() + _SECONDS
    while not _try_lock(file):
        if time.monotonic() > deadline:
            file.close()
            raise UsageError(refusal)
        time.sleep(_POLL_SECONDS)
    return file


def wait_for_lock(file: BinaryIO) -> None:
    """Lock the file for this process, however long another one holds it."""
    if sys.platform == "win32":
        while not _try_lock(file):
            time.sleep(_POLL_SECONDS)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def _try_lock(file: BinaryIO) -> bool:
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
