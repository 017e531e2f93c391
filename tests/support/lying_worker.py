"""The host's side of an exchange against a worker whose bytes the test writes, over a real socket."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from support.caged import SampleHome, answer

from codeplan.sandbox import Limits
from codeplan.sandbox.host.agent_port import AgentPort, RunAccount
from codeplan.sandbox.host.backend import LineCoverage
from codeplan.sandbox.host.locked_backend import LockedBackend, RunSession
from codeplan.sandbox.host.plan_texts import build_job, run_analysis
from codeplan.sandbox.host.worker_process import WorkerProcess
from codeplan.sandbox.protocol import frames
from codeplan.types import AgentApi, Checkpoint, Failed, Finished, Plan, Rejected, Stopped

LIMITS = Limits(wall=0.5)
Lie: TypeAlias = "frames.Frame | bytes | float"
"""A frame, raw bytes, or a pause in seconds."""


def as_bytes(lie: frames.Frame | bytes) -> bytes:
    """What a lie is on the wire."""
    return lie if isinstance(lie, bytes) else frames.pack(lie)


def framed(body: bytes) -> bytes:
    """Any bytes as one frame."""
    return len(body).to_bytes(frames.HEADER_BYTES, "big") + body


@contextlib.contextmanager
def lying_worker(*lies: Lie, hang_up: bool = True) -> Iterator[WorkerProcess]:
    """The host's end of a worker that sends these lies, and then hangs up or stays silent."""
    ours, theirs = socket.socketpair()
    teller = threading.Thread(target=_tell, args=(theirs, lies, hang_up))
    teller.start()
    try:
        yield WorkerProcess(ours, os.getpid(), None)
    finally:
        ours.close()
        teller.join()
        theirs.close()


def _tell(sock: socket.socket, lies: tuple[Lie, ...], hang_up: bool) -> None:
    with contextlib.suppress(OSError):
        for lie in lies:
            if isinstance(lie, float):
                time.sleep(lie)
            else:
                sock.sendall(as_bytes(lie))
        if hang_up:
            sock.shutdown(socket.SHUT_WR)


def lie_to_check(
    source: str, *lies: Lie, hang_up: bool = True, kept: tuple[str, ...] = (), starts_over: bool = False
) -> Plan | Rejected:
    """What the host makes of a check whose worker lies."""
    job = frames.CheckJob(source, AgentApi(), kept, starts_over)
    with lying_worker(*lies, hang_up=hang_up) as worker:
        return LockedBackend(LIMITS).texts.exchange_check(worker, job)


def lie_to_run(
    plan: Plan,
    *lies: Lie,
    home: SampleHome | None = None,
    code: bytes = b"code",
    start_from: int = 1,
    checkpoint: Checkpoint | None = None,
    hang_up: bool = True,
    limits: Limits = LIMITS,
    on_coverage: Callable[[LineCoverage], None] | None = None,
) -> Finished | Failed | Stopped | Rejected:
    """What the host makes of a run whose worker lies."""
    port = AgentPort(home or SampleHome(lambda action: None), answer)
    job = frames.RunJob(
        plan.source, port.methods, port.attributes, start_from, checkpoint, 0, limits, bool(on_coverage), code
    )
    with lying_worker(*lies, hang_up=hang_up) as worker:
        return RunSession(worker, RunAccount(plan, port, limits), on_coverage).run(job)


def lie_to_analysis(*lies: Lie, hang_up: bool = True) -> Any | Rejected:
    """What the host makes of an analysis whose worker lies."""
    with lying_worker(*lies, hang_up=hang_up) as worker:
        return run_analysis(worker, build_job("literals", "x = 1", {}), LIMITS)
