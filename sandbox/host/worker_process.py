"""One worker as the host sees it: what passes between them, and the worker's end."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

from codeplan.cancellation import POLL_SECONDS, in_force_here, raise_if_cancelled
from codeplan.errors import SandboxError
from codeplan.sandbox.protocol.frames import (
    UNKNOWN_STATUS,
    Frame,
    FrameAssembler,
    Sender,
    State,
    WorkerConversation,
    WorkerFrame,
    pack,
    receive_soon,
)

_PROCESSOR_FIELD: Final = 36  # of the fields after the program's name in /proc/PID/stat


def leave_processor_of(pid: int) -> bool:
    """Move this thread to another processor if the process last ran on the thread's own. Returns whether it moved.

    Afterwards the thread may run on the same processors as before. Where the system does not tell, nothing happens.
    """
    try:
        allowed = os.sched_getaffinity(0)
        own = _last_processor("/proc/thread-self/stat")
        if not allowed - {own} or own != _last_processor(f"/proc/{pid}/stat"):
            return False
        _move(allowed - {own}, allowed)
    except (OSError, ValueError, IndexError):
        return False
    return True


def _move(others: set[int], allowed: set[int]) -> None:
    """Run this thread on one of the others, then let it run on all that were allowed."""
    try:
        os.sched_setaffinity(0, others)
    finally:
        os.sched_setaffinity(0, allowed)


def _last_processor(stat_file: str) -> int:
    """The processor that a process or thread runs on, or ran on last."""
    return int(Path(stat_file).read_bytes().rpartition(b")")[2].split()[_PROCESSOR_FIELD])


MAX_KILLED_WORKERS: Final = 8  # how often one check, run or analysis replaces a killed worker
MAX_LOST_ZYGOTES: Final = 20  # the same for a worker lost together with its zygote, which no plan can reach

_T = TypeVar("_T")


class WorkerEnd(NamedTuple):
    """How a worker ended. ``signal`` is the signal that ended it, or None.

    ``killed`` means that something outside killed it, so its end says nothing about its plan; ``with_zygote`` that its
    zygote is gone too.
    """

    message: str
    signal: int | None = None
    killed: bool = False
    with_zygote: bool = False


class WorkerKilled(Exception):
    """Something outside killed a worker before its plan's run had any visible effect, so the work can be repeated.

    ``had_job`` is false if the worker had not received the plan yet.
    """

    def __init__(self, end: WorkerEnd, *, had_job: bool) -> None:
        super().__init__(end.message)
        self.end, self.had_job = end, had_job


class KilledAgain(SandboxError):
    """Something outside kills each worker that is started for some work. ``had_job`` tells whether the last had it."""

    def __init__(self, what: str, last: WorkerKilled) -> None:
        super().__init__(f"the sandbox's workers for {what} are killed again and again: {last}")
        self.had_job, self.end = last.had_job, last.end


def repeat_if_killed(attempt: Callable[[], _T], what: str) -> _T:
    """Repeat ``attempt`` as long as it raises WorkerKilled. Raises KilledAgain if that happens too often."""
    alone = with_zygote = 0
    while True:
        try:
            return attempt()
        except WorkerKilled as killed:
            with_zygote += killed.end.with_zygote
            alone += not killed.end.with_zygote
            if alone > MAX_KILLED_WORKERS or with_zygote > MAX_LOST_ZYGOTES:
                raise KilledAgain(what, killed) from None


def find_worker_end(status: int) -> WorkerEnd:
    """How a worker ended, from its status as in ``os.waitpid``, or UNKNOWN_STATUS if its zygote cannot tell."""
    if status == UNKNOWN_STATUS:
        return WorkerEnd("the worker was lost with the process that had forked it", killed=True, with_zygote=True)
    number = -os.waitstatus_to_exitcode(status)
    if number <= 0:
        return WorkerEnd("the worker exited without an answer")
    name = signal.Signals(number).name if number in set(signal.Signals) else ""
    if name in _OWN_SIGNALS:
        return WorkerEnd(_OWN_SIGNALS[name], number)
    reason = f"the worker was killed from outside by signal {number}; the machine may be short of memory"
    return WorkerEnd(reason, number, killed=True)


_OWN_SIGNALS: Final = {
    "SIGSYS": "the worker was killed: it made a forbidden system call",
    "SIGSEGV": "the worker crashed: the plan built a value that the interpreter cannot handle",
    "SIGABRT": "the worker crashed: the interpreter gave up",
    "SIGXCPU": "the worker was killed: it used more processor time than it may",
    **{
        name: f"the worker crashed by {name}"
        for name in ("SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGALRM", "SIGPROF")
    },
}
"""The signals that a worker's own faults cause. The cage forbids it to send signals."""


class WorkerDisconnected(Exception):
    """The worker closed its end of the connection: it exited, was killed, or closed its socket. ``find_end`` says
    which.
    """


class DeadlineExceeded(Exception):
    """The deadline of a send or a receive passed. The worker keeps running until the host kills it."""


class TextWorker(Protocol):
    """Takes one job about a plan's text and answers it."""

    def set_max_frame(self, max_bytes: int) -> None:
        """Accept frames of up to ``max_bytes`` from now on."""

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a frame before ``deadline`` (monotonic seconds).

        Raises DeadlineExceeded, WorkerDisconnected, and ProtocolError if the conversation has no place for the frame.
        """

    def receive(self, deadline: float) -> WorkerFrame:
        """Receive the next frame. Raises DeadlineExceeded, WorkerDisconnected, ProtocolError."""

    def find_end(self) -> WorkerEnd:
        """Why the worker closed its connection."""


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
        self._conversation = WorkerConversation(state)
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
        if time.monotonic() >= deadline:
            raise DeadlineExceeded
        left = memoryview(pack(frame))
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                _wait(self._writable, deadline)
            except OSError:
                raise WorkerDisconnected from None

    def receive(self, deadline: float, *, soon: bool = False) -> WorkerFrame:
        """Receive the next frame. With ``soon``, poll a few times before sleeping.

        Raises DeadlineExceeded, WorkerDisconnected, ProtocolError, and KeyboardInterrupt: the work was cancelled.
        """
        frame = self._assembler.next_worker_frame() if self._assembler.left else None
        while frame is None:
            frame = self._assembler.next_worker_frame(self._read(deadline, soon))
            soon = False  # wait for the rest: polling for single bytes could outlast the deadline
        self._conversation.take(Sender.WORKER, frame)
        return frame

    def _read(self, deadline: float, soon: bool) -> bytes:
        if in_force_here.cancellation is not None:
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
    most = _MAX_POLL_SECONDS if in_force_here.cancellation is None else POLL_SECONDS
    while not poll.poll(math.ceil(min(_seconds_left(deadline), most) * 1000)):
        raise_if_cancelled()


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeadlineExceeded
    return left
