"""What a forked worker does: lock itself in, take one job, answer, end."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from codeplan.sandbox.cage.host_client import HostLink, PlanTimer
from codeplan.sandbox.cage.lockdown import SOCKET_FD, Cage
from codeplan.sandbox.protocol import frames

_HIGHEST_FD: Final = 1 << 16
_READ_BYTES: Final = 1 << 20

WorkerJob: TypeAlias = frames.CheckJob | frames.AnalysisJob | frames.RunJob


class WorkerRole(NamedTuple):
    """What one zygote's workers do: ``serve`` answers a job over the link.

    ``sample`` is a job like most, for the zygote to practise on. ``rehearsed`` says that a worker for which nobody
    waits does it once more by itself: the job that counts is quicker then, though the two together take longer.
    """

    sample_job: WorkerJob
    serve: Callable[[HostLink, WorkerJob, PlanTimer], None]
    prewarmed: bool = False


def warm_up(role: WorkerRole) -> None:
    """Do the sample job, so that all that a job needs is loaded, and is this process's own to write to.

    A fork shares its memory until it writes there, and each first write to a page costs a fault of some microseconds.
    """
    frames.unpack_host_frame(frames.pack(role.sample_job)[frames.HEADER_BYTES :])
    role.serve(_SampleLink(), role.sample_job, PlanTimer())


def serve_job(job_fd: int, cage: Cage, role: WorkerRole) -> None:
    """Serve one job on this socket, which becomes the worker's only descriptor.

    All that can be done before the host asks for a worker comes first, because a worker may have been forked ahead.
    """
    os.dup2(job_fd, SOCKET_FD)
    os.closerange(0, SOCKET_FD)
    os.closerange(SOCKET_FD + 1, _HIGHEST_FD)
    channel = SocketLink(SOCKET_FD)
    clock = PlanTimer()
    clock.install_handlers()
    inner = cage.apply_common_layers()
    if role.prewarmed and not channel.has_input():
        warm_up(role)
    setup = channel.receive()
    if not isinstance(setup, frames.SetupFrame):
        return
    clock.set_timers(setup.wall, setup.cpu)
    channel.send(frames.ReadyFrame([*inner, *cage.apply_limit_layers(setup.memory, setup.cpu)]))
    job = channel.receive()
    clock.restart()
    if isinstance(job, WorkerJob):
        role.serve(channel, job, clock)


class _SampleLink:
    """The link of a job that is only practice: the agent and the model answer with an empty text."""

    def send(self, frame: frames.Frame) -> int:
        return len(frames.pack(frame))

    def receive(self) -> frames.HostFrame:
        return frames.ResultFrame("")


class SocketLink:
    """Whole frames over the worker's one descriptor. The worker ends where the host is gone."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def send(self, frame: frames.Frame) -> int:
        """Send the frame; returns its bytes."""
        packed = frames.pack(frame)
        rest = memoryview(packed)
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        return len(packed)

    def has_input(self) -> bool:
        """Whether the host has said something that was not received yet."""
        return bool(select.select([self._fd], [], [], 0)[0])

    def receive(self) -> frames.HostFrame:
        """The host's next frame."""
        length = int.from_bytes(self._read_exactly(frames.HEADER_BYTES), "big")
        return frames.unpack_host_frame(self._read_exactly(length))

    def _read_exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = os.read(self._fd, min(count, _READ_BYTES))
            if not part:
                os._exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
