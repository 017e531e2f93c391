"""The host's end of the processes that read plan texts where there is no cage.

They run no code of a plan, but no cage surrounds their parsers. A process serves many jobs, because one job alone could
do as much harm. It works on every system with Python.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from codeplan.errors import SandboxError
from codeplan.sandbox.host.import_paths import import_paths, python_program
from codeplan.sandbox.host.worker_process import (
    DeadlineExceeded,
    Sender,
    State,
    WorkerConversation,
    WorkerDisconnected,
    WorkerEnd,
)
from codeplan.sandbox.protocol.frames import Frame, FrameAssembler, WorkerFrame, pack

MAX_JOBS: Final = 500
"""After this many jobs, a new process replaces the old one."""

_CHUNK: Final = 1 << 16
_START_SECONDS: Final = 60.0
_END_SECONDS: Final = 5.0
_READY: Final = b"ready\n"
_BOOTSTRAP: Final = """\
import os, sys
sys.path[:] = sys.argv[1:]
from codeplan.sandbox.monty.text_reader import main
os.write(1, b"ready\\n")
main()
"""
_INHERITED: Final = ("SYSTEMROOT",)  # without it Python does not start on Windows


class TextProcess:
    """One process. Not thread-safe. Raises SandboxError if it cannot start."""

    def __init__(self) -> None:
        self.jobs = 0
        self._conversation = WorkerConversation(State.READY)
        self._assembler = FrameAssembler(_CHUNK)
        self._expired = threading.Event()
        environment = {"PYTHONHASHSEED": "0"} | {n: os.environ[n] for n in _INHERITED if n in os.environ}
        try:
            self._process = subprocess.Popen(
                [python_program(), "-s", "-S", "-P", "-c", _BOOTSTRAP, *import_paths()],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise SandboxError(f"codeplan could not start {python_program() or 'Python'}: {error}") from error
        self._stdin, self._stdout = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
        self._wait_until_ready()

    @property
    def is_idle(self) -> bool:
        """Whether the process has answered its last job and can take another."""
        answered = self._conversation.state in (State.READY, State.ENDED)
        return answered and not self._expired.is_set() and self._process.poll() is None

    def begin_job(self) -> None:
        """Expect a new job."""
        self.jobs += 1
        self._conversation = WorkerConversation(State.READY)

    def set_max_frame(self, max_bytes: int) -> None:
        """Accept frames of up to ``max_bytes`` from now on."""
        self._assembler.max_bytes = max_bytes

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a job; see ``TextWorker.send``."""
        self._conversation.take(Sender.HOST, frame)
        left = memoryview(pack(frame))
        with self._killed_at(deadline):
            while left:
                left = left[os.write(self._stdin.fileno(), left) :]

    def receive(self, deadline: float) -> WorkerFrame:
        """Receive the answer; see ``TextWorker.receive``. At the deadline the process is killed."""
        with self._killed_at(deadline):
            frame = self._assembler.next_worker_frame()
            while frame is None:
                frame = self._assembler.next_worker_frame(self._read())
        self._conversation.take(Sender.WORKER, frame)
        return frame

    def find_end(self) -> WorkerEnd:
        """Why the process closed its pipe."""
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return WorkerEnd("the process that reads plans closed its pipe")
        if status in (-signal.SIGTERM, -getattr(signal, "SIGKILL", signal.SIGTERM)):
            return WorkerEnd("the process that reads plans was killed", -status, killed=True)
        return WorkerEnd("the process that reads plans ended without an answer")

    def kill(self) -> None:
        """End the process and wait for its end. Safe to call twice."""
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def _wait_until_ready(self) -> None:
        try:
            with self._killed_at(time.monotonic() + _START_SECONDS):
                message = b""
                while message != _READY:
                    message += self._read()
        except (DeadlineExceeded, WorkerDisconnected):
            self.kill()
            raise SandboxError("the process that reads plans could not start") from None

    def _read(self) -> bytes:
        data = os.read(self._stdout.fileno(), _CHUNK)
        if not data:
            raise WorkerDisconnected
        return data

    @contextmanager
    def _killed_at(self, deadline: float) -> Iterator[None]:
        """Kill the process at the deadline: pipes cannot wait with a timeout on every system."""
        watchdog = threading.Timer(max(0.0, deadline - time.monotonic()), self._expire)
        watchdog.start()
        try:
            yield
        except (OSError, WorkerDisconnected):
            raise (DeadlineExceeded if self._expired.is_set() else WorkerDisconnected) from None
        finally:
            watchdog.cancel()

    def _expire(self) -> None:
        self._expired.set()
        self._process.kill()


class UncagedWorkers:
    """Hands out processes that read plan texts, and keeps idle ones for the next job. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[TextProcess] = []

    @contextmanager
    def check_worker(self) -> Iterator[TextProcess]:
        """A process that waits for a CheckJob. Raises SandboxError if none can start."""
        process = self._take()
        try:
            yield process
        finally:
            self._give_back(process)

    analysis_worker = check_worker  # the same processes do both

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.kill()

    def forget(self) -> None:
        """Forget all processes in a forked child: they belong to the parent."""
        self._lock = threading.Lock()
        self._idle = []

    def _take(self) -> TextProcess:
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is not None and not process.is_idle:
            process.kill()
            process = None
        process = process or TextProcess()
        process.begin_job()
        return process

    def _give_back(self, process: TextProcess) -> None:
        if not process.is_idle or process.jobs >= MAX_JOBS:
            process.kill()
            return
        with self._lock:
            self._idle.append(process)


uncaged_workers: Final = UncagedWorkers()
"""The processes that all backends of this process share."""

atexit.register(uncaged_workers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=uncaged_workers.forget)
