"""A lock on a file that one process at a time may write."""

from __future__ import annotations

import fcntl
import time
from typing import BinaryIO

from codeplan.errors import UsageError

_SECONDS = 2.0


def lock_exclusively(file: BinaryIO, refusal: str) -> BinaryIO:
    """Lock the file for this process and return it; the lock ends with the process.

    If another process holds the lock, waits a moment: a process that was killed while it started a child may not be
    quite gone.

    Raises: UsageError: the other process keeps the lock. The message is ``refusal``, and the file is closed.
    """
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if time.monotonic() > deadline:
                file.close()
                raise UsageError(refusal) from None
            time.sleep(0.02)
