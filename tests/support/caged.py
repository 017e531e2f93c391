"""What the tests of the cage share: a home with an agent in it, plans, and bare workers."""

from __future__ import annotations

import textwrap
import time

from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.process import WorkerProcess
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.sandbox.limits import Limits
from codeplan.sandbox.protocol import frames
from codeplan.testing.samples.home import SampleHome
from codeplan.types.plan import Checkpoint, Rejected
from codeplan.types.run import Failed, Finished, Stopped


def plan(body: str) -> str:
    """A plan with this body."""
    return "def solution(agent, start_from=1):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def answer(question: str) -> str:
    """A model that repeats."""
    return f"re: {question}"


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


def finished(outcome: object) -> Finished:
    """The outcome, which must be that the plan came to its end."""
    assert isinstance(outcome, Finished), outcome
    return outcome


def failed(outcome: object) -> Failed:
    """The outcome, which must be a failure of the plan."""
    assert isinstance(outcome, Failed), outcome
    return outcome


def stopped(outcome: object, limit: str) -> Stopped:
    """The outcome, which must be a stop at this limit."""
    assert isinstance(outcome, Stopped), outcome
    assert outcome.limit == limit, outcome
    return outcome


def locked_worker(limits: Limits | None = None, *, setup: bool = True) -> WorkerProcess:
    """A worker without a job; locked in, unless told otherwise."""
    limits = limits or Limits()
    worker = launcher.run_workers.spawn()
    if setup:
        deadline = time.monotonic() + 10
        worker.send(frames.SetupFrame(limits.memory, limits.cpu, limits.wall), deadline)
        assert isinstance(worker.receive(deadline), frames.ReadyFrame)
    return worker
