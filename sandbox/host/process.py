"""One worker, seen from the host: frames to it, frames from it, and its certain end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from typing import Final

from codeplan.sandbox.protocol.frames import Frame, FrameAssembler, WorkerFrame, pack, unpack_worker_frame

_END_SECONDS: Final = 5.0
_CHUNK: Final = 1 << 16


class WorkerDisconnected(Exception):
    """The worker closed its end."""


class DeadlineExceeded(Exception):
    """The deadline passed."""


class WorkerProcess:
    """A context manager: on the way out the worker is killed, and has ended."""

    def __init__(self, sock: socket.socket, pid: int, pidfd: int | None) -> None:
        self.pid = pid
        self._socket = sock
        self._pidfd = pidfd
        self._assembler = FrameAssembler(_CHUNK)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def set_max_frame(self, max_bytes: int) -> None:
        """Take frames of up to ``most`` bytes from now on."""
        self._assembler.max_bytes = max_bytes

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a frame. Raises TimeUp where the worker does not take it by then (monotonic seconds), WorkerGone."""
        try:
            self._socket.settimeout(_seconds_left(deadline))
            self._socket.sendall(pack(frame))
        except TimeoutError:
            raise DeadlineExceeded from None
        except OSError:
            raise WorkerDisconnected from None

    def receive(self, deadline: float) -> WorkerFrame:
        """The next frame. Raises TimeUp, WorkerGone, ProtocolError."""
        while (body := self._assembler.next_body()) is None:
            self._assembler.feed(self._read(deadline))
        return unpack_worker_frame(body)

    def _read(self, deadline: float) -> bytes:
        try:
            self._socket.settimeout(_seconds_left(deadline))
            data = self._socket.recv(_CHUNK)
        except TimeoutError:
            raise DeadlineExceeded from None
        except OSError:
            raise WorkerDisconnected from None
        if not data:
            raise WorkerDisconnected
        return data

    def close_output(self) -> None:
        """Say that there will be no more frames; a worker that waits for one ends."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """Kill the worker and wait until it has ended. Safe to call twice."""
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        if self._pidfd is None:
            _kill_by_pid(self.pid)
            return
        try:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            self.has_ended(_END_SECONDS)
        except ProcessLookupError:
            pass
        finally:
            os.close(self._pidfd)
            self._pidfd = None

    def has_ended(self, timeout: float) -> bool:
        """Wait so long for the worker's end; False where it has not come, or the system cannot tell."""
        if self._pidfd is None:
            return False
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(timeout * 1000))


def _kill_by_pid(pid: int) -> None:
    """Where there are no pidfds. The worker may be gone already; its number is then still too fresh to be another's."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeadlineExceeded
    return left
