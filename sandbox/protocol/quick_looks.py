"""Looks for an answer a few times before sleeping.

To be woken by another processor can take longer than the rest of an agent call.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Final

USUAL_LOOKS: Final = 30
"""How often a side looks for the other's frame before it sleeps: for as long as a quick call takes."""

MAX_LOOKS: Final = 100
"""How often, where the other side's frames come soon after these looks."""

SOON_SECONDS: Final = 0.0003
"""A sleep this short was not worth it: more looks would have found the frame, but for the time of the waking."""


def receive_soon(sock: socket.socket, most: int, looks: int = USUAL_LOOKS) -> bytes | None:
    """Up to ``most`` bytes that have come or come during these looks, a microsecond each; None if none do.

    The bytes are empty if the other side is gone. Raises OSError.
    """
    for _ in range(looks if _may_look else 1):
        try:
            return sock.recv(most, socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
    return None


class PatientReceiver:
    """Receives from a socket, and sleeps only if looking finds nothing.

    It looks up to MAX_LOOKS times while the other side answers soon, and USUAL_LOOKS times after a long sleep: waiting
    for a slow tool takes no processor time. ``sleep`` receives up to so many bytes as soon as there are any.
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
"""With one processor, the other side works only while this one sleeps."""
