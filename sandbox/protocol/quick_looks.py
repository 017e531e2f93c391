"""Polls for an answer a few times before sleeping.

A wake-up by another processor can take longer than the rest of an agent call.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Final

USUAL_LOOKS: Final = 30
"""How often a side polls for the other's frame before it sleeps; together the polls last as long as a quick call."""

MAX_LOOKS: Final = 100
"""Maximum number of polls while the other side's frames arrive soon after the usual polls."""

SOON_SECONDS: Final = 0.0003
"""After a sleep shorter than this, more polls would have found the frame sooner than the wake-up did."""


def receive_soon(sock: socket.socket, most: int, looks: int = USUAL_LOOKS) -> bytes | None:
    """Up to ``most`` bytes that are there or arrive during this many polls of a microsecond each; None if none arrive.

    The bytes are empty if the other side is gone. Raises OSError.
    """
    for _ in range(looks if _may_look else 1):
        try:
            return sock.recv(most, socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
    return None


class PatientReceiver:
    """Receives from a socket, and sleeps only if polling finds nothing.

    It polls up to MAX_LOOKS times while the other side answers soon, and USUAL_LOOKS times after a long sleep, so
    waiting for a slow tool takes no processor time. ``sleep`` waits for bytes and receives up to the given number.
    """

    def __init__(self, sock: socket.socket, sleep: Callable[[int], bytes]) -> None:
        self._socket, self._sleep = sock, sleep
        self._looks = USUAL_LOOKS

    def receive(self, most: int) -> bytes:
        """Up to ``most`` bytes; none if the other side is gone. Raises OSError."""
        data = receive_soon(self._socket, most, self._looks)
        if data is None:
            began = time.monotonic()
            data = self._sleep(most)
            self._looks = MAX_LOOKS if time.monotonic() - began < SOON_SECONDS else USUAL_LOOKS
        return data


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_may_look: Final = _count_processors() > 1
"""With one processor, the other side can work only while this side sleeps."""
