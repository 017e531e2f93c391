"""Checks, analyses and runs plans in locked worker processes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from codeplan.errors import CodeplanError, Diverged, SandboxError, TraceFailure
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.agent_port import AgentPort, RunAccount
from codeplan.sandbox.host.backend import Capability, RunRequest
from codeplan.sandbox.host.plan_texts import PlanTexts, find_unreadable
from codeplan.sandbox.host.session import RunSession
from codeplan.sandbox.host.worker_process import (
    DeadlineExceeded,
    KilledAgain,
    WorkerDisconnected,
    WorkerKilled,
    WorkerProcess,
    repeat_if_killed,
)
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.sandbox.protocol.frames import Layer
from codeplan.sandbox.protocol.limits import Limits
from codeplan.types import Outcome, Plan, Rejected, ResourceUsage, Stopped

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
