"""The host's side of an analysis: it sends the job to a worker and verifies the answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host.plan_verification import verified_rejection
from codeplan.sandbox.host.text_worker import DeadlineExceeded, TextWorker, WorkerDisconnected
from codeplan.sandbox.host.worker_end import WorkerKilled
from codeplan.sandbox.limits import MAX_MESSAGE_CHARS, Limits
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, MAX_ANALYSIS_BYTES, find_non_plain
from codeplan.types import Rejected
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.values import in_quotes

_FRAME_EXTRA: Final = 1 << 10


def build_job(topic: str, source: str, arguments: Mapping[str, Any]) -> frames.AnalysisJob:
    """Build the job. Raises UsageError if the arguments are not plain data or are too large."""
    job = frames.AnalysisJob(topic, source, dict(arguments))
    problem = find_non_plain([topic, job.arguments], ANALYSIS_RULES)
    if problem is None and frames.packed_size(job.arguments) > MAX_ANALYSIS_BYTES:
        problem = f"more than {MAX_ANALYSIS_BYTES:,} bytes"
    if problem is not None:
        raise UsageError(
            f"the arguments of the analysis {in_quotes(topic)} hold {problem}; give it texts, numbers, lists and dicts"
        )
    return job


def run_analysis(worker: TextWorker, job: frames.AnalysisJob, limits: Limits) -> Any | Rejected:
    """Run the job and return its findings as plain data, or Rejected if the source is not Python.

    Raises UsageError if the topic is unknown or the arguments do not fit, SandboxError if the analysis fails,
    WorkerKilled if something outside killed the worker.
    """
    deadline = time.monotonic() + limits.wall
    worker.set_max_frame(MAX_ANALYSIS_BYTES + _FRAME_EXTRA)
    try:
        worker.send(job, deadline)
        reply = worker.receive(deadline)
        return _verify_reply(reply, job)
    except DeadlineExceeded:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} took longer than {limits.wall:g} s") from None
    except WorkerDisconnected:
        end = worker.find_end()
        if end.killed:
            raise WorkerKilled(end, had_job=True) from None
        raise SandboxError(
            f"the analysis {in_quotes(job.topic)} crashed on this source or exceeded its limits"
        ) from None
    except frames.ProtocolError as error:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} broke the protocol: {error}") from None


def _verify_reply(reply: frames.WorkerFrame, job: frames.AnalysisJob) -> Any | Rejected:
    if isinstance(reply, frames.RejectionFrame):
        return verified_rejection(reply, job.source)
    if isinstance(reply, frames.AnalysisFailed):
        raise (UsageError if reply.invalid_job else SandboxError)(
            f"the analysis {in_quotes(job.topic)} failed: {one_line(reply.message, MAX_MESSAGE_CHARS)}"
        )
    assert isinstance(reply, frames.Analysis), "the conversation allows no other answer"
    try:
        findings = msgspec.json.decode(reply.findings)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} returned unreadable JSON ({error})") from None
    problem = find_non_plain(findings, ANALYSIS_RULES)
    if problem is not None:
        raise SandboxError(f"the analysis {in_quotes(job.topic)} returned {problem}, which is not plain data")
    return findings
