"""Checks, analyses and runs plans in locked worker processes.

From StartFrame on the host treats the worker of a run as hostile: it verifies every frame, and its RunAccount counts
the use of every limit that a host can count.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final

from codeplan.cancellation import POLL_SECONDS, raise_if_cancelled
from codeplan.errors import CodeplanError, Diverged, SandboxError, TraceFailure
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.agent_port import AgentPort, Decoded, LimitExceededError, RunAccount, processor_seconds
from codeplan.sandbox.host.backend import Capability, LineCoverage, RunRequest
from codeplan.sandbox.host.plan_texts import PlanTexts, count_lines, find_unreadable, parser_failure, verified_rejection
from codeplan.sandbox.host.worker_process import (
    DeadlineExceeded,
    KilledAgain,
    WorkerDisconnected,
    WorkerEnd,
    WorkerKilled,
    WorkerProcess,
    repeat_if_killed,
)
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import MAX_DROPPED_BYTES, RETURNED_NAME, CheckpointError, decode
from codeplan.sandbox.protocol.frames import Layer
from codeplan.sandbox.protocol.limits import ENTRY_CHECKPOINTS_FACTOR, MAX_ARCS, MAX_STEPS, STOPPING_LIMITS, Limits
from codeplan.types import Outcome, Plan, Rejected, ResourceUsage, Stopped
from codeplan.untrusted.texts import MAX_REASON_CHARS, one_line

GRACE_SECONDS: Final = 0.1  # the host kills a worker that has not stopped by itself this long after the wall limit
_CHECKPOINT_EXTRA: Final = 1 << 20
_TABLE_EXTRA: Final = MAX_DROPPED_BYTES + (4 << 10)


class RunSession:
    """One run in a worker, from the job to the outcome: serves its calls and repeats each of its counts in ``account``.

    ``on_coverage`` receives the lines that ran; it may be None. A session serves one run.
    """

    def __init__(
        self, worker: WorkerProcess, account: RunAccount, on_coverage: Callable[[LineCoverage], None] | None = None
    ) -> None:
        self._worker, self._account, self._on_coverage = worker, account, on_coverage
        self._plan, self._limits, self._begun = account.plan, account.limits, account.port.begun
        self._arcs = self._entry_bytes = self._entered_steps = 0
        self._start_from = 1
        self._lines = count_lines(self._plan.source)
        self._started_at = time.monotonic()
        self._ends_at = self._started_at + self._limits.wall + GRACE_SECONDS  # later by what does not count as its time
        self._end: WorkerEnd | None = None
        worker.set_max_frame(_max_frame_bytes(self._limits))

    def run(self, job: frames.RunJob) -> Outcome | Rejected:
        """Send the job and serve the run to its end.

        Raises CheckpointError, the exceptions that the agent, ``ask`` or a callback raise for the caller, and
        WorkerKilled if something outside killed the worker before the agent, ``ask`` or a callback was called.
        """
        self._start_from = job.start_from
        try:
            self._worker.send(job, self._ends_at)
            return self._await_start(job) or self._serve_requests()
        except LimitExceededError as over:
            return self._account.stopped(over.limit, over.value, None, self._usage())
        except DeadlineExceeded:
            return self._account.stopped("wall", self._wall_seconds(), None, self._usage())
        except frames.ProtocolError as error:
            return self._account.lost(f"the worker broke the protocol: {error}", None, self._usage())
        except WorkerDisconnected:
            return self._worker_disconnected()

    def _await_start(self, job: frames.RunJob) -> Rejected | None:
        """Wait for StartFrame. Returns Rejected if the worker had to compile the plan and could not."""
        try:
            frame = self._worker.receive(self._ends_at)
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
        reply: frames.HostFrame | None = None
        while True:
            deadline = self._ends_at + self._account.untimed_seconds
            if reply is not None:
                self._worker.send(reply, deadline)
            frame = self._worker.receive(deadline, soon=reply is not None)
            reply = None
            if isinstance(frame, frames.CallFrame | frames.BeginFrame) and (frame.line or 0) > self._lines:
                raise frames.ProtocolError(f"a call of line {frame.line:,}, but the plan has {self._lines:,}")
            if isinstance(frame, frames.CallFrame | frames.ReadFrame | frames.AskFrame):
                if self._begun.begun and isinstance(frame, frames.CallFrame):
                    self._begun.require_none("it made a call")
                reply = self._account.answer(frame)
            elif isinstance(frame, frames.BeginFrame):
                self._account.begin(frame)
            elif isinstance(frame, frames.WaitFrame):
                reply = self._wait(frame)
            elif isinstance(frame, frames.CancelFrame):
                reply = self._account.port.cancel(frame.number)
            elif isinstance(frame, frames.OutputFrame):
                self._account.take_output(frame.text)
                self._account.report_output()
            elif isinstance(frame, frames.StepFrame):
                self._take_step(frame)
            elif isinstance(frame, frames.CoverageFrame):
                self._take_coverage(frame)
            elif isinstance(frame, frames.EndFrame):
                return self._finish(frame)

    def _wait(self, wait: frames.WaitFrame) -> frames.AnswerFrame:
        """The next answer of an open call; without one, the end of the plan's sleep, which counts as its time.

        Raises: ProtocolError: it waits for nothing. DeadlineExceeded.
        """
        if self._begun.count:
            return self._account.next_answer(wait.seconds)
        if wait.seconds is None:
            raise frames.ProtocolError("it waited for an answer, but no call was open")
        wake = time.monotonic() + wait.seconds
        while (left := wake - time.monotonic()) > 0:
            if time.monotonic() > self._ends_at + self._account.untimed_seconds:
                raise DeadlineExceeded
            raise_if_cancelled()
            time.sleep(min(left, POLL_SECONDS))
        return frames.AnswerFrame(0, wait.seconds)

    # ------------------------------------------------------------------ what the worker reports

    def _take_step(self, entered: frames.StepFrame) -> None:
        self._verify_step(entered.step)
        self._begun.require_none("it entered a step")
        self._entered_steps += 1
        if self._entered_steps > MAX_STEPS:
            raise frames.ProtocolError(f"more than {MAX_STEPS:,} steps were entered")
        checkpoint = self._verify_checkpoint(entered.table).checkpoint
        self._entry_bytes += frames.packed_size(entered.table)
        if self._entry_bytes > ENTRY_CHECKPOINTS_FACTOR * self._limits.checkpoint_bytes + _CHECKPOINT_EXTRA:
            raise frames.ProtocolError("the checkpoints are larger than they may be")
        self._account.enter_step(entered.step, checkpoint)

    def _verify_step(self, number: int) -> None:
        """Raises ProtocolError if the step of this number cannot come now."""
        known, current = self._plan.step(number), self._account.step
        if self._plan.steps and known is None:
            raise frames.ProtocolError(f"the plan has no step {number}")
        if number < self._start_from:
            raise frames.ProtocolError(f"it entered step {number}, but the run starts from step {self._start_from}")
        if known is not None and current is not None and number <= current:
            raise frames.ProtocolError(f"it entered step {number} after step {current}")

    def _take_coverage(self, covered: frames.CoverageFrame) -> None:
        self._arcs += len(covered.arcs)
        if self._arcs > MAX_ARCS or any(line > self._lines for arc in covered.arcs for line in arc):
            raise frames.ProtocolError("coverage of more lines than the plan has")
        self._account.report(self._on_coverage, LineCoverage(covered.arcs))

    def _verify_checkpoint(self, table: frames.CheckpointTable) -> Decoded:
        """The checkpoint and its values, if it decodes and is no larger than a correct worker's."""
        if frames.packed_size(table) > self._limits.checkpoint_bytes + _TABLE_EXTRA:
            raise frames.ProtocolError("a checkpoint is larger than it may be")
        checkpoint = table.to_checkpoint()
        try:
            return Decoded(checkpoint, decode(checkpoint))
        except CheckpointError as error:
            raise frames.ProtocolError(str(error)) from None

    def _verify_returned(self, table: frames.CheckpointTable | None) -> Decoded:
        if table is None:
            return Decoded()
        if table.names.keys() | table.dropped.keys() != {RETURNED_NAME}:
            raise frames.ProtocolError("it returned something else than one value")
        return self._verify_checkpoint(table)

    # ------------------------------------------------------------------ time

    def _wall_seconds(self) -> float:
        return time.monotonic() - self._started_at - self._account.untimed_seconds

    def _usage(self, cpu: float | None = None) -> ResourceUsage:
        """What the run used; the kernel says how much processor time, unless the worker did."""
        seconds = processor_seconds(self._worker.pid) if cpu is None else cpu
        return self._account.usage(self._wall_seconds(), seconds)

    # ------------------------------------------------------------------ endings

    def _finish(self, end: frames.EndFrame) -> Outcome:
        account = self._account
        if end.step not in (None, account.step):
            raise frames.ProtocolError(f"it ended in step {end.step}, which it had not entered")
        line = end.line if end.line is not None and 1 <= end.line <= self._lines else None
        saved = self._verify_checkpoint(end.table) if end.table else None
        checkpoint = saved and saved.checkpoint
        self._verify_step_done(end)
        usage = self._usage(end.cpu)
        if end.status == "stopped" and end.error in STOPPING_LIMITS:
            return account.stopped(end.error, end.value, line, usage, checkpoint, end.step)
        if saved is None or checkpoint is None or end.status == "stopped":
            raise frames.ProtocolError("it ended without a checkpoint or by an unknown limit")
        if end.status == "finished":
            return account.finished(saved, self._verify_returned(end.returned), usage)
        if end.status == "failed":
            return account.failed(end.step, line, end.error, end.message, checkpoint, usage)
        return account.ended_early(end.status, end.step, line, end.message, end.step_done, checkpoint, usage)

    def _verify_step_done(self, end: frames.EndFrame) -> None:
        """Raises ProtocolError if the worker claims that a ``replan`` ended a step that has none at its end."""
        if not end.step_done:
            return
        known = self._plan.step(end.step)
        unknown = not self._plan.steps and end.step is not None  # a plan that was not checked
        if end.status != "replan" or not (unknown or (known and known.replan_line == end.line)):
            raise frames.ProtocolError("it ended with a replan that is not at its step's end")

    def _worker_disconnected(self) -> Stopped:
        """The worker closed its socket without an EndFrame. Raises WorkerKilled if the run can be repeated."""
        end = self._find_end()
        if end.killed and not self._account.was_noticed:
            raise WorkerKilled(end, had_job=True)
        if end.signal == signal.SIGXCPU:
            return self._account.stopped("cpu", self._limits.cpu, None, self._usage(self._limits.cpu))
        return self._account.lost(end.message, None, self._usage())

    def _find_end(self) -> WorkerEnd:
        if self._end is None:
            self._end = self._worker.find_end()
        return self._end


