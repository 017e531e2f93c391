"""What a forked worker does: lock itself in, take one job, answer, end."""

from __future__ import annotations

import os
from typing import Final

from codeplan.sandbox import wire
from codeplan.sandbox.cage.calls import Clock
from codeplan.sandbox.cage.execution import Execution
from codeplan.sandbox.cage.lockdown import SOCKET_FD, Cage
from codeplan.sandbox.codec import CheckpointError, decode, encode
from codeplan.sandbox.language.check import check_source
from codeplan.sandbox.language.program import PlanRefused, compile_plan
from codeplan.sandbox.limits import shorten
from codeplan.types import AgentApi, AgentMethod, Plan

_HIGHEST_FD: Final = 1 << 16
_READ_BYTES: Final = 1 << 20
_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] count')
        seen = [i for i in range(3)]
        assert seen, f'Error in [Step 1]: {agent.report()}'
"""


def warm_up() -> None:
    """Use once what workers use, so that all of it is loaded and shared."""
    check_source(_SAMPLE, AgentApi((AgentMethod("report", "()"),)))
    compile_plan(_SAMPLE)
    decode(encode({"seen": [1, 2]}, 1_000))


def work(job_fd: int, cage: Cage) -> None:
    """Serve one job on this socket, which becomes the worker's only descriptor."""
    os.dup2(job_fd, SOCKET_FD)
    os.closerange(0, SOCKET_FD)
    os.closerange(SOCKET_FD + 1, _HIGHEST_FD)
    channel = Channel(SOCKET_FD)
    setup = channel.receive()
    if not isinstance(setup, wire.Setup):
        return
    clock = Clock(setup.wall, setup.cpu)
    channel.send(wire.Ready(list(cage.close_on(setup.memory, setup.cpu))))
    job = channel.receive()
    clock.start()
    if isinstance(job, wire.CheckJob):
        channel.send(_check(job))
    elif isinstance(job, wire.RunJob):
        _run(channel, job, clock)


def _check(job: wire.CheckJob) -> wire.Frame:
    found = check_source(job.source, job.api)
    return wire.Checked(found) if isinstance(found, Plan) else wire.Refused(list(found.diagnostics))


def _run(channel: Channel, job: wire.RunJob, clock: Clock) -> None:
    try:
        program = compile_plan(job.source)
        variables = decode(job.checkpoint) if job.checkpoint else {}
    except PlanRefused as refused:
        channel.send(wire.Refused(list(refused.diagnostics)))
        return
    except CheckpointError as error:
        channel.send(wire.Damaged(shorten(str(error))))
        return
    channel.send(wire.Started())
    Execution(channel, job, clock).run(program, variables)


class Channel:
    """Whole frames over the worker's one descriptor. The worker ends where the host is gone."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def send(self, frame: wire.Frame) -> int:
        """Send the frame; returns its bytes."""
        packed = wire.pack(frame)
        rest = memoryview(packed)
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        return len(packed)

    def receive(self) -> wire.FromHost:
        """The host's next frame."""
        length = int.from_bytes(self._exactly(wire.HEADER_BYTES), "big")
        return wire.from_host(self._exactly(length))

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = os.read(self._fd, min(count, _READ_BYTES))
            if not part:
                os._exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
