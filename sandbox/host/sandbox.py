"""The sandbox, as the rest of codeplan sees it: check a plan, run a plan. What happens inside happens in a locked
process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from codeplan.agent_api import agent_api
from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host import launcher, study
from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.host.code_cache import CodeCache
from codeplan.sandbox.host.process import DeadlineExceeded, WorkerDisconnected, WorkerProcess
from codeplan.sandbox.host.session import RunSession, parser_failure
from codeplan.sandbox.limits import Limits, shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.sandbox.protocol.layers import Layer
from codeplan.sandbox.protocol.progress import LineCoverage, OutputChunk, Progress, StepEntry
from codeplan.types.agent import AgentApi
from codeplan.types.plan import Checkpoint, Diagnostic, Plan, Rejected
from codeplan.types.run import Failed, Finished, Stopped

__all__ = ["OutputChunk", "Progress", "Sandbox", "StepEntry", "probe_layers"]

_START_SECONDS: Final = 30.0
_CHECK_FRAME_EXTRA: Final = 4 << 20


class Sandbox:
    """Runs plans that nobody trusts. Cheap to make, safe to share between threads, nothing to close.

    ``limits`` holds for each run. The workers' common parent process is started with the first use and shared by all
    sandboxes of this process. Where this machine lacks a layer of the cage, using the sandbox raises SandboxError,
    unless ``allow_weak``; ``weak`` then names what is missing.
    """

    def __init__(self, limits: Limits = Limits(), *, allow_weak: bool = False) -> None:  # noqa: B008  # frozen
        self.limits = limits
        self._allow_weak = allow_weak
        self._missing_layers: tuple[str, ...] | None = None
        self._code_cache = CodeCache()

    @property
    def missing_layers(self) -> tuple[str, ...]:
        """The layers that are missing here and that ``allow_weak`` let pass; empty where the cage is whole."""
        if not self._allow_weak:
            return ()
        if self._missing_layers is None:
            self._missing_layers = tuple(layer.name for layer in probe_layers() if not layer.present)
        return self._missing_layers

    def check(self, source: str, api: AgentApi | type) -> Plan | Rejected:
        """Whether ``source`` is a plan for an agent with this API; a class stands for its own. Nothing of it is run.

        Raises SandboxError where the cage could not be built.
        """
        refused = _find_unreadable(source, self.limits)
        if refused is not None:
            return Rejected(source, (refused,))
        job = frames.CheckJob(source, agent_api(api) if isinstance(api, type) else api)
        launcher.run_workers.start()  # most plans that are checked are run next
        with self._open_worker(launcher.check_workers) as worker:
            return self._exchange_check(worker, job)

    def analyse(self, topic: str, source: str, arguments: Mapping[str, Any] = {}) -> Any | Rejected:
        """What the study ``topic`` finds in a plan's text, as plain data; Rejected for what is not Python.

        The topics, with what each takes and finds, are in ``language.studies``; ``arguments`` is plain data, too.
        Nothing of the text is run, and nothing of it is read but in the cage. Raises UsageError for an unknown topic
        and for arguments that do not fit, SandboxError where the study failed or passed the limits.
        """
        refused = _find_unreadable(source, self.limits)
        if refused is not None:
            return Rejected(source, (refused,))
        job = study.build_job(topic, source, arguments)
        with self._open_worker(launcher.analysis_workers) as worker:
            return study.run_analysis(worker, job, self.limits)

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
    ) -> Finished | Failed | Stopped | Rejected:
        """Run a plan from step ``start_from`` on, with the variables of ``checkpoint``.

        The plan reaches the public methods and attributes of ``agent``, and ``ask`` as ``ask_llm``; ``seed`` seeds
        its random numbers. ``listen`` hears of each step and of what is printed as it happens, ``cover`` of the lines
        that run (which slows the plan down; without it nothing is watched). Rejected is for a
        source that does not compile; a string is compiled without the check of its structure (see ``check``).

        Raises SandboxError where the cage could not be built, CheckpointError for a damaged checkpoint, UsageError
        for a wrong argument; exceptions of codeplan's own that ``agent`` or ``ask`` raise pass through, but for
        AgentError.
        """
        plan = Plan(plan) if isinstance(plan, str) else plan
        refused = _find_unreadable(plan.source, self.limits)
        if refused is not None:
            return Rejected(plan.source, (refused,))
        port = AgentPort(agent, ask)
        code = self._code_cache.get(plan.source)
        job = _build_run_job(plan, code, port, start_from, checkpoint, seed, self.limits, on_coverage is not None)
        with self._open_worker(launcher.run_workers) as worker:
            return RunSession(worker, plan, port, self.limits, on_event, on_coverage).run(job)

    def _exchange_check(self, worker: WorkerProcess, job: frames.CheckJob) -> Plan | Rejected:
        deadline = time.monotonic() + self.limits.wall
        worker.set_max_frame(_CHECK_FRAME_EXTRA + self.limits.source_bytes)
        try:
            worker.send(job, deadline)
            said = worker.receive(deadline)
        except (DeadlineExceeded, WorkerDisconnected, frames.ProtocolError):
            return Rejected(job.source, (parser_failure(),))
        if isinstance(said, frames.AcceptanceFrame) and _find_unreadable(said.plan.source, self.limits) is None:
            if said.plan.source == job.source:  # else it may be the code of any plan
                self._code_cache.store(job.source, said.code)
            return said.plan
        if isinstance(said, frames.RejectionFrame):
            return Rejected(job.source, tuple(_shortened(d) for d in said.diagnostics))
        return Rejected(job.source, (parser_failure(),))

    def _open_worker(self, workers: launcher.WorkerLauncher) -> WorkerProcess:
        """A locked worker that has seen nothing yet."""
        worker = workers.spawn()
        try:
            missing = [layer for layer in _lock_down(worker, self.limits) if not layer.present]
            if missing and not self._allow_weak:
                raise SandboxError(_missing_layers_message(missing))
        except BaseException:
            worker.kill()
            raise
        return worker


def probe_layers() -> tuple[Layer, ...]:
    """The layers of the cage on this machine, found by locking a worker in. Raises SandboxError where there can be
    none.
    """
    with launcher.run_workers.spawn() as worker:
        return tuple(_lock_down(worker, Limits()))


def _lock_down(worker: WorkerProcess, limits: Limits) -> list[Layer]:
    deadline = time.monotonic() + _START_SECONDS
    try:
        worker.send(frames.SetupFrame(limits.memory, limits.cpu, limits.wall), deadline)
        ready = worker.receive(deadline)
    except DeadlineExceeded:
        raise SandboxError(
            f"the sandbox's worker was not ready within {_START_SECONDS:g} s; the machine is overloaded"
        ) from None
    except (WorkerDisconnected, frames.ProtocolError) as error:
        raise SandboxError(f"the sandbox's worker died while it was locked in ({type(error).__name__})") from None
    if not isinstance(ready, frames.ReadyFrame):
        raise SandboxError(f"the sandbox's worker said {type(ready).__name__} instead of Ready")
    return ready.layers


def _missing_layers_message(missing: list[Layer]) -> str:
    named = ", ".join(f"{layer.name} ({layer.detail})" for layer in missing)
    return f"this machine's cage lacks {named}; to run plans without it, pass allow_weak=True or --allow-weak-sandbox"


def _build_run_job(
    plan: Plan,
    code: bytes,
    port: AgentPort,
    start_from: int,
    checkpoint: Checkpoint | None,
    seed: int,
    limits: Limits,
    coverage: bool,
) -> frames.RunJob:
    for name, value in {"start_from": start_from, "seed": seed}.items():
        if type(value) is not int or not -(2**63) <= value < 2**63:
            raise UsageError(f"{name} must be a whole number of at most 64 bits, not {value!r:.80}")
    job = frames.RunJob(
        plan.source, port.methods, port.attributes, start_from, checkpoint, seed, limits, coverage, code
    )
    try:
        frames.unpack_host_frame(frames.pack(job)[frames.HEADER_BYTES :])
    except (TypeError, ValueError, OverflowError, RecursionError, frames.ProtocolError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None
    return job


def _find_unreadable(source: str, limits: Limits) -> Diagnostic | None:
    """Why a source is not even handed to the worker; None where it can be."""
    if not isinstance(source, str):
        raise UsageError(f"a plan is text, not a {type(source).__name__}")
    if not source.strip():
        return Diagnostic(0, 0, "empty", "the plan is empty; write one function solution(agent, start_from=1)")
    try:
        length = len(source.encode())
    except UnicodeEncodeError as error:
        line = source.count("\n", 0, error.start) + 1
        return Diagnostic(
            line, 0, "text", "the plan holds a character that is no text (half of a surrogate pair); leave it out"
        )
    if length > limits.source_bytes:
        return Diagnostic(0, 0, "size", f"the plan takes {length:,} bytes; write at most {limits.source_bytes:,}")
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        return Diagnostic(line, 0, "text", "the plan holds a NUL character; leave it out")
    return None


def _shortened(diagnostic: Diagnostic) -> Diagnostic:
    return msgspec.structs.replace(diagnostic, message=shorten(diagnostic.message))
