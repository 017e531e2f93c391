"""One worker, seen from the host: frames to it, frames from it, and its certain end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from typing import Final

from codeplan.sandbox.protocol.frames import Assembler, Frame, FromWorker, from_worker, pack

_END_SECONDS: Final = 5.0
_CHUNK: Final = 1 << 16


class WorkerGone(Exception):
    """The worker closed its end."""


class TimeUp(Exception):
    """The deadline passed."""


class WorkerProcess:
    """A context manager: on the way out the worker is killed, and has ended."""

    def __init__(self, sock: socket.socket, pid: int, handle: int | None) -> None:
        self.pid = pid
        self._socket = sock
        self._handle = handle
        self._assembler = Assembler(_CHUNK)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def accept(self, most: int) -> None:
        """Take frames of up to ``most`` bytes from now on."""
        self._assembler.most = most

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a frame. Raises TimeUp where the worker does not take it by then (monotonic seconds), WorkerGone."""
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(pack(frame))
        except TimeoutError:
            raise TimeUp from None
        except OSError:
            raise WorkerGone from None

    def receive(self, deadline: float) -> FromWorker:
        """The next frame. Raises TimeUp, WorkerGone, ProtocolError."""
        while (body := self._assembler.next()) is None:
            self._assembler.feed(self._read(deadline))
        return from_worker(body)

    def _read(self, deadline: float) -> bytes:
        try:
            self._socket.settimeout(_left(deadline))
            data = self._socket.recv(_CHUNK)
        except TimeoutError:
            raise TimeUp from None
        except OSError:
            raise WorkerGone from None
        if not data:
            raise WorkerGone
        return data

    def hang_up(self) -> None:
        """Say that there will be no more frames; a worker that waits for one ends."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """Kill the worker and wait until it has ended. Safe to call twice."""
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        if self._handle is None:
            _kill_by_pid(self.pid)
            return
        try:
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            self.has_ended(_END_SECONDS)
        except ProcessLookupError:
            pass
        finally:
            os.close(self._handle)
            self._handle = None

    def has_ended(self, seconds: float) -> bool:
        """Wait so long for the worker's end; False where it has not come, or the system cannot tell."""
        if self._handle is None:
            return False
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))


def _kill_by_pid(pid: int) -> None:
    """Where there are no pidfds. The worker may be gone already; its number is then still too fresh to be another's."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeUp
    return left
