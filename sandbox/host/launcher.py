"""The host's end of the zygotes for checks, runs and analyses. Each starts at first use; all threads share it."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host.import_paths import import_paths, python_program
from codeplan.sandbox.host.worker_process import MAX_LOST_ZYGOTES, WorkerProcess
from codeplan.sandbox.protocol.frames import (
    READY_MESSAGE,
    REFUSED_IMPORT,
    REPLY_FORMAT,
    REQUEST_FORMAT,
    UNKNOWN_STATUS,
    State,
)

_START_SECONDS: Final = 60.0
_REPLY_SECONDS: Final = 30.0

_BOOTSTRAP: Final = """\
import os, sys
os.register_at_fork = lambda **hooks: None
from importlib import import_module
fd, entry = int(sys.argv[1]), sys.argv[2]
imports = [name for name in sys.argv[3].split(",") if name]
sys.path[:] = sys.argv[4:]
try:
    zygote = import_module(entry)
except BaseException as error:
    os.write(fd, f"{type(error).__name__}: {error}\\n".encode("utf-8", "replace")[-2000:])
    sys.exit(1)
zygote.main(fd, imports)
"""
"""What a zygote runs. No module may do something in each of its workers, such as locks of threads, which there are none
of, or a new seed: it writes to a hundred pages that they share.
"""

_KILLED: Final = (-signal.SIGKILL, -signal.SIGTERM)
_ENVIRONMENT: Final = {"PYTHONHASHSEED": "0", "LD_BIND_NOW": "1"}
"""The zygote's whole environment. The fixed seed gives sets the same order in every run, so that runs can be replayed;
a plan that provokes hash collisions slows down only itself. Libraries are linked at once, and not in each worker anew.
"""

_ONE_THREAD: Final = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""Keeps packages from starting threads, with which a zygote could not enter its namespaces."""


class _ZygoteLost(Exception):
    """The zygote does not answer."""


class _Reply(NamedTuple):
    """A zygote's answer: an error number or a wait status, the worker's pid, and its socket and pidfd if it is new."""

    number: int
    pid: int
    handles: list[int]

    def close(self) -> None:
        for handle in self.handles:
            os.close(handle)


class ZygoteProcess:
    """A running zygote: the locked process from which workers are forked. Not thread-safe.

    The host always orders one worker ahead, so that this worker is locked down before a job needs it.

    ``imports`` are the packages that the user named.

    Raises: SandboxError: the process cannot be started.
    """

    def __init__(self, entry_module: str, imports: tuple[str, ...] = ()) -> None:
        self._control, theirs = socket.socketpair()
        self._ready = self._ordered = False
        self._ahead: _Reply | None = None  # the worker that was ordered ahead, once the zygote has sent it
        with theirs:
            arguments = [str(theirs.fileno()), entry_module, ",".join(imports), *import_paths()]
            try:
                self._process = _start(arguments, theirs.fileno(), _ENVIRONMENT | (_ONE_THREAD if imports else {}))
            except OSError as error:
                self._control.close()
                raise SandboxError(f"the sandbox could not start {python_program() or 'Python'}: {error}") from error
        self._order_ahead()

    def wait_until_ready(self) -> None:
        """Wait until the zygote can fork.

        Raises: _ZygoteLost: it was killed. UsageError: it cannot load a package that the user named. SandboxError: it
        cannot start.
        """
        if not self._ready:
            self._control.settimeout(_START_SECONDS)
            self._read_ready_message()
            self._control.settimeout(_REPLY_SECONDS)
            self._ready = True

    def _read_ready_message(self) -> None:
        message = b""
        try:
            while not message.endswith(b"\n") and (data := self._control.recv(1)):  # the next message is a reply
                message += data
        except ConnectionResetError:
            pass  # the zygote ended without reading the order
        except OSError as error:
            message = str(error).encode()
        if message != READY_MESSAGE:
            self.close()
            if not message and self._process.returncode in _KILLED:
                raise _ZygoteLost("it was killed before it was ready")
            if message.startswith(REFUSED_IMPORT):
                raise UsageError(message.removeprefix(REFUSED_IMPORT).decode("utf-8", "replace").strip())
            reason = message.decode("utf-8", "replace").strip() or f"it ended with status {self._process.returncode}"
            raise SandboxError(f"the sandbox's first process could not start: {reason}")

    def take_worker(self) -> WorkerProcess:
        """A worker that waits for its SetupFrame. Raises _ZygoteLost, SandboxError."""
        with self._exchange():
            worker = self._take_ahead() or self._fork_worker()
            self._order_ahead()
            return worker

    def exit_status(self, pid: int) -> int:
        """A worker's status as in ``os.waitpid``, or UNKNOWN_STATUS. Raises _ZygoteLost."""
        with self._exchange():
            self._receive_ahead()
            self._send(b"s", pid)
            return self._receive().number

    @contextlib.contextmanager
    def _exchange(self) -> Iterator[None]:
        try:
            yield
        except (_ZygoteLost, SandboxError):
            raise
        except BaseException:  # interrupted: a late reply would be read as the reply to the next request
            self._close_handles()
            raise

    def _order_ahead(self) -> None:
        with contextlib.suppress(_ZygoteLost):  # the next caller that needs the worker will notice
            self._send(b"f", 0)
            self._ordered = True

    def _receive_ahead(self) -> None:
        """Receive the worker that was ordered ahead: its reply comes before the replies to later requests."""
        if self._ordered:
            self._ahead = self._receive()
            self._ordered = False

    def _take_ahead(self) -> WorkerProcess | None:
        """The worker that was ordered ahead; None if it could not be forked or has ended since."""
        self._receive_ahead()
        reply, self._ahead = self._ahead, None
        if reply is None or not reply.handles:
            return None
        worker = _worker_of(reply)
        if worker.has_ended(0):
            worker.kill()
            return None
        return worker

    def _fork_worker(self) -> WorkerProcess:
        self._send(b"f", 0)
        reply = self._receive()
        if reply.number:
            raise SandboxError(f"the sandbox could not fork a worker: {os.strerror(reply.number)}")
        if not reply.handles:
            raise _ZygoteLost("it sent no socket")
        return _worker_of(reply)

    def _send(self, operation: bytes, number: int) -> None:
        try:
            self._control.sendall(REQUEST_FORMAT.pack(operation, number))
        except OSError as failure:
            raise _ZygoteLost(str(failure)) from failure

    def _receive(self) -> _Reply:
        try:
            reply, handles, _, _ = socket.recv_fds(self._control, REPLY_FORMAT.size, 2)
            for handle in handles:
                os.set_inheritable(handle, False)
            number, pid = REPLY_FORMAT.unpack(reply)
        except (OSError, struct.error) as failure:
            raise _ZygoteLost(str(failure)) from failure
        return _Reply(number, pid, handles)

    def close(self) -> None:
        """Stop the zygote, and every worker with it."""
        self._close_handles()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def abandon(self) -> None:
        """Forget the zygote in a forked child of the host, because the zygote belongs to the parent."""
        self._close_handles()
        self._process.returncode = 0

    def _close_handles(self) -> None:
        self._control.close()
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None


