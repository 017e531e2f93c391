"""Checks, analyses and runs plans in locked worker processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from codeplan.agent_api import agent_api
from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host import analysis, launcher
from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.host.code_cache import CodeCache
from codeplan.sandbox.host.mending import MendedPlan, is_mendable, mending_arguments, verified_mending
from codeplan.sandbox.host.plan_verification import broken_check, parser_failure, verified_plan, verified_rejection
from codeplan.sandbox.host.reply_merging import NOT_MERGED, MergedReply, verified_merging
from codeplan.sandbox.host.session import RunSession
from codeplan.sandbox.host.worker_end import WorkerKilled, repeat_if_killed
from codeplan.sandbox.host.worker_process import DeadlineExceeded, WorkerDisconnected, WorkerProcess
from codeplan.sandbox.host.worker_slots import computing_slots
from codeplan.sandbox.limits import MAX_CODE_BYTES, MAX_OUTLINE_BYTES, Limits
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.cage_layers import Layer
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.sandbox.protocol.run_progress import LineCoverage, OutputChunk, Progress, StepEntry
from codeplan.types import AgentApi, Checkpoint, Diagnostic, Outcome, Plan, Rejected, ResourceUsage, Stopped
from codeplan.untrusted.values import in_quotes

__all__ = ["OutputChunk", "Progress", "Sandbox", "StepEntry", "probe_layers"]

_T = TypeVar("_T")

_START_SECONDS: Final = 30.0
_CHECK_FRAME_EXTRA: Final = MAX_CODE_BYTES + MAX_OUTLINE_BYTES + (64 << 10)


class Sandbox:
    """Runs untrusted plans. Cheap to create, thread-safe, nothing to close.

    ``limits`` holds for each run. The workers' parent process starts at first use, and all sandboxes of this process
    share it. If this machine lacks a layer of the cage, every method raises SandboxError, unless ``allow_weak``.
    """

    def __init__(self, limits: Limits = Limits(), *, allow_weak: bool = False) -> None:  # noqa: B008  # frozen
        self.limits = limits
        self._allow_weak = allow_weak
        self._missing_layers: tuple[str, ...] | None = None
        self._code_cache = CodeCache()

    @property
    def missing_layers(self) -> tuple[str, ...]:
        """The necessary layers that are missing and that ``allow_weak`` accepts; empty if all are there."""
        if not self._allow_weak:
            return ()
        if self._missing_layers is None:
            self._missing_layers = tuple(layer.name for layer in _lacking(probe_layers()))
        return self._missing_layers

    def check(self, source: str, api: AgentApi | type, *, fixes: bool = True) -> Plan | Rejected:
        """Check ``source`` for an agent with this API, given as data or as the agent's class. Nothing of it runs.

        What has only one meaning is mended, unless ``fixes`` is false: the result has the mended source and its fixes.

        Raises SandboxError if the cage cannot be built.
        """
        described = agent_api(api) if isinstance(api, type) else api
        found = self._check(source, described)
        if not fixes or not is_mendable(found):
            return found
        mended = self._mend(source, described)
        if mended is None:
            return found
        return replace(self._check(mended.source, described), fixes=mended.to_fixes())

    def _check(self, source: str, api: AgentApi) -> Plan | Rejected:
        refusal = _find_unreadable(source, self.limits)
        if refusal is not None:
            return Rejected(source, (refusal,))
        job = frames.CheckJob(source, api)
        launcher.run_workers.start()  # most checked plans run next

        def attempt() -> Plan | Rejected:
            with computing_slots.take(), self._open_worker(launcher.check_workers) as worker:
                return self._exchange_check(worker, job)

        return _repeat(attempt, "a check")

    def _mend(self, source: str, api: AgentApi) -> MendedPlan | None:
        """The plan after its fixes; None if nothing can be fixed, or if the analysis fails on this source."""
        try:
            return verified_mending(self.analyse("mend", source, mending_arguments(api)))
        except SandboxError:
            return None

    def merge_reply(self, reply: str, before: str) -> MergedReply | Rejected | None:
        """Merge the code of a reply into the plan ``before``, if it holds only some steps; None if it is a whole plan.

        Rejected if the reply is not Python, or if its steps have no readable plan to belong to.
        """
        if any(_find_unreadable(text, self.limits) for text in (reply, before)):
            return None
        try:
            return verified_merging(self.analyse("merge-reply", reply, {"before": before}), reply)
        except SandboxError:
            return Rejected(reply, (NOT_MERGED,))

    def analyse(self, topic: str, source: str, arguments: Mapping[str, Any] = {}) -> Any | Rejected:
        """Run the analysis ``topic`` on a plan's text and return plain data; Rejected if the text is not Python.

        ``codeplan.sandbox.analysis.topics`` lists the topics; ``arguments`` is plain data. A worker reads the text;
        nothing of it runs.

        Raises UsageError if the topic is unknown or the arguments do not fit, SandboxError if the analysis fails.
        """
        refusal = _find_unreadable(source, self.limits)
        if refusal is not None:
            return Rejected(source, (refusal,))
        job = analysis.build_job(topic, source, arguments)

        def attempt() -> Any | Rejected:
            with computing_slots.take(), self._open_worker(launcher.analysis_workers) as worker:
                return analysis.run_analysis(worker, job, self.limits)

        return _repeat(attempt, "an analysis")

    def run(
        self,
        plan: Plan | str,
        agent: object,
        ask: Callable[[str], str],
        start_from: int = 1,
        checkpoint: Checkpoint | None = None,
        *,
        on_event: Callable[[Progress], None] | None = None,
        seed: int = 0,
        on_coverage: Callable[[LineCoverage], None] | None = None,
    ) -> Outcome | Rejected:
        """Run a plan from step ``start_from`` with the variables of ``checkpoint``.

        The plan reaches the public methods and attributes of ``agent``, and ``ask`` as ``ask_llm``; ``seed`` seeds its
        random numbers. ``on_event`` receives each step and each piece of output at once. ``on_coverage`` receives the
        lines that run; it slows the plan down. A plan given as text is compiled without the check of its structure, and
        Rejected if it does not compile. Exceptions of codeplan that ``agent`` or ``ask`` raise pass through, except
        AgentError.

        Raises SandboxError if the cage cannot be built, CheckpointError if the checkpoint is damaged, UsageError if an
        argument is wrong.
        """
        plan = Plan(plan) if isinstance(plan, str) else plan
        refusal = _find_unreadable(plan.source, self.limits)
        if refusal is not None:
            return Rejected(plan.source, (refusal,))
        port, code, cover = AgentPort(agent, ask), self._code_cache.get(plan.source), on_coverage is not None
        names = (port.methods, port.attributes)
        job = frames.RunJob(plan.source, *names, start_from, checkpoint, seed, self.limits, cover, code)
        _verify_run_job(job)

        def attempt() -> Outcome | Rejected:
            with self._open_worker(launcher.run_workers) as worker:
                return RunSession(worker, plan, port, self.limits, on_event, on_coverage).run(job)

        try:
            return repeat_if_killed(attempt)
        except WorkerKilled as killed:
            if not killed.had_job:
                raise _killed_again("a run", killed) from None
            return Stopped("worker", 0.0, 0.0, None, None, str(killed), "", None, {}, ResourceUsage())

    def _exchange_check(self, worker: WorkerProcess, job: frames.CheckJob) -> Plan | Rejected:
        deadline = time.monotonic() + self.limits.wall
        worker.set_max_frame(_CHECK_FRAME_EXTRA + self.limits.source_bytes)
        try:
            worker.send(job, deadline)
            reply = worker.receive(deadline)
            return self._verify_check(reply, job.source)
        except DeadlineExceeded:
            return Rejected(job.source, (parser_failure(),))
        except WorkerDisconnected:
            end = worker.find_end()
            if end.killed:
                raise WorkerKilled(end, had_job=True) from None
            return Rejected(job.source, (parser_failure(),))
        except frames.ProtocolError as error:
            return Rejected(job.source, (broken_check(error),))

    def _verify_check(self, reply: frames.WorkerFrame, source: str) -> Plan | Rejected:
        if isinstance(reply, frames.RejectionFrame):
            return verified_rejection(reply, source)
        assert isinstance(reply, frames.AcceptanceFrame), "the conversation allows no other answer"
        plan = verified_plan(reply.plan, source)
        if _find_unreadable(plan.source, self.limits) is not None:
            raise frames.ProtocolError("the repaired plan is larger than a plan may be")
        if plan.source == source and reply.code:  # otherwise the code could belong to any plan
            self._code_cache.store(source, reply.code)
        return plan

    def _open_worker(self, workers: launcher.WorkerLauncher) -> WorkerProcess:
        """A locked worker that has seen no job yet."""
        worker = workers.spawn()
        try:
            missing = _lacking(_lock_down(worker, self.limits))
            if missing and not self._allow_weak:
                raise SandboxError(_missing_layers_message(missing))
        except BaseException:
            worker.kill()
            raise
        return worker


def probe_layers() -> tuple[Layer, ...]:
    """The layers of the cage on this machine, found by locking a worker. Raises SandboxError if none can start."""

    def attempt() -> tuple[Layer, ...]:
        with launcher.run_workers.spawn() as worker:
            return tuple(_lock_down(worker, Limits()))

    return _repeat(attempt, "a probe")


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


def _lacking(layers: Iterable[Layer]) -> list[Layer]:
    """The necessary layers that this machine lacks."""
    return [layer for layer in layers if not layer.present and not layer.optional]


def _repeat(attempt: Callable[[], _T], what: str) -> _T:
    """The result of an attempt whose worker was not killed. Raises SandboxError if too many were."""
    try:
        return repeat_if_killed(attempt)
    except WorkerKilled as killed:
        raise _killed_again(what, killed) from None


def _killed_again(what: str, killed: WorkerKilled) -> SandboxError:
    return SandboxError(f"the sandbox's workers for {what} are killed again and again: {killed}")


def _missing_layers_message(missing: list[Layer]) -> str:
    named = ", ".join(f"{layer.name} ({layer.detail})" for layer in missing)
    return f"this machine's cage lacks {named}; to run plans without it, pass allow_weak=True or --allow-weak-sandbox"


def _verify_run_job(job: frames.RunJob) -> None:
    """Raise UsageError for a wrong number, CheckpointError for a checkpoint that a worker could not unpack."""
    for name, value in {"start_from": job.start_from, "seed": job.seed}.items():
        if type(value) is not int or not -(2**63) <= value < 2**63:
            raise UsageError(f"{name} must be a whole number of at most 64 bits, not {in_quotes(value, 80)}")
    try:
        frames.unpack_host_frame(frames.pack(job)[frames.HEADER_BYTES :])
    except (TypeError, ValueError, OverflowError, RecursionError, frames.ProtocolError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None


def _find_unreadable(source: str, limits: Limits) -> Diagnostic | None:
    """Why a source is not even sent to a worker; None if it can be."""
    if not isinstance(source, str):
        raise UsageError(f"a plan is text, not a {type(source).__name__}")
    if not source.strip():
        return Diagnostic(0, 0, "empty", "the plan is empty; write one function solution(agent, start_from=1)")
    try:
        length = len(source.encode())
    except UnicodeEncodeError as error:
        line = source.count("\n", 0, error.start) + 1
        return Diagnostic(line, 0, "text", "the plan contains half of a surrogate pair, which is not text; remove it")
    if length > limits.source_bytes:
        return Diagnostic(0, 0, "size", f"the plan takes {length:,} bytes; write at most {limits.source_bytes:,}")
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        return Diagnostic(line, 0, "text", "the plan contains a NUL character; remove it")
    return None
