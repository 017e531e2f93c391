"""What tests of the cage share: plans, an agent at home, assertions on outcomes, and bare workers."""

from __future__ import annotations

import time

from support.backend_outcomes import assert_failed, assert_finished, assert_stopped, echo_answer
from support.sample_plans import wrap_as_plan
from support.sample_worlds import SampleHome

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.worker_process import WorkerProcess
from codeplan.sandbox.protocol import frames
from codeplan.types import Checkpoint, Failed, Finished, Rejected, Stopped

plan, answer, finished, failed, stopped = wrap_as_plan, echo_answer, assert_finished, assert_failed, assert_stopped


def run(
    body: str,
    home: SampleHome | None = None,
    start_from: int = 1,
    checkpoint: Checkpoint | None = None,
    **limits: float,
) -> Finished | Failed | Stopped | Rejected:
    """Run a plan with this body in a sandbox with these limits."""
    sandbox = Sandbox(Limits(**limits))  # type: ignore[arg-type]  # the tests name fields of the right kinds
    return sandbox.run(plan(body), home or SampleHome(lambda action: None), answer, start_from, checkpoint)


def locked_worker(limits: Limits | None = None, *, setup: bool = True) -> WorkerProcess:
    """A worker without a job, locked down by default."""
    limits = limits or Limits()
    worker = launcher.run_workers.spawn()
    if setup:
        deadline = time.monotonic() + 10
        worker.send(frames.SetupFrame(limits.memory, limits.cpu, limits.wall), deadline)
        assert isinstance(worker.receive(deadline), frames.ReadyFrame)
    return worker