def _worker_of(reply: _Reply) -> WorkerProcess:
    pidfd = reply.handles[1] if len(reply.handles) > 1 else None
    return WorkerProcess(socket.socket(fileno=reply.handles[0]), reply.pid, pidfd, State.FORKED)


def _start(arguments: list[str], fd: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [python_program(), "-s", "-S", "-P", "-c", _BOOTSTRAP, *arguments],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(fd,),
        start_new_session=True,
    )


class WorkerLauncher:
    """Starts one zygote when needed and hands out its workers to all threads of this process."""

    def __init__(self, entry_module: str, imports: tuple[str, ...] = ()) -> None:
        self._lock = threading.Lock()
        self._zygote: ZygoteProcess | None = None
        self._entry_module, self._imports = entry_module, imports
        os.register_at_fork(after_in_child=self.reset_after_fork)
        atexit.register(self.close)

    def start(self) -> None:
        """Start the zygote without waiting for it. Raises SandboxError."""
        with self._lock:
            self._ensure_zygote()

    def spawn(self) -> WorkerProcess:
        """Return a worker that waits for its SetupFrame. Raises SandboxError."""
        with self._lock:
            for _ in range(MAX_LOST_ZYGOTES):
                try:
                    return self._fork_worker()
                except _ZygoteLost:
                    self._close_zygote()
        raise SandboxError("the sandbox's first process is killed again and again; the machine may be short of memory")

    def _ensure_zygote(self) -> ZygoteProcess:
        if self._zygote is None:
            self._zygote = ZygoteProcess(self._entry_module, self._imports)
        return self._zygote

    def _fork_worker(self) -> WorkerProcess:
        zygote = self._ensure_zygote()
        try:
            zygote.wait_until_ready()
        except BaseException:  # also after an interrupt: the zygote's ready message may be lost
            self._close_zygote()
            raise
        worker = zygote.take_worker()
        worker.find_status = lambda: self._exit_status(zygote, worker.pid)
        return worker

    def _exit_status(self, zygote: ZygoteProcess, pid: int) -> int:
        """The status of an ended worker as in ``os.waitpid``; UNKNOWN_STATUS if the zygote that forked it is gone."""
        with self._lock:
            try:
                return zygote.exit_status(pid)
            except _ZygoteLost:
                if zygote is self._zygote:
                    self._close_zygote()
                return UNKNOWN_STATUS

    def close(self) -> None:
        """Stop the zygote and its workers. The next worker starts a new one."""
        with self._lock:
            self._close_zygote()

    def _close_zygote(self) -> None:
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    def reset_after_fork(self) -> None:
        """Reset in a forked child: a missing thread may hold the lock, and the zygote is the parent's."""
        self._lock = threading.Lock()
        if self._zygote is not None:
            self._zygote.abandon()
        self._zygote = None


check_workers: Final = WorkerLauncher("codeplan.sandbox.cage.check_zygote")  # workers that check plans
run_workers: Final = WorkerLauncher("codeplan.sandbox.cage.run_zygote")  # workers that run plans
analysis_workers: Final = WorkerLauncher("codeplan.sandbox.cage.analysis_zygote")  # workers that analyse plan text


class Workers(NamedTuple):
    """The launchers for checks, runs and analyses."""

    checks: WorkerLauncher
    runs: WorkerLauncher
    analyses: WorkerLauncher


@cache
def workers_for(imports: tuple[str, ...]) -> Workers:
    """The launchers whose plans may import these packages, of which only those for runs load them."""
    if not imports:
        return Workers(check_workers, run_workers, analysis_workers)
    return Workers(*(WorkerLauncher(f"codeplan.sandbox.cage.{kind}_zygote", imports) for kind in _KINDS))


_KINDS: Final = ("check", "run", "analysis")
