"""The host's end of the zygotes: for checks, for runs and for studies, each started when first needed, and shared by
all threads.
"""

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
from codeplan.sandbox.cage.zygote import READY_MESSAGE, REPLY_FORMAT, REQUEST_FORMAT, UNKNOWN_STATUS
from codeplan.sandbox.host.process import WorkerProcess

_START_SECONDS: Final = 60.0
_REPLY_SECONDS: Final = 30.0

_BOOTSTRAP: Final = """\
import os, sys
from importlib import import_module
fd, entry = int(sys.argv[1]), sys.argv[2]
sys.path[:] = sys.argv[3:]
try:
    zygote = import_module(entry)
except BaseException as error:
    os.write(fd, f"{type(error).__name__}: {error}\\n".encode("utf-8", "replace")[-2000:])
    sys.exit(1)
zygote.main(fd)
"""

_ENVIRONMENT: Final = {"PYTHONHASHSEED": "0"}
"""All of the zygote's environment. A fixed seed makes the order of sets the same in every run, so that runs can be
replayed; a plan can only slow down itself by colliding keys."""


class _ZygoteLost(Exception):
    """The zygote does not answer any more."""


class ZygoteProcess:
    """A zygote, from the moment that its process is started. Not for use by two threads at once."""

    def __init__(self, entry_module: str) -> None:
        self._control, theirs = socket.socketpair()
        self._ready = False
        with theirs:
            command = [
                sys.executable,
                "-s",
                "-S",
                "-P",
                "-c",
                _BOOTSTRAP,
                str(theirs.fileno()),
                entry_module,
                *import_paths(),
            ]
            try:
                self._process = _start(command, theirs.fileno())
            except OSError as error:
                self._control.close()
                raise SandboxError(f"the sandbox could not start {sys.executable or 'Python'}: {error}") from error

    def wait_until_ready(self) -> None:
        """Wait until it can fork. Raises SandboxError."""
        if not self._ready:
            self._control.settimeout(_START_SECONDS)
            self._read_ready_message()
            self._control.settimeout(_REPLY_SECONDS)
            self._ready = True

    def _read_ready_message(self) -> None:
        said = b""
        try:
            while not said.endswith(b"\n") and (data := self._control.recv(4096)):
                said += data
        except OSError as error:
            said = str(error).encode()
        if said != READY_MESSAGE:
            self.close()
            reason = said.decode("utf-8", "replace").strip() or f"it ended with status {self._process.returncode}"
            raise SandboxError(f"the sandbox's first process could not start: {reason}")

    def fork_worker(self) -> WorkerProcess:
        """A worker that waits for its Setup. Raises _Lost, SandboxError."""
        error, pid, handles = self._request(b"f", 0)
        if error:
            raise SandboxError(f"the sandbox could not fork a worker: {os.strerror(error)}")
        if not handles:
            raise _ZygoteLost("it sent no socket")
        return WorkerProcess(socket.socket(fileno=handles[0]), pid, handles[1] if len(handles) > 1 else None)

    def exit_status(self, pid: int) -> int:
        """How a worker ended, as ``os.waitpid`` says it; UNKNOWN where it is not known. Raises _Lost."""
        return self._request(b"s", pid)[0]

    def _request(self, operation: bytes, number: int) -> tuple[int, int, list[int]]:
        try:
            self._control.sendall(REQUEST_FORMAT.pack(operation, number))
            reply, handles, _, _ = socket.recv_fds(self._control, REPLY_FORMAT.size, 2)
            for handle in handles:
                os.set_inheritable(handle, False)
            error, pid = REPLY_FORMAT.unpack(reply)
        except (OSError, struct.error) as failure:
            raise _ZygoteLost(str(failure)) from failure
        except BaseException:
            self._control.close()  # the reply that nobody waited for would be taken for that to the next request
            raise
        return error, pid, handles

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


def import_paths() -> list[str]:
    """Where the zygote may import from: the host's own absolute entries that exist, and the folder that codeplan lies
    in.
    """
    entries = [p for p in sys.path if os.path.isabs(p) and os.path.exists(p)]
    home = str(Path(codeplan.__file__ or "").resolve().parent.parent)
    return entries if home in entries else [*entries, home]


class WorkerLauncher:
    """Hands out the workers of one zygote, which is started when it is first needed, to all threads of this process."""

    def __init__(self, entry_module: str) -> None:
        self._lock = threading.Lock()
        self._zygote: ZygoteProcess | None = None
        self._entry_module = entry_module

    def start(self) -> None:
        """Start the zygote, without waiting for it. Raises SandboxError."""
        with self._lock:
            self._ensure_zygote()

    def spawn(self) -> WorkerProcess:
        """A worker that waits for its Setup. Raises SandboxError."""
        with self._lock:
            try:
                return self._fork_worker()
            except _ZygoteLost:
                self._close_zygote()
            try:
                return self._fork_worker()
            except _ZygoteLost as error:
                self._close_zygote()
                raise SandboxError(f"the sandbox's first process died as soon as it was started: {error}") from error

    def _ensure_zygote(self) -> ZygoteProcess:
        if self._zygote is None:
            self._zygote = ZygoteProcess(self._entry_module)
        return self._zygote

    def _fork_worker(self) -> WorkerProcess:
        zygote = self._ensure_zygote()
        try:
            zygote.wait_until_ready()
        except BaseException:  # interrupted, too: whether it has said that it is ready cannot be known any more
            self._close_zygote()
            raise
        return zygote.fork_worker()

    def exit_status(self, worker: WorkerProcess) -> int:
        """How a worker that has ended ended, as ``os.waitpid`` says it; UNKNOWN where it is not known."""
        with self._lock:
            try:
                return UNKNOWN_STATUS if self._zygote is None else self._zygote.exit_status(worker.pid)
            except _ZygoteLost:
                self._close_zygote()
                return UNKNOWN_STATUS

    def use_entry_module(self, entry_module: str) -> None:
        """Start zygotes by the ``main`` of this module from now on. For the audit alone, whose workers are locked in
        by the same cage.
        """
        with self._lock:
            self._close_zygote()
            self._entry_module = entry_module

    def close(self) -> None:
        """End the zygote now; the next worker starts another. Workers that still run are killed."""
        with self._lock:
            self._close_zygote()

    def _close_zygote(self) -> None:
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    def reset_after_fork(self) -> None:
        """In a forked child: the lock may be held by a thread that is not there, and the zygote is the parent's."""
        self._lock = threading.Lock()
        if self._zygote is not None:
            self._zygote.abandon()
        self._zygote = None


check_workers: Final = WorkerLauncher("codeplan.sandbox.cage.check_zygote")
"""The workers that check plans."""

run_workers: Final = WorkerLauncher("codeplan.sandbox.cage.run_zygote")
"""The workers that run plans."""

analysis_workers: Final = WorkerLauncher("codeplan.sandbox.cage.analysis_zygote")
"""The workers that study plan text."""

for _launcher in (check_workers, run_workers, analysis_workers):
    os.register_at_fork(after_in_child=_launcher.reset_after_fork)
    atexit.register(_launcher.close)
