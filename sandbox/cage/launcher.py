"""The host's end of the zygote: one for the whole process, started when first needed, shared by all threads."""

from __future__ import annotations

import atexit
import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import codeplan
from codeplan.errors import SandboxError
from codeplan.sandbox.cage.process import WorkerProcess
from codeplan.sandbox.cage.zygote import READY, REPLY, REQUEST, UNKNOWN

_START_SECONDS: Final = 60.0
_REPLY_SECONDS: Final = 30.0

_BOOTSTRAP: Final = (
    "import sys; fd = int(sys.argv[1]); sys.path[:] = sys.argv[2:]; "
    "from codeplan.sandbox.cage.zygote import main; main(fd)"
)

_ENVIRONMENT: Final = {"PYTHONHASHSEED": "0"}
"""All of the zygote's environment. A fixed seed makes the order of sets the same in every run, so that runs can be
replayed; a plan can only slow down itself by colliding keys."""


class _Lost(Exception):
    """The zygote does not answer any more."""


class Zygote:
    """A running zygote. Not for use by two threads at once."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-s", "-S", "-P", "-c", _BOOTSTRAP, str(theirs.fileno()), *import_path()]
            try:
                self._process = _start(command, theirs.fileno())
            except OSError as error:
                ours.close()
                raise SandboxError(f"the sandbox could not start {sys.executable or 'Python'}: {error}") from error
        self._control = ours
        self._control.settimeout(_START_SECONDS)
        self._await_ready()
        self._control.settimeout(_REPLY_SECONDS)

    def _await_ready(self) -> None:
        said = b""
        try:
            while not said.endswith(b"\n") and (data := self._control.recv(4096)):
                said += data
        except OSError as error:
            said = str(error).encode()
        if said != READY:
            self.close()
            reason = said.decode("utf-8", "replace").strip() or f"it ended with status {self._process.returncode}"
            raise SandboxError(f"the sandbox's first process could not start: {reason}")

    def fork(self, job: socket.socket) -> tuple[int, int | None]:
        """A worker on the other end of ``job``: its pid, and a pidfd where the system has them. Raises _Lost,
        SandboxError.
        """
        error, pid, handle = self._request(b"f", 0, [job.fileno()])
        if error:
            raise SandboxError(f"the sandbox could not fork a worker: {os.strerror(error)}")
        return pid, handle

    def status(self, pid: int) -> int:
        """How a worker ended, as ``os.waitpid`` says it; UNKNOWN where it is not known. Raises _Lost."""
        return self._request(b"s", pid, [])[0]

    def _request(self, operation: bytes, number: int, fds: list[int]) -> tuple[int, int, int | None]:
        try:
            socket.send_fds(self._control, [REQUEST.pack(operation, number)], fds)
            reply, handles, _, _ = socket.recv_fds(self._control, REPLY.size, 1)
            error, pid = REPLY.unpack(reply)
        except (OSError, struct.error) as failure:
            raise _Lost(str(failure)) from failure
        return error, pid, handles[0] if handles else None

    def close(self) -> None:
        """End it, and with it every worker."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def abandon(self) -> None:
        """Forget it in a forked child of the host, where it is not a child: it stays the parent's."""
        self._control.close()
        self._process.returncode = 0


def _start(command: list[str], fd: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=_ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(fd,),
        start_new_session=True,
    )


def import_path() -> list[str]:
    """Where the zygote may import from: the host's own absolute entries that exist, and the folder that codeplan lies
    in.
    """
    entries = [p for p in sys.path if os.path.isabs(p) and os.path.exists(p)]
    home = str(Path(codeplan.__file__ or "").resolve().parent.parent)
    return entries if home in entries else [*entries, home]


class _Shared:
    """The one zygote of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None

    def spawn(self) -> WorkerProcess:
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                pid, handle = self._fork(theirs)
        except BaseException:
            ours.close()
            raise
        return WorkerProcess(ours, pid, handle)

    def _fork(self, job: socket.socket) -> tuple[int, int | None]:
        if self._zygote is not None:
            try:
                return self._zygote.fork(job)
            except _Lost:
                self._drop()
        self._zygote = Zygote()
        try:
            return self._zygote.fork(job)
        except _Lost as error:
            self._drop()
            raise SandboxError(f"the sandbox's first process died as soon as it was started: {error}") from error

    def status(self, pid: int) -> int:
        with self._lock:
            try:
                return UNKNOWN if self._zygote is None else self._zygote.status(pid)
            except _Lost:
                self._drop()
                return UNKNOWN

    def _drop(self) -> None:
        if self._zygote is not None:
            self._zygote.close()
        self._zygote = None

    def close(self) -> None:
        with self._lock:
            self._drop()

    def after_fork(self) -> None:
        """In a forked child: the lock may be held by a thread that is not there, and the zygote is the parent's."""
        self._lock = threading.Lock()
        if self._zygote is not None:
            self._zygote.abandon()
        self._zygote = None


_shared: Final = _Shared()
os.register_at_fork(after_in_child=_shared.after_fork)
atexit.register(_shared.close)


def spawn() -> WorkerProcess:
    """A new worker that waits for its Setup. Raises SandboxError."""
    return _shared.spawn()


def wait_status(worker: WorkerProcess) -> int:
    """How a worker that has ended ended, as ``os.waitpid`` says it; UNKNOWN where it is not known."""
    return _shared.status(worker.pid)


def close() -> None:
    """End the zygote now; the next worker starts another. Workers that still run are killed."""
    _shared.close()
