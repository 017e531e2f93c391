"""The life of a forked worker: lock down, take one job, answer, exit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from codeplan.sandbox.cage.frame_link import SocketLink
from codeplan.sandbox.cage.host_client import HostLink, PlanTimer
from codeplan.sandbox.cage.lockdown import MAX_FD, SOCKET_FD, Cage
from codeplan.sandbox.protocol import frames

WorkerJob: TypeAlias = frames.CheckJob | frames.AnalysisJob | frames.RunJob


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


def serve_job(job_fd: int, cage: Cage, role: WorkerRole) -> None:
    """Serve one job on this socket, the worker's only descriptor.

    A worker may be forked in advance, so everything that needs no job comes first.
    """
    os.dup2(job_fd, SOCKET_FD)
    os.closerange(0, SOCKET_FD)
    os.closerange(SOCKET_FD + 1, MAX_FD)
    link = SocketLink(SOCKET_FD)
    timer = PlanTimer()
    timer.install_handlers()
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


class _SampleLink:
    """The link of a sample job: agent and model answer with an empty text."""

    def send(self, frame: frames.Frame) -> int:
        return len(frames.pack(frame))

    def receive(self) -> frames.HostFrame:
        return frames.ResultFrame("")
