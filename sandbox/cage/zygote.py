"""The process that workers are forked from: started with an empty environment, so that no key of the host's is in its
memory.

It imports and warms up all that a worker needs, then answers requests of five bytes on its control socket: ``f`` with
a socket forks a worker for it (answer: pid, and a pidfd where there are any); ``s`` with a pid says how that worker
ended. When the host is gone the control socket ends, and so does the zygote; its workers die with it.

The host starts it by ``python -s -S -P -c …`` (see ``launcher``) and never calls ``main`` itself.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import sys
import warnings
from types import FrameType
from typing import Final, NoReturn

REQUEST: Final = struct.Struct(">cI")
"""An operation and a number."""

REPLY: Final = struct.Struct(">iI")
"""An error's number (0 for none; for ``s`` the wait status), and the pid."""

READY: Final = b"ready\n"
"""The first thing said on the control socket; anything else is the reason why there is no zygote."""

UNKNOWN: Final = -1
"""The wait status of a worker of which nothing is known."""

_REMEMBERED: Final = 256


def main(control_fd: int) -> NoReturn:
    """Serve the control socket until the host is gone."""
    control = socket.socket(fileno=control_fd)
    try:
        serve = _Zygote(control)
    except BaseException as error:
        control.send(f"{type(error).__name__}: {error}"[:2000].encode("utf-8", "replace") + b"\n")
        os._exit(1)
    control.send(READY)
    serve.requests()


class _Zygote:
    def __init__(self, control: socket.socket) -> None:
        from codeplan.sandbox.cage import worker
        from codeplan.sandbox.cage.lockdown import Cage

        warnings.simplefilter("ignore")
        self._control = control
        self._ended: dict[int, int] = {}
        worker.warm_up()
        self._work = worker.work
        self._cage = Cage()
        self._woken, wake = socket.socketpair()
        self._woken.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.detach(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, self._reap)
        gc.collect()
        gc.freeze()
        gc.disable()

    def requests(self) -> NoReturn:
        while True:
            readable, _, _ = select.select([self._control, self._woken], [], [])
            if self._woken in readable:
                self._woken.recv(4096)  # a worker has ended, and _reap has run
            if self._control in readable:
                self._request()

    def _request(self) -> None:
        request, fds, _, _ = socket.recv_fds(self._control, REQUEST.size, 1)
        if len(request) != REQUEST.size:
            os._exit(0)
        operation, number = REQUEST.unpack(request)
        if operation == b"f" and fds:
            self._fork(fds[0])
        else:
            self._control.send(REPLY.pack(self._status(number), number))

    def _fork(self, job_fd: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.close(job_fd)
            self._control.send(REPLY.pack(error.errno or 1, 0))
            return
        if pid == 0:
            self._become_worker(job_fd)
        os.close(job_fd)
        self._announce(pid)

    def _become_worker(self, job_fd: int) -> NoReturn:
        """Keep one descriptor, then work. Whatever happens, this never returns into the zygote's loop."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            gc.enable()
            self._work(job_fd, self._cage)
        except BaseException:
            os._exit(1)
        os._exit(0)

    def _announce(self, pid: int) -> None:
        reply = REPLY.pack(0, pid)
        try:
            handle = os.pidfd_open(pid)
        except (OSError, AttributeError):
            self._control.send(reply)
            return
        socket.send_fds(self._control, [reply], [handle])
        os.close(handle)

    def _reap(self, signum: int, frame: FrameType | None) -> None:
        """Collect every worker that has ended, so that none stays as a zombie."""
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
        self._reap(signal.SIGCHLD, None)
        return self._ended.get(pid, UNKNOWN)


if __name__ == "__main__":
    sys.exit("codeplan.sandbox.cage.zygote is started by codeplan.sandbox.cage.launcher")
