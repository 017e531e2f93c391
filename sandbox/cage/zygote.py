"""The process that workers are forked from: started with an empty environment, so that no key of the host's is in its
memory.

It imports and tries out all that a worker needs, then answers requests of five bytes on its control socket: ``f``
hands out a worker (answer: its pid, the host's end of its socket, and a pidfd where there are any); ``s`` with a pid
says how that worker ended. One worker is forked ahead, locked and ready, while nobody asks. When the host is gone the
control socket ends, and so does the zygote; its workers die with it.

The host starts it by ``python -s -S -P -c …`` (see ``launcher``) and never calls ``main`` itself.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import warnings
from types import FrameType
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

if TYPE_CHECKING:
    from codeplan.sandbox.cage.worker import Trade

REQUEST: Final = struct.Struct(">cI")
"""An operation and a number."""

REPLY: Final = struct.Struct(">iI")
"""An error's number (0 for none; for ``s`` the wait status), and the pid."""

READY: Final = b"ready\n"
"""The first thing said on the control socket; anything else is the reason why there is no zygote."""

UNKNOWN: Final = -1
"""The wait status of a worker of which nothing is known."""

_REMEMBERED: Final = 256
PRACTICE: Final = 10
"""How often the zygote does the sample job: by then the interpreter has fitted its code to it."""


def main(control_fd: int, trade: Trade) -> NoReturn:
    """Serve the control socket until the host is gone."""
    control = socket.socket(fileno=control_fd)
    try:
        serve = _Zygote(control, trade)
    except BaseException as error:
        control.send(f"{type(error).__name__}: {error}"[:2000].encode("utf-8", "replace") + b"\n")
        os._exit(1)
    control.send(READY)
    serve.requests()


class _Forked(NamedTuple):
    """A worker, the host's end of its socket, and its pidfd where there is one."""

    pid: int
    socket: socket.socket
    handle: int | None

    def close(self) -> None:
        self.socket.close()
        if self.handle is not None:
            os.close(self.handle)


class _Zygote:
    def __init__(self, control: socket.socket, trade: Trade) -> None:
        from codeplan.sandbox.cage import worker
        from codeplan.sandbox.cage.lockdown import Cage

        warnings.simplefilter("ignore")
        self._control = control
        self._ended: dict[int, int] = {}
        self._ahead: _Forked | None = None
        for _ in range(PRACTICE):
            worker.practise(trade)
        self._work, self._trade = worker.work, trade
        self._cage = Cage()
        self._woken, wake = socket.socketpair()
        self._woken.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.detach(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _wake)
        gc.freeze()  # not collected before: workers would write into the holes, all over the memory that they share
        gc.disable()

    def requests(self) -> NoReturn:
        used = True
        while True:
            readable, _, _ = select.select([self._control, self._woken], [], [], 0 if used else None)
            if self._woken in readable:
                self._woken.recv(4096)
                self._reap()
            if self._control in readable:
                self._request()
                used = True
            elif used and not readable:
                self._fork_ahead()
                used = False

    def _request(self) -> None:
        request = self._control.recv(REQUEST.size)
        if len(request) != REQUEST.size:
            os._exit(0)
        operation, number = REQUEST.unpack(request)
        if operation == b"f":
            self._hand_out()
        else:
            self._control.send(REPLY.pack(self._status(number), number))

    def _hand_out(self) -> None:
        try:
            worker = self._taken() or self._fork()
        except OSError as error:
            self._control.send(REPLY.pack(error.errno or 1, 0))
            return
        handles = [worker.socket.fileno()] if worker.handle is None else [worker.socket.fileno(), worker.handle]
        socket.send_fds(self._control, [REPLY.pack(0, worker.pid)], handles)
        worker.close()

    def _taken(self) -> _Forked | None:
        """The worker that was forked ahead, where there is one and it still lives."""
        self._reap()
        worker, self._ahead = self._ahead, None
        if worker is not None and worker.pid in self._ended:
            worker.close()
            return None
        return worker

    def _fork_ahead(self) -> None:
        if self._ahead is None:
            try:
                self._ahead = self._fork()
            except OSError:
                self._ahead = None  # the next request tries again, and tells

    def _fork(self) -> _Forked:
        """A new worker. Raises OSError."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                self._become_worker(theirs.fileno())
        self._ended.pop(pid, None)  # of an earlier worker with this number
        return _Forked(pid, ours, _handle(pid))

    def _become_worker(self, job_fd: int) -> NoReturn:
        """Keep one descriptor, then work. Whatever happens, this never returns into the zygote's loop."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            gc.enable()
            self._work(job_fd, self._cage, self._trade)
        except BaseException:
            os._exit(1)
        os._exit(0)

    def _reap(self) -> None:
        """Collect every worker that has ended, so that none stays as a zombie.

        Never from a signal's handler, which would come in between, and upon another handler.
        """
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._ended[pid] = status
            while len(self._ended) > _REMEMBERED:
                del self._ended[next(iter(self._ended))]

    def _status(self, pid: int) -> int:
        self._reap()
        return self._ended.get(pid, UNKNOWN)


def _wake(signum: int, frame: FrameType | None) -> None:
    """What a worker's end does: nothing but to write to the wake-up descriptor, as every handled signal does."""


def _handle(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
