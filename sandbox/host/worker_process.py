"""One worker as the host sees it: frames to it, frames from it, and its end."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Final

from codeplan.recording.cancellation import POLL_SECONDS, current_cancellation, raise_if_cancelled
from codeplan.sandbox.cage.zygote import UNKNOWN_STATUS
from codeplan.sandbox.host.text_worker import DeadlineExceeded, WorkerDisconnected
from codeplan.sandbox.host.thread_placement import leave_processor_of
from codeplan.sandbox.host.worker_end import WorkerEnd
from codeplan.sandbox.host.worker_status import find_worker_end
from codeplan.sandbox.protocol.conversation import Conversation, Sender, State
from codeplan.sandbox.protocol.frames import Frame, FrameAssembler, WorkerFrame, pack, unpack_worker_frame
from codeplan.sandbox.protocol.quick_looks import receive_soon

_END_SECONDS: Final = 5.0
_EXIT_SECONDS: Final = 2.0  # a worker that is still running this long after it closed its socket closed it on purpose
_CHUNK: Final = 1 << 16
_MAX_POLL_SECONDS: Final = 1_000.0  # poll takes no larger number, so longer waits call it again
_PLACEMENT_CHECKS: Final = 4  # a poll may also fail because the plan computes for long


class WorkerProcess:
    """A worker in one state of its conversation. A context manager: on exit the worker is killed and has ended.

    ``find_status`` asks its zygote for its status as in ``os.waitpid``; UNKNOWN_STATUS if the zygote cannot tell.
    """

    def __init__(self, sock: socket.socket, pid: int, pidfd: int | None, state: State = State.READY) -> None:
        self.pid = pid
        self.find_status: Callable[[], int] = lambda: UNKNOWN_STATUS
        self._conversation = Conversation(state)
        self._socket = sock
        sock.setblocking(False)  # a timeout set on the socket would cost three more system calls per frame
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(sock, select.POLLIN)
        self._writable.register(sock, select.POLLOUT)
        self._pidfd = pidfd
        self._assembler = FrameAssembler(_CHUNK)
        self._placement_checks = _PLACEMENT_CHECKS

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def set_max_frame(self, max_bytes: int) -> None:
        """Accept frames of up to ``max_bytes`` from now on."""
        self._assembler.max_bytes = max_bytes

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a frame before ``deadline`` (monotonic seconds).

        Raises DeadlineExceeded, WorkerDisconnected, and ProtocolError if the conversation has no place for the frame.
        """
        self._conversation.take(Sender.HOST, frame)
        _seconds_left(deadline)
        left = memoryview(pack(frame))
        try:
            while left:
                left = left[self._write(left, deadline) :]
        except OSError:
            raise WorkerDisconnected from None

    def receive(self, deadline: float, *, soon: bool = False) -> WorkerFrame:
        """Receive the next frame. With ``soon``, poll a few times before sleeping.

        Raises DeadlineExceeded, WorkerDisconnected, ProtocolError, and KeyboardInterrupt: the work was cancelled.
        """
        while (body := self._assembler.next_body()) is None:
            self._assembler.feed(self._read(deadline, soon))
            soon = False  # wait for the rest: polling for single bytes could outlast the deadline
        frame = unpack_worker_frame(body)
        self._conversation.take(Sender.WORKER, frame)
        return frame

    def _write(self, data: memoryview, deadline: float) -> int:
        """Send what there is room for, and return how much; wait for room if there is none. Raises: OSError."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            _wait(self._writable, deadline)
            return 0

    def _read(self, deadline: float, soon: bool) -> bytes:
        raise_if_cancelled()  # while a worker sends without pause, this thread never sleeps
        if self._socket.fileno() < 0:
            raise WorkerDisconnected
        try:
            data = self._poll() if soon else None
            if data is None:
                _wait(self._readable, deadline)
                data = self._socket.recv(_CHUNK)
        except OSError:
            raise WorkerDisconnected from None
        if not data:
            raise WorkerDisconnected
        return data

    def _poll(self) -> bytes | None:
        """What arrives while this thread polls. If nothing does, see that the worker has a processor to run on."""
        data = receive_soon(self._socket, _CHUNK)
        if data is None and self._placement_checks:
            self._placement_checks -= 1
            leave_processor_of(self.pid)
        return data

    def find_end(self) -> WorkerEnd:
        """Why the worker closed its socket, from its exit status. Waits up to two seconds for the worker to end."""
        if not self.has_ended(_EXIT_SECONDS):
            return WorkerEnd("the worker closed its socket")
        return find_worker_end(self.find_status())

    def kill(self, *, wait: bool = True) -> None:
        """Kill the worker and wait for its end, unless ``wait`` is false. Safe to call twice."""
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        if self._pidfd is None:
            _kill_by_pid(self.pid)
            return
        try:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            if wait:
                self.has_ended(_END_SECONDS)
        except ProcessLookupError:
            pass
        finally:
            os.close(self._pidfd)
            self._pidfd = None

    def has_ended(self, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds for the worker's end. False also if the system cannot tell."""
        if self._pidfd is None:
            return False
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(timeout * 1000))


def _kill_by_pid(pid: int) -> None:
    """Kill without a pidfd. If the worker is already gone, the system has not had time to give its pid to another
    process.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _wait(poll: select.poll, deadline: float) -> None:
    """Wait until a poll has an event. Raises: DeadlineExceeded; KeyboardInterrupt: this thread's work was cancelled."""
    most = _MAX_POLL_SECONDS if current_cancellation() is None else POLL_SECONDS
    while not poll.poll(math.ceil(min(_seconds_left(deadline), most) * 1000)):
        raise_if_cancelled()


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeadlineExceeded
    return left
