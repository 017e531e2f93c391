"""Checks plans and analyses their texts in workers of any kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from codeplan.agent_interface import agent_api
from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host import analysis
from codeplan.sandbox.host.code_cache import CodeCache
from codeplan.sandbox.host.mending import MendedPlan, is_mendable, mending_arguments, verified_mending
from codeplan.sandbox.host.plan_verification import broken_check, parser_failure, verified_plan, verified_rejection
from codeplan.sandbox.host.reply_merging import NOT_MERGED, MergedReply, verified_merging
from codeplan.sandbox.host.text_worker import DeadlineExceeded, TextWorker, WorkerDisconnected
from codeplan.sandbox.host.worker_end import WorkerKilled, repeat_if_killed
from codeplan.sandbox.host.worker_slots import computing_slots
from codeplan.sandbox.limits import MAX_CODE_BYTES, MAX_OUTLINE_BYTES, Limits
from codeplan.sandbox.protocol import frames
from codeplan.types import AgentApi, Diagnostic, Plan, Rejected
from codeplan.untrusted.noun_phrases import with_article

_T = TypeVar("_T")

_CHECK_FRAME_EXTRA: Final = MAX_CODE_BYTES + MAX_OUTLINE_BYTES + (64 << 10)


class TextWorkers(Protocol):
    """Starts the workers that read plan texts. Both methods raise SandboxError if no worker can start."""

    def check_worker(self) -> AbstractContextManager[TextWorker]:
        """A worker that waits for a CheckJob."""

    def analysis_worker(self) -> AbstractContextManager[TextWorker]:
        """A worker that waits for an AnalysisJob."""


class PlanTexts:
    """The reading half of a backend. ``code_cache``, if given, receives the compiled code of checked plans."""

    def __init__(self, limits: Limits, workers: TextWorkers, code_cache: CodeCache | None = None) -> None:
        self.limits = limits
        self._workers = workers
        self._code_cache = code_cache

    def check(self, source: str, api: AgentApi | type, *, fixes: bool = True) -> Plan | Rejected:
        """Check ``source`` for an agent with this API, given as data or as the agent's class. Nothing of it runs.

        Faults with only one possible correction are mended, unless ``fixes`` is false: the result has the mended
        source and its fixes.

        Raises SandboxError if no worker can start.
        """
        described = agent_api(api) if isinstance(api, type) else api
        found = self._check(source, described)
        if not fixes or not is_mendable(found):
            return found
        mended = self._mend(source, described)
        if mended is None:
            return found
        return replace(self._check(mended.source, described), fixes=mended.to_fixes())

    def merge_reply(self, reply: str, before: str) -> MergedReply | Rejected | None:
        """Merge the code of a reply into the plan ``before``, if it holds only some steps; None if it is a whole plan.

        Rejected if the reply is not Python, or if its steps have no readable plan to belong to.
        """
        if any(find_unreadable(text, self.limits) for text in (reply, before)):
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
        refusal = find_unreadable(source, self.limits)
        if refusal is not None:
            return Rejected(source, (refusal,))
        job = analysis.build_job(topic, source, arguments)

        def attempt() -> Any | Rejected:
            with computing_slots.take(), self._workers.analysis_worker() as worker:
                return analysis.run_analysis(worker, job, self.limits)

        return repeat_attempt(attempt, "an analysis")

    def _check(self, source: str, api: AgentApi) -> Plan | Rejected:
        refusal = find_unreadable(source, self.limits)
        if refusal is not None:
            return Rejected(source, (refusal,))
        job = frames.CheckJob(source, api)

        def attempt() -> Plan | Rejected:
            with computing_slots.take(), self._workers.check_worker() as worker:
                return self.exchange_check(worker, job)

        return repeat_attempt(attempt, "a check")

    def _mend(self, source: str, api: AgentApi) -> MendedPlan | None:
        """The plan after its fixes; None if nothing can be fixed, or if the analysis fails on this source."""
        try:
            return verified_mending(self.analyse("mend", source, mending_arguments(api)))
        except SandboxError:
            return None

    def exchange_check(self, worker: TextWorker, job: frames.CheckJob) -> Plan | Rejected:
        """Send the job to a worker, and verify its answer. Raises WorkerKilled if something outside killed it."""
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
        if find_unreadable(plan.source, self.limits) is not None:
            raise frames.ProtocolError("the mended plan is larger than a plan may be")
        code = reply.code if plan.source == source else b""  # otherwise the code could belong to another plan
        if self._code_cache is not None and code:
            self._code_cache.store(source, code)
        return plan


def repeat_attempt(attempt: Callable[[], _T], what: str) -> _T:
    """The result of an attempt whose worker was not killed. Raises SandboxError if too many were."""
    try:
        return repeat_if_killed(attempt)
    except WorkerKilled as killed:
        raise killed_again(what, killed) from None


def killed_again(what: str, killed: WorkerKilled) -> SandboxError:
    """The error after too many killed workers."""
    return SandboxError(f"the sandbox's workers for {what} are killed again and again: {killed}")


def find_unreadable(source: str, limits: Limits) -> Diagnostic | None:
    """Why the host does not even send a source to a worker; None if it can."""
    if not isinstance(source, str):
        raise UsageError(f"a plan is text, not {with_article(type(source).__name__)}")
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
