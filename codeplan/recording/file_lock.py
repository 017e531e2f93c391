"""A file that one process at a time may write on."""

from __future__ import annotations

import fcntl
import time
from typing import IO

from codeplan.errors import UsageError

_SECONDS = 2.0


def lock_exclusively(file: IO[bytes], refusal: str) -> IO[bytes]:
    """The file, kept from any other process that would hold it alone; the lock goes with the process.

    Where another has it we wait a moment: one that was killed while it started a child may not be quite gone. Raises
    UsageError with the words of ``refusal``, and closes the file, where the other keeps it.
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