def _max_frame_bytes(limits: Limits) -> int:
    return max(2 * limits.checkpoint_bytes, limits.output * 4, limits.ask_bytes, limits.call_bytes) + _CHECKPOINT_EXTRA


_START_SECONDS: Final = 30.0


class CagedWorkers:
    """Starts locked workers. Their methods raise SandboxError if the cage lacks a layer, unless ``allow_weak``."""

    def __init__(self, limits: Limits, *, allow_weak: bool, imports: tuple[str, ...] = ()) -> None:
        self._limits = limits
        self._imports = imports
        self._allow_weak = allow_weak

    @property
    def _launchers(self) -> launcher.Workers:
        return launcher.workers_for(self._imports)

    def check_worker(self) -> WorkerProcess:
        """A locked worker that waits for a CheckJob."""
        self._launchers.runs.start()  # a run usually follows a check
        return self._open_worker(self._launchers.checks)

    def analysis_worker(self) -> WorkerProcess:
        """A locked worker that waits for an AnalysisJob."""
        return self._open_worker(self._launchers.analyses)

    def run_worker(self) -> WorkerProcess:
        """A locked worker that waits for a RunJob."""
        return self._open_worker(self._launchers.runs)

    def _open_worker(self, workers: launcher.WorkerLauncher) -> WorkerProcess:
        """A locked worker that has seen no job yet."""
        worker = workers.spawn()
        try:
            missing = lacking(_lock_down(worker, self._limits))
            if missing and not self._allow_weak:
                raise SandboxError(_missing_layers_message(missing))
        except BaseException:
            worker.kill()
            raise
        return worker


