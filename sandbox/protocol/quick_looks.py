"""Looks for an answer a few times before sleeping.

To be woken by another processor can take longer than the rest of an agent call.
"""

from __future__ import annotations

import os
import socket
from typing import Final

MAX_LOOKS: Final = 30
"""How often a side looks for the other's frame before it sleeps: for about as long as the other side works on it."""


def receive_soon(sock: socket.socket, most: int) -> bytes | None:
    """Up to ``most`` bytes that have come or come within some fifty microseconds; None if none do.

    The bytes are empty if the other side is gone. Raises OSError.
    """
    for _ in range(_looks):
        try:
            return sock.recv(most, socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
    return None


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_looks: Final = MAX_LOOKS if _count_processors() > 1 else 1
"""With one processor, the other side works only while this one sleeps."""
