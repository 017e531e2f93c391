"""Keeps standard output free for a JSON document while tools, environments and models of the user run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_for_json(reserved: bool) -> Iterator[None]:
    """If ``reserved``, what this process and the programs that it starts print meanwhile goes to standard error."""
    kept = _duplicate(1) if reserved else None
    if kept is None:
        yield
        return
    sys.stdout.flush()
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _duplicate(descriptor: int) -> int | None:
    """Another descriptor of the same file; None if there is none, or no standard error to print to instead."""
    try:
        os.fstat(2)
        return os.dup(descriptor)
    except OSError:
        return None