class LockedBackend:
    """Runs plans in locked worker processes, which also check them. Cheap to create, thread-safe, nothing to close.

    ``limits`` holds for each run. The workers' parent process starts at first use, and all sandboxes of this process
    share it; those with the same ``imports`` share another, which has loaded these packages. If this machine lacks a
    layer of the cage, every method raises SandboxError, unless ``allow_weak``.
    """

    differences: Mapping[Capability, str] = {}

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008  # frozen
        *,
        allow_weak: bool = False,
        imports: tuple[str, ...] = (),
    ) -> None:
        self.limits = limits
        self._allow_weak = allow_weak
        self._workers = CagedWorkers(limits, allow_weak=allow_weak, imports=imports)
        self.texts = PlanTexts(limits, self._workers)

    @cached_property
    def missing_layers(self) -> tuple[str, ...]:
        """The necessary layers that are missing and that ``allow_weak`` accepts; empty if all are there."""
        return tuple(layer.name for layer in lacking(probe_layers())) if self._allow_weak else ()

    def run(self, run: RunRequest) -> Outcome | Rejected:
        """Run a plan; see ``Backend.run``. A plan given as text is compiled without the check of its structure.

        Raises SandboxError if the cage cannot be built.
        """
        plan = Plan(run.plan) if isinstance(run.plan, str) else run.plan
        refusal = find_unreadable(plan.source, self.limits)
        if refusal is not None:
            return Rejected(plan.source, (refusal,))
        port, code, cover = (
            AgentPort(run.agent, run.ask),
            self.texts.codes.get(plan.source),
            run.on_coverage is not None,
        )
        names = (port.methods, port.attributes)
        job = frames.RunJob(
            plan.source,
            *names,
            run.start_from,
            run.checkpoint,
            run.seed,
            self.limits,
            coverage=cover,
            code=code,
            kept=plan.kept,
            started=time.time() if run.started is None else run.started,
            waits=run.waits,
        )
        _verify_run_job(job)

        def attempt() -> Outcome | Rejected:
            worker = self._workers.run_worker()
            account = RunAccount(plan, port, self.limits, run.on_event)
            try:
                outcome = RunSession(worker, account, run.on_coverage).run(job)
            except BaseException as error:
                worker.kill(wait=False)
                recorded = isinstance(error, CodeplanError) and not isinstance(error, Diverged | TraceFailure)
                account.end_calls(wait=recorded)
                raise
            finally:
                worker.kill(wait=False)  # the caller need not wait until the kernel has freed the worker's memory
            account.end_calls(wait=True)
            return outcome

        try:
            return repeat_if_killed(attempt, "a run")
        except KilledAgain as killed:
            if not killed.had_job:
                raise
            return Stopped("worker", 0.0, 0.0, None, None, killed.end.message, "", None, {}, ResourceUsage())


