"""The process that forks workers. It starts with an empty environment, so its memory holds no secret of the host.

It imports and warms up everything that a worker needs, then answers requests of five bytes on its control socket: ``f``
forks a worker (reply: its pid, the host's end of its socket, and a pidfd if the kernel has them); ``s`` with a pid
returns that worker's wait status. The host orders each worker ahead, so the worker can lock itself down before it is
needed. When the host is gone, the control socket closes and the zygote exits; its workers die with it.

The host starts it as ``python -s -S -P -c …`` (see ``host.launcher``) and never calls ``main`` itself.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
import warnings
from types import FrameType
from typing import Final, NamedTuple, NoReturn

from codeplan.sandbox.cage import worker
from codeplan.sandbox.cage.host_traces import hide_addresses, remove_host_paths
from codeplan.sandbox.cage.lockdown import Cage
from codeplan.sandbox.cage.memory_pages import find_hot_pages, prepare_fresh_heap
from codeplan.sandbox.protocol.frames import READY_MESSAGE, REPLY_FORMAT, REQUEST_FORMAT, UNKNOWN_STATUS

_MAX_REMEMBERED: Final = 256
_NAMESPACE_END_SECONDS: Final = 2.0  # how long a pid namespace without its first process may take to end
_WARM_UP_RUNS: Final = 10  # how often the zygote runs the samples, until the interpreter has specialised their bytecode


def main(control_fd: int, role: worker.WorkerRole) -> NoReturn:
    """Serve the control socket until the host is gone."""
    control = socket.socket(fileno=control_fd)
    try:
        serve = _ZygoteServer(control, role)
    except BaseException as error:
        control.send(f"{type(error).__name__}: {error}"[:2000].encode("utf-8", "replace") + b"\n")
        os._exit(1)
    control.send(READY_MESSAGE)
    serve.serve_forever()


class _ForkedWorker(NamedTuple):
    """A worker, the host's end of its socket, and its pidfd if there is one."""

    pid: int
    socket: socket.socket
    handle: int | None

    def close(self) -> None:
        self.socket.close()
        if self.handle is not None:
            os.close(self.handle)


class _ZygoteServer:
    def __init__(self, control: socket.socket, role: worker.WorkerRole) -> None:
        warnings.simplefilter("ignore")
        hide_addresses()  # before the warm-up, because it makes the interpreter discard its specialised bytecode
        self._control = control
        self._exit_statuses: dict[int, int] = {}
        for _ in range(_WARM_UP_RUNS):
            worker.run_samples(role)
        self._role = role
        self._cage = Cage()
        remove_host_paths()
        if role.fresh_heap:
            prepare_fresh_heap()
        gc.freeze()  # no collection before it: workers would fill the freed holes and so unshare pages
        gc.disable()
        # before the namespaces are entered, because they have no /proc
        self._hot_pages = find_hot_pages(lambda: worker.warm_up(role)) if role.hot_pages else None
        self._cage.enter_namespaces()
        self._wake_socket, wake = socket.socketpair()
        self._wake_socket.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.detach(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore_signal)
        gc.freeze()

    def serve_forever(self) -> NoReturn:
        while True:
            readable, _, _ = select.select([self._control, self._wake_socket], [], [])
            if self._wake_socket in readable:
                self._wake_socket.recv(4096)
                self._reap()
            if self._control in readable:
                self._serve_request()

    def _serve_request(self) -> None:
        request = self._control.recv(REQUEST_FORMAT.size)
        if len(request) != REQUEST_FORMAT.size:
            os._exit(0)
        operation, number = REQUEST_FORMAT.unpack(request)
        if operation == b"f":
            self._hand_out()
        else:
            self._control.send(REPLY_FORMAT.pack(self._status(number), number))

    def _hand_out(self) -> None:
        try:
            worker = self._fork()
        except OSError as error:
            self._exit_if_namespace_ends()
            self._control.send(REPLY_FORMAT.pack(error.errno or 1, 0))
            return
        handles = [worker.socket.fileno()] if worker.handle is None else [worker.socket.fileno(), worker.handle]
        socket.send_fds(self._control, [REPLY_FORMAT.pack(0, worker.pid)], handles)
        worker.close()

    def _fork(self) -> _ForkedWorker:
        """Fork a worker. Raises OSError."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                self._become_worker(theirs.fileno())
        self._exit_statuses.pop(pid, None)  # of an earlier worker with the same pid
        return _ForkedWorker(pid, ours, _open_pidfd(pid))

    def _become_worker(self, job_fd: int) -> NoReturn:
        """Become a worker. This never returns into the zygote's loop, even after an error."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            gc.enable()
            if self._hot_pages is not None:
                self._hot_pages.copy()
            worker.serve_job(job_fd, self._cage, self._role)
        except BaseException:
            os._exit(1)
        os._exit(0)

    def _reap(self) -> None:
        """Collect all ended workers, outside the signal handler: handlers may interrupt one another."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._cage.init_pid:
                os._exit(1)  # the kernel has killed all workers and forks no more into their pid namespace
            self._exit_statuses[pid] = status
            while len(self._exit_statuses) > _MAX_REMEMBERED:
                del self._exit_statuses[next(iter(self._exit_statuses))]

    def _exit_if_namespace_ends(self) -> None:
        """Exit if a fork failed because the first process of the pid namespace was killed."""
        deadline = time.monotonic() + _NAMESPACE_END_SECONDS
        while self._cage.init_pid and time.monotonic() < deadline:
            self._reap()
            time.sleep(0.01)

    def _status(self, pid: int) -> int:
        self._reap()
        return self._exit_statuses.get(pid, UNKNOWN_STATUS)


def _ignore_signal(signum: int, frame: FrameType | None) -> None:
    """Do nothing: the interpreter itself writes to the wake-up descriptor."""


def _open_pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
