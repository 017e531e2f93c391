"""Bounds how many workers check or analyse plans at once.

This work only computes, so more workers than processors would not finish sooner, and each takes megabytes of memory.
Runs are not bounded: they mostly wait for their agents.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MAX_WORKERS_PER_PROCESSOR: Final = 2  # one computes while another starts or ends


class WorkerSlots:
    """Lets at most ``count`` threads in at once. The others wait and are served in the order in which they came."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._free = count
        self._waiting: deque[threading.Lock] = deque()

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        return len(self._waiting)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a slot and hold it inside the context. A waiting thread that is interrupted by an exception leaves
        the queue.
        """
        gate = threading.Lock()  # open once the thread has a slot
        gate.acquire()
        entered = False
        try:
            with self._lock:
                entered = True
                self._waiting.append(gate)
                self._serve_waiting()
            gate.acquire()
            yield
        finally:
            if entered:
                self._leave(gate)

    def _leave(self, gate: threading.Lock) -> None:
        with self._lock:
            if gate in self._waiting:
                self._waiting.remove(gate)
            else:
                self._free += 1
            self._serve_waiting()

    def _serve_waiting(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            self._waiting.popleft().release()

    def reset_after_fork(self) -> None:
        """Reset in a forked child, which does not have the threads that hold slots."""
        self._lock = threading.Lock()
        self._free = self.count
        self._waiting = deque()


def usable_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


computing_slots: Final = WorkerSlots(MAX_WORKERS_PER_PROCESSOR * usable_processors())  # checks and analyses share them
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=computing_slots.reset_after_fork)
