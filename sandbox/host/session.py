"""The host's side of one run. From StartFrame on the host treats the worker as hostile: it verifies every frame and
counts the use of every limit itself.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Final, TypeVar

from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.host.backend import LineCoverage, OutputChunk, Progress, StepEntry
from codeplan.sandbox.host.finished_run import finished
from codeplan.sandbox.host.plan_texts import count_lines, parser_failure, verified_rejection
from codeplan.sandbox.host.run_accounting import LimitExceededError, processor_seconds, require_within
from codeplan.sandbox.host.worker_process import (
    DeadlineExceeded,
    WorkerDisconnected,
    WorkerEnd,
    WorkerKilled,
    WorkerProcess,
)
from codeplan.sandbox.limits import (
    ENTRY_CHECKPOINTS_FACTOR,
    MAX_ARCS,
    MAX_STEPS,
    STOPPING_LIMITS,
    Limits,
    limit_message,
)
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import MAX_DROPPED_BYTES, RETURNED_NAME, CheckpointError, decode
from codeplan.types import Checkpoint, Failed, GiveUp, Outcome, Plan, Rejected, Replan, ResourceUsage, Step, Stopped
from codeplan.untrusted.texts import MAX_REASON_CHARS, one_line

GRACE_SECONDS: Final = 0.1  # the host kills a worker that has not stopped by itself this long after the wall limit
_CHECKPOINT_EXTRA: Final = 1 << 20
_TABLE_EXTRA: Final = MAX_DROPPED_BYTES + (4 << 10)

_T = TypeVar("_T")
_News = TypeVar("_News")


class RunSession:
    """One run, from the job to the outcome: serves the worker's calls and repeats each of the worker's counts.

    ``port`` calls the agent and answers questions. ``on_event`` receives each step and each output, ``on_coverage`` the
    lines that ran; each may be None. A session serves one run.
    """

    def __init__(
        self,
        worker: WorkerProcess,
        plan: Plan,
        port: AgentPort,
        limits: Limits,
        on_event: Callable[[Progress], None] | None,
        on_coverage: Callable[[LineCoverage], None] | None = None,
    ) -> None:
        self._worker, self._plan, self._port, self._limits = worker, plan, port, limits
        self._on_event = on_event
        self._on_coverage = on_coverage
        self._arcs = 0
        self._entries: dict[int, Checkpoint] = {}
        self._entry_bytes = 0
        self._current_step: int | None = None
        self._start_from = 1
        self._lines = count_lines(plan.source)
        self._output: list[str] = []
        self._output_chars = self._calls = self._reads = self._asks = self._entered_steps = 0
        self._started_at = time.monotonic()
        self._untimed_seconds = 0.0
        self._seen = False
        self._end: WorkerEnd | None = None
        worker.set_max_frame(_max_frame_bytes(limits))

    def run(self, job: frames.RunJob) -> Outcome | Rejected:
        """Send the job and serve the run to its end.

        Raises CheckpointError, the exceptions that the agent, ``ask`` or a callback raise for the caller, and
        WorkerKilled if something outside killed the worker before the agent, ``ask`` or a callback was called.
        """
        self._start_from = job.start_from
        try:
            self._worker.send(job, self._deadline())
            return self._await_start(job) or self._serve_requests()
        except LimitExceededError as over:
            return self._stopped(over.limit, over.value, None, None)
        except DeadlineExceeded:
            return self._stopped("wall", self._wall_seconds(), None, None, processor_seconds(self._worker.pid))
        except frames.ProtocolError as error:
            return self._worker_failed(f"the worker broke the protocol: {error}")
        except WorkerDisconnected:
            return self._worker_disconnected()

    def _await_start(self, job: frames.RunJob) -> Rejected | None:
        """Wait for StartFrame. Returns Rejected if the worker had to compile the plan and could not."""
        try:
            frame = self._worker.receive(self._deadline())
        except DeadlineExceeded:
            if job.code:
                raise
            return Rejected(self._plan.source, (parser_failure(),))
        except WorkerDisconnected:
            if job.code or self._find_end().killed:
                raise
            return Rejected(self._plan.source, (parser_failure(),))
        if isinstance(frame, frames.RejectionFrame):
            return verified_rejection(frame, self._plan.source)
        if isinstance(frame, frames.CheckpointErrorFrame):
            raise CheckpointError(one_line(frame.message, MAX_REASON_CHARS))
        return None

    def _serve_requests(self) -> Outcome:
        answered = False
        while True:
            frame = self._worker.receive(self._deadline(), soon=answered)
            answered = False
            if isinstance(frame, frames.CallFrame | frames.ReadFrame | frames.AskFrame):
                self._count_request(frame)
                self._worker.send(self._port.answer(frame, self._run_untimed), self._deadline())
                answered = True
            elif isinstance(frame, frames.OutputFrame):
                self._take_output(frame.text)
            elif isinstance(frame, frames.StepFrame):
                self._take_step(frame)
            elif isinstance(frame, frames.CoverageFrame):
                self._take_coverage(frame)
            elif isinstance(frame, frames.EndFrame):
                return self._finish(frame)

    # ------------------------------------------------------------------ counting

    def _count_request(self, request: frames.CallFrame | frames.ReadFrame | frames.AskFrame) -> None:
        self._seen = True
        if isinstance(request, frames.CallFrame):
            self._calls += 1
            require_within(self._limits, "calls", self._calls)
            require_within(self._limits, "call_bytes", frames.packed_size(request))
        elif isinstance(request, frames.ReadFrame):
            self._reads += 1
            require_within(self._limits, "reads", self._reads)
        else:
            self._asks += 1
            require_within(self._limits, "asks", self._asks)
            require_within(self._limits, "ask_bytes", len(request.question.encode()))

    def _take_output(self, text: str) -> None:
        kept = text[: self._limits.output - self._output_chars]
        self._output_chars += len(text)
        self._output.append(kept)
        if kept:
            self._report(self._on_event, OutputChunk(kept))
        require_within(self._limits, "output", self._output_chars)

    def _take_step(self, entered: frames.StepFrame) -> None:
        known = self._verify_step(entered.step)
        self._entered_steps += 1
        if self._entered_steps > MAX_STEPS:
            raise frames.ProtocolError(f"more than {MAX_STEPS:,} steps were entered")
        checkpoint = self._verify_checkpoint(entered.table)
        self._entry_bytes += frames.packed_size(entered.table)
        if self._entry_bytes > ENTRY_CHECKPOINTS_FACTOR * self._limits.checkpoint_bytes + _CHECKPOINT_EXTRA:
            raise frames.ProtocolError("the checkpoints are larger than they may be")
        self._current_step = entered.step
        self._entries.setdefault(entered.step, checkpoint)  # a step in two blocks resumes at its first block
        title = known.title if known else ""
        self._report(self._on_event, StepEntry(entered.step, title, checkpoint))

    def _verify_step(self, number: int) -> Step | None:
        """The step of this number; None if the plan was not checked. Raises ProtocolError if it cannot come now."""
        known = self._plan.step(number)
        if self._plan.steps and known is None:
            raise frames.ProtocolError(f"the plan has no step {number}")
        if number < self._start_from:
            raise frames.ProtocolError(f"it entered step {number}, but the run starts from step {self._start_from}")
        if known is not None and self._current_step is not None and number <= self._current_step:
            raise frames.ProtocolError(f"it entered step {number} after step {self._current_step}")
        return known

    def _take_coverage(self, covered: frames.CoverageFrame) -> None:
        self._arcs += len(covered.arcs)
        if self._arcs > MAX_ARCS or any(line > self._lines for arc in covered.arcs for line in arc):
            raise frames.ProtocolError("coverage of more lines than the plan has")
        self._report(self._on_coverage, LineCoverage(covered.arcs))

    def _verify_checkpoint(self, table: frames.CheckpointTable) -> Checkpoint:
        """The checkpoint, if it decodes and is no larger than a correct worker's."""
        if frames.packed_size(table) > self._limits.checkpoint_bytes + _TABLE_EXTRA:
            raise frames.ProtocolError("a checkpoint is larger than it may be")
        checkpoint = table.to_checkpoint()
        try:
            decode(checkpoint)
        except CheckpointError as error:
            raise frames.ProtocolError(str(error)) from None
        return checkpoint

    def _verify_returned(self, table: frames.CheckpointTable | None) -> Checkpoint:
        if table is None:
            return Checkpoint()
        if table.names.keys() | table.dropped.keys() != {RETURNED_NAME}:
            raise frames.ProtocolError("it returned something else than one value")
        return self._verify_checkpoint(table)

    # ------------------------------------------------------------------ time and the outside

    def _report(self, callback: Callable[[_News], None] | None, news: _News) -> None:
        """Report to the caller. Afterwards the caller would notice a repetition of the run."""
        if callback is not None:
            self._seen = True
            self._run_untimed(lambda: callback(news))

    def _run_untimed(self, work: Callable[[], _T]) -> _T:
        """Run work of the agent, the model or a callback, whose time does not count."""
        began = time.monotonic()
        try:
            return work()
        finally:
            self._untimed_seconds += time.monotonic() - began

    def _deadline(self) -> float:
        return self._started_at + self._untimed_seconds + self._limits.wall + GRACE_SECONDS

    def _wall_seconds(self) -> float:
        return time.monotonic() - self._started_at - self._untimed_seconds

    # ------------------------------------------------------------------ endings

    def _finish(self, end: frames.EndFrame) -> Outcome:
        if end.step not in (None, self._current_step):
            raise frames.ProtocolError(f"it ended in step {end.step}, which it had not entered")
        line = end.line if end.line is not None and 1 <= end.line <= self._lines else None
        checkpoint = self._verify_checkpoint(end.table) if end.table else None
        self._verify_step_done(end)
        if end.status == "stopped" and end.error in STOPPING_LIMITS:
            return self._stopped(end.error, end.value, end.step, line, end.cpu, checkpoint)
        if checkpoint is None or end.status == "stopped":
            raise frames.ProtocolError("it ended without a checkpoint or by an unknown limit")
        rest = ("".join(self._output), checkpoint, self._entries, self._resource_usage(end.cpu))
        match end.status:
            case "finished":
                return finished(rest[0], self._current_step, *rest[1:], self._verify_returned(end.returned))
            case "replan":
                return Replan(end.step, line, end.message, end.step_done, *rest)
            case "give_up":
                return GiveUp(end.step, line, end.message, *rest)
            case _:
                return Failed(end.step, line, end.error, end.message, *rest)

    def _verify_step_done(self, end: frames.EndFrame) -> None:
        """Raises ProtocolError if the worker claims that a ``replan`` ended a step that has none at its end."""
        if not end.step_done:
            return
        known = self._plan.step(end.step)
        unknown = not self._plan.steps and end.step is not None  # a plan that was not checked
        if end.status != "replan" or not (unknown or (known and known.replan_line == end.line)):
            raise frames.ProtocolError("it ended with a replan that is not at its step's end")

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
        message = limit_message(limit, value, allowed)
        spent = self._resource_usage(processor_seconds(self._worker.pid) if cpu is None else cpu)
        where = step if checkpoint else self._current_step
        output = "".join(self._output)
        return Stopped(limit, value, allowed, where, line, message, output, checkpoint, self._entries, spent)

    def _worker_failed(self, message: str) -> Stopped:
        """The worker died or broke the protocol."""
        output, spent = "".join(self._output), self._resource_usage(processor_seconds(self._worker.pid))
        return Stopped("worker", 0.0, 0.0, self._current_step, None, message, output, None, self._entries, spent)

    def _worker_disconnected(self) -> Stopped:
        """The worker closed its socket without an EndFrame. Raises WorkerKilled if the run can be repeated."""
        end = self._find_end()
        if end.killed and not self._seen:
            raise WorkerKilled(end, had_job=True)
        if end.signal == signal.SIGXCPU:
            return self._stopped("cpu", self._limits.cpu, None, None, self._limits.cpu)
        return self._worker_failed(end.message)

    def _find_end(self) -> WorkerEnd:
        if self._end is None:
            self._end = self._worker.find_end()
        return self._end

    def _resource_usage(self, cpu: float) -> ResourceUsage:
        return ResourceUsage(
            self._wall_seconds(), cpu, min(self._output_chars, self._limits.output), self._calls, self._asks
        )


def _max_frame_bytes(limits: Limits) -> int:
    return max(2 * limits.checkpoint_bytes, limits.output * 4, limits.ask_bytes, limits.call_bytes) + _CHECKPOINT_EXTRA
