"""The life of a forked worker: lock down, take one job, answer, exit; and the timer that stops a plan in it."""

from __future__ import annotations

import math
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, NamedTuple, Protocol, TypeAlias

from codeplan.sandbox.cage.frame_link import SocketLink
from codeplan.sandbox.cage.lockdown import MAX_FD, SOCKET_FD, Cage
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.runtime.termination import LimitExceeded

_TICK_SECONDS: Final = 0.01

WorkerJob: TypeAlias = frames.CheckJob | frames.AnalysisJob | frames.RunJob


class HostLink(Protocol):
    """A connection to the host."""

    def send(self, frame: frames.Frame) -> int:
        """Send a frame and return its size in bytes."""

    def receive(self) -> frames.HostFrame:
        """Receive the host's next frame."""


class PlanTimer:
    """Raises LimitExceeded in the plan when its time is up, repeatedly until the plan ends.

    It fires shortly before the host would kill the worker, so that step, line and variables are known. It calls
    ``on_expiry`` before it raises.
    """

    def __init__(self) -> None:
        self.is_armed = False
        self.waited_seconds = 0.0
        self.on_expiry: Callable[[LimitExceeded], None] = lambda limit: None
        self._wall = self._cpu = math.inf
        self.restart()

    def install_handlers(self) -> None:
        """Handle the timers' signals from now on."""
        signal.signal(signal.SIGALRM, self._tick)
        signal.signal(signal.SIGPROF, self._tick)

    def set_timers(self, wall: float, cpu: float) -> None:
        """Set the timers, in seconds. Call it before the lockdown, which forbids it."""
        self._wall, self._cpu = wall, cpu
        signal.setitimer(signal.ITIMER_REAL, wall, _TICK_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, cpu, _TICK_SECONDS)

    def restart(self) -> None:
        """Start counting."""
        self._started_at, self._cpu_before = time.monotonic(), _processor_seconds()

    def cpu_seconds(self) -> float:
        """Processor time since the start."""
        return _processor_seconds() - self._cpu_before

    def require_seconds(self, seconds: float) -> None:
        """Stop the plan if it may not run for ``seconds`` more. Raises: LimitExceeded."""
        wall = time.monotonic() - self._started_at - self.waited_seconds + seconds
        if wall > self._wall:
            self._interrupt(LimitExceeded("wall", wall, self._wall))

    def _tick(self, signum: int, frame: FrameType | None) -> None:
        if not self.is_armed:
            return
        wall, cpu = time.monotonic() - self._started_at - self.waited_seconds, self.cpu_seconds()
        if wall > self._wall:
            self._interrupt(LimitExceeded("wall", wall, self._wall))
        elif cpu > self._cpu:
            self._interrupt(LimitExceeded("cpu", cpu, self._cpu))

    def _interrupt(self, limit: LimitExceeded) -> None:
        self.on_expiry(limit)
        raise limit


def _processor_seconds() -> float:
    """Processor time by ``getrusage``: the process clock is coarse while a timer runs."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class WorkerRole(NamedTuple):
    """The role of one zygote's workers: ``serve`` answers a job over the link; ``sample_job`` is a typical job.

    The zygote runs it, and ``other_samples``, until the interpreter has specialised the bytecode that they need.
    If ``prewarmed`` is true, an idle worker runs the sample job once before it takes a real one. The real job is then
    faster, at the cost of more total work. If ``hot_pages`` is true, a worker instead copies the pages that the sample
    job writes to; that is less work than the sample job if the job writes to many pages. If ``fresh_heap`` is true,
    workers allocate from fresh huge pages: faster if they need megabytes, but each then has two of its own.
    """

    sample_job: WorkerJob
    serve: Callable[[HostLink, WorkerJob, PlanTimer], None]
    prewarmed: bool = False
    fresh_heap: bool = False
    hot_pages: bool = False
    other_samples: tuple[WorkerJob, ...] = ()


def run_samples(role: WorkerRole) -> None:
    """Run all samples once, so that all modules are loaded."""
    for job in (*role.other_samples, role.sample_job):
        _run_sample(role, job)


def warm_up(role: WorkerRole) -> None:
    """Run the sample job so that the memory pages that it writes to are private to this process.

    Forked memory is shared until written; each first write to a page costs a page fault of a few microseconds.
    """
    _run_sample(role, role.sample_job)


def _run_sample(role: WorkerRole, job: WorkerJob) -> None:
    frames.unpack_host_frame(frames.pack(job)[frames.HEADER_BYTES :])
    role.serve(_SampleLink(), job, PlanTimer())


def serve_job(job_fd: int, cage: Cage, role: WorkerRole, timer: PlanTimer) -> None:
    """Serve one job on this socket, the worker's only descriptor. The handlers of ``timer`` are installed.

    A worker may be forked in advance, so everything that needs no job comes first.
    """
    os.dup2(job_fd, SOCKET_FD)
    os.closerange(0, SOCKET_FD)
    os.closerange(SOCKET_FD + 1, MAX_FD)
    link = SocketLink(SOCKET_FD)
    common = cage.apply_common_layers()
    if role.prewarmed and not link.has_input():
        warm_up(role)
    setup = link.receive()
    if not isinstance(setup, frames.SetupFrame):
        return
    timer.set_timers(setup.wall, setup.cpu)
    link.send(frames.ReadyFrame([*common, *cage.apply_limit_layers(setup.memory, setup.cpu)]))
    job = link.receive()
    timer.restart()
    if isinstance(job, WorkerJob):
        role.serve(link, job, timer)


def rehearse_link() -> None:
    """Exchange some frames with itself."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = SocketLink(ours.fileno())
        for _ in range(2):
            link.has_input()
            theirs.send(frames.pack(frames.SetupFrame(1 << 20, 1.0, 1.0)))
            link.receive()
            link.send(frames.ReadyFrame([]))
        link.close()


class _SampleLink:
    """The link of a sample job: agent and model answer with an empty text."""

    def send(self, frame: frames.Frame) -> int:
        return len(frames.pack(frame))

    def receive(self) -> frames.HostFrame:
        return frames.ResultFrame("")