def probe_layers() -> tuple[Layer, ...]:
    """The layers of the cage on this machine, found by locking a worker. Raises SandboxError if none can start."""

    def attempt() -> tuple[Layer, ...]:
        with launcher.run_workers.spawn() as worker:
            return tuple(_lock_down(worker, Limits()))

    return repeat_if_killed(attempt, "a probe")


def _lock_down(worker: WorkerProcess, limits: Limits) -> list[Layer]:
    deadline = time.monotonic() + _START_SECONDS
    try:
        worker.send(frames.SetupFrame(limits.memory, limits.cpu, limits.wall), deadline)
        ready = worker.receive(deadline)
    except DeadlineExceeded:
        raise SandboxError(
            f"the sandbox's worker was not ready within {_START_SECONDS:g} s; the machine is overloaded"
        ) from None
    except WorkerDisconnected:
        end = worker.find_end()
        if end.killed:
            raise WorkerKilled(end, had_job=False) from None
        raise SandboxError(f"the sandbox's worker died during its lockdown: {end.message}") from None
    except frames.ProtocolError as error:
        raise SandboxError(f"the sandbox's worker died during its lockdown ({type(error).__name__})") from None
    assert isinstance(ready, frames.ReadyFrame), "the conversation allows no other answer"
    return ready.layers


def lacking(layers: Iterable[Layer]) -> list[Layer]:
    """The necessary layers that this machine lacks."""
    return [layer for layer in layers if not layer.present and not layer.optional]


def _missing_layers_message(missing: list[Layer]) -> str:
    named = ", ".join(f"{layer.name} ({layer.detail})" for layer in missing)
    return f"this machine's cage lacks {named}; to run plans without it, pass allow_weak=True or --allow-weak-sandbox"


def _verify_run_job(job: frames.RunJob) -> None:
    """Raise CheckpointError for a checkpoint that a worker could not unpack."""
    try:
        frames.unpack_host_frame(frames.pack(job)[frames.HEADER_BYTES :])
    except (TypeError, ValueError, OverflowError, RecursionError, frames.ProtocolError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None
