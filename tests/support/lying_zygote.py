"""A zygote whose workers are locked like any other, but answer each check with an enormous plan."""

from __future__ import annotations

from typing import NoReturn

import msgspec

from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.worker import HostLink, PlanTimer, WorkerJob, WorkerRole
from codeplan.sandbox.protocol import frames
from codeplan.types import AgentApi


class AnyFrame(frames.Frame, frozen=True, tag="AcceptanceFrame"):
    """An AcceptanceFrame without caps."""

    plan: object
    code: bytes


def main(control_fd: int) -> NoReturn:
    """Serve as the zygote for checks."""
    zygote.main(control_fd, WorkerRole(frames.CheckJob("x", AgentApi()), serve_lie))


def serve_lie(link: HostLink, job: WorkerJob, timer: PlanTimer) -> None:
    """Answer a CheckJob with steps whose titles are as long as a frame allows."""
    assert isinstance(job, frames.CheckJob)
    steps = [[k, k, k, "x" * 12_000, "0" * 16, [], []] for k in range(1, 101)]
    link.send(AnyFrame(msgspec.to_builtins([job.source, steps, []]), b""))
