"""The host's side of one run. The worker counts as hostile from the moment it says Started: nothing that it says is
believed beyond what it may say, and all that it may use up is counted here.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from os import WIFSIGNALED, WTERMSIG
from typing import Final, TypeVar

from codeplan.sandbox.cage.zygote import UNKNOWN
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.host.process import TimeUp, WorkerGone, WorkerProcess
from codeplan.sandbox.limits import ENTRIES, MOST_ARCS, NAMED, Limits, sentence
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import CheckpointError, decode
from codeplan.sandbox.protocol.progress import Covered, Printed, Progress, StepEntered
from codeplan.sandbox.protocol.table import DROPPED_BYTES
from codeplan.types import Checkpoint, Diagnostic, Failed, Finished, Plan, Rejected, Spent, Stopped

GRACE_SECONDS: Final = 0.1
"""How long after the wall limit a worker is killed that has not stopped by itself."""

MOST_STEPS: Final = 1_000
_CHECKPOINT_EXTRA: Final = 1 << 20
_TABLE_EXTRA: Final = DROPPED_BYTES + (4 << 10)
_CLOSING_SECONDS: Final = 0.2
_CPU_CLOCK: Final = 2


_T = TypeVar("_T")


class _Over(Exception):
    """A limit that the host found passed."""

    def __init__(self, limit: str, value: float) -> None:
        self.limit, self.value = limit, value


class Session:
    """One run, from the job to the outcome."""

    def __init__(
        self,
        worker: WorkerProcess,
        plan: Plan,
        port: AgentPort,
        limits: Limits,
        listen: Callable[[Progress], None] | None,
        cover: Callable[[Covered], None] | None = None,
    ) -> None:
        self._worker, self._plan, self._port, self._limits = worker, plan, port, limits
        self._listen = listen or (lambda progress: None)
        self._cover = cover
        self._arcs = 0
        self._entries: dict[int, Checkpoint] = {}
        self._entry_bytes = 0
        self._step: int | None = None
        self._output: list[str] = []
        self._printed = self._calls = self._reads = self._asks = self._entered = 0
        self._began = time.monotonic()
        self._elsewhere = 0.0
        worker.accept(_longest_frame(limits))

    def run(self, job: frames.RunJob) -> Finished | Failed | Stopped | Rejected:
        """Send the job and see it through. Raises CheckpointError, and what the agent, ``ask`` or the listener raise
        for the caller.
        """
        try:
            self._worker.send(job, self._deadline())
            refused = self._begin(job.checkpoint)
            return refused or self._converse()
        except _Over as over:
            return self._stopped(over.limit, over.value, None, None)
        except TimeUp:
            return self._stopped("wall", self._wall(), None, None, self._cpu())
        except frames.ProtocolError as error:
            return self._lost(f"the worker broke the protocol: {error}")
        except WorkerGone:
            return self._gone()

    def _begin(self, checkpoint: Checkpoint | None) -> Rejected | None:
        """What the worker says before the plan's code runs; a plan that it cannot even compile is refused."""
        try:
            said = self._worker.receive(self._deadline())
        except (TimeUp, WorkerGone):
            return Rejected(self._plan.source, (gave_up(),))
        if isinstance(said, frames.Refused):
            return Rejected(self._plan.source, tuple(said.diagnostics))
        if isinstance(said, frames.Damaged) and checkpoint:
            raise CheckpointError(said.message)
        if not isinstance(said, frames.Started):
            raise frames.ProtocolError(f"a {type(said).__name__} before the start")
        return None

    def _converse(self) -> Finished | Failed | Stopped:
        while True:
            said = self._worker.receive(self._deadline())
            if isinstance(said, frames.Call | frames.Read | frames.Ask):
                self._count(said)
                self._worker.send(self._port.answer(said, self._outside), self._deadline())
            elif isinstance(said, frames.Printed):
                self._print(said.text)
            elif isinstance(said, frames.Entered):
                self._enter(said)
            elif isinstance(said, frames.Covered):
                self._covered(said)
            elif isinstance(said, frames.End):
                return self._end(said)
            else:
                raise frames.ProtocolError(f"a {type(said).__name__} during the run")

    # ------------------------------------------------------------------ counting

    def _count(self, request: frames.Call | frames.Read | frames.Ask) -> None:
        if isinstance(request, frames.Call):
            self._calls += 1
            self._allow("calls", self._calls)
            self._allow("call_bytes", frames.size(request))
        elif isinstance(request, frames.Read):
            self._reads += 1
            self._allow("reads", self._reads)
        else:
            self._asks += 1
            self._allow("asks", self._asks)
            self._allow("ask_bytes", len(request.question.encode()))

    def _allow(self, limit: str, value: int) -> None:
        if value > getattr(self._limits, limit):
            raise _Over(limit, value)

    def _print(self, text: str) -> None:
        kept = text[: self._limits.output - self._printed]
        self._printed += len(text)
        self._output.append(kept)
        if kept:
            self._outside(lambda: self._listen(Printed(kept)))
        self._allow("output", self._printed)

    def _enter(self, entered: frames.Entered) -> None:
        known = self._plan.step(entered.step)
        if self._plan.steps and known is None:
            raise frames.ProtocolError(f"the plan has no step {entered.step}")
        self._entered += 1
        if self._entered > MOST_STEPS:
            raise frames.ProtocolError(f"more than {MOST_STEPS:,} steps were entered")
        checkpoint = self._taken(entered.table)
        self._entry_bytes += frames.size(entered.table)
        if self._entry_bytes > ENTRIES * self._limits.checkpoint_bytes + _CHECKPOINT_EXTRA:
            raise frames.ProtocolError("the checkpoints are larger than they may be")
        self._step = entered.step
        self._entries.setdefault(entered.step, checkpoint)  # a step in two blocks is gone back to where it first began
        title = known.title if known else ""
        self._outside(lambda: self._listen(StepEntered(entered.step, title, checkpoint)))

    def _covered(self, covered: frames.Covered) -> None:
        cover, last = self._cover, self._plan.source.count("\n") + 1
        if cover is None:
            raise frames.ProtocolError("lines that ran, which nobody asked for")
        self._arcs += len(covered.arcs)
        if self._arcs > MOST_ARCS or any(line > last for arc in covered.arcs for line in arc):
            raise frames.ProtocolError("more lines ran than the plan has")
        self._outside(lambda: cover(Covered(covered.arcs)))

    def _taken(self, table: frames.Table) -> Checkpoint:
        """The checkpoint, where it is whole, and no larger than a worker that keeps to its limits makes them."""
        if frames.size(table) > self._limits.checkpoint_bytes + _TABLE_EXTRA:
            raise frames.ProtocolError("a checkpoint is larger than it may be")
        checkpoint = table.checkpoint()
        try:
            decode(checkpoint)
        except CheckpointError as error:
            raise frames.ProtocolError(str(error)) from None
        return checkpoint

    # ------------------------------------------------------------------ time

    def _outside(self, work: Callable[[], _T]) -> _T:
        """Do what the agent, the model or the listener does: its time is not the plan's."""
        began = time.monotonic()
        try:
            return work()
        finally:
            self._elsewhere += time.monotonic() - began

    def _deadline(self) -> float:
        return self._began + self._elsewhere + self._limits.wall + GRACE_SECONDS

    def _wall(self) -> float:
        return time.monotonic() - self._began - self._elsewhere

    def _cpu(self) -> float:
        """Seconds of processor time that the worker has used so far, as the kernel counts; 0 where it does not say."""
        try:
            return time.clock_gettime((~self._worker.pid << 3) | _CPU_CLOCK)
        except (OSError, OverflowError):
            return 0.0

    # ------------------------------------------------------------------ endings

    def _end(self, end: frames.End) -> Finished | Failed | Stopped:
        if end.step not in (None, self._step):
            raise frames.ProtocolError(f"it ended in step {end.step}, which was not the one it had entered")
        line = end.line if end.line is not None and 1 <= end.line <= self._plan.source.count("\n") + 1 else None
        checkpoint = self._taken(end.table) if end.table else None
        if end.status == "stopped" and end.error in NAMED:
            return self._stopped(end.error, end.value, end.step, line, end.cpu, checkpoint)
        if checkpoint is None or end.status == "stopped":
            raise frames.ProtocolError("it ended without a checkpoint, or by a limit that there is not")
        spent = self._spent(end.cpu)
        output = "".join(self._output)
        if end.status == "finished":
            return Finished(output, self._step, checkpoint, self._entries, spent)
        return Failed(end.step, line, end.error, end.message, output, checkpoint, self._entries, spent)

    def _stopped(
        self,
        limit: str,
        value: float,
        step: int | None,
        line: int | None,
        cpu: float | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Stopped:
        allowed = float(getattr(self._limits, limit))
        message = sentence(limit, value, allowed)
        spent = self._spent(self._cpu() if cpu is None else cpu)
        where = step if checkpoint else self._step
        output = "".join(self._output)
        return Stopped(limit, value, allowed, where, line, message, output, checkpoint, self._entries, spent)

    def _lost(self, message: str) -> Stopped:
        """The worker died, or broke the protocol."""
        output, spent = "".join(self._output), self._spent(self._cpu())
        return Stopped("worker", 0.0, 0.0, self._step, None, message, output, None, self._entries, spent)

    def _gone(self) -> Stopped:
        """The worker closed its socket without an End: find out what ended it."""
        if not self._worker.has_ended(_CLOSING_SECONDS):
            return self._lost("the worker closed its socket")
        status = launcher.runs.status(self._worker)
        if status == UNKNOWN or not WIFSIGNALED(status):
            return self._lost("the worker ended without a word")
        if WTERMSIG(status) == signal.SIGXCPU:
            return self._stopped("cpu", self._limits.cpu, None, None, self._limits.cpu)
        return self._lost(_DEATHS.get(WTERMSIG(status), f"the worker was killed by signal {WTERMSIG(status)}"))

    def _spent(self, cpu: float) -> Spent:
        return Spent(self._wall(), cpu, min(self._printed, self._limits.output), self._calls, self._asks)


_DEATHS: Final = {
    int(signal.SIGSYS): "the worker was killed: it made a system call that the sandbox forbids",
    int(signal.SIGSEGV): "the worker crashed: the plan built a value that the interpreter cannot handle",
    int(signal.SIGABRT): "the worker crashed: the interpreter gave up",
    int(signal.SIGKILL): "the worker was killed from outside; the machine may be short of memory",
}


def gave_up() -> Diagnostic:
    """For a source that the parser died of, or did not come to an end with."""
    return Diagnostic(0, 0, "size", "the parser gave up on this plan; write it shorter and flatter")


def _longest_frame(limits: Limits) -> int:
    return max(limits.checkpoint_bytes, limits.output * 4, limits.ask_bytes, limits.call_bytes) + _CHECKPOINT_EXTRA
