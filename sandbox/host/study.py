"""The host's side of a study: what goes into the cage, and what is believed of what comes out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host.process import DeadlineExceeded, WorkerDisconnected, WorkerProcess
from codeplan.sandbox.limits import Limits, shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, MAX_ANALYSIS_BYTES, find_non_plain
from codeplan.types.plan import Rejected

_FRAME_EXTRA: Final = 1 << 10


def build_job(topic: str, source: str, arguments: Mapping[str, Any]) -> frames.AnalysisJob:
    """The job. Raises UsageError for arguments that are not plain data, or too much of it."""
    made = frames.AnalysisJob(topic, source, dict(arguments))
    problem = find_non_plain([topic, made.arguments], ANALYSIS_RULES)
    if problem is None and frames.packed_size(made.arguments) > MAX_ANALYSIS_BYTES:
        problem = f"more than {MAX_ANALYSIS_BYTES:,} bytes"
    if problem is not None:
        raise UsageError(
            f"the arguments of the study {topic!r} hold {problem}; give it texts, numbers, lists and dicts"
        )
    return made


def run_analysis(worker: WorkerProcess, job: frames.AnalysisJob, limits: Limits) -> Any | Rejected:
    """What the study found, as plain data; Rejected where the source is not Python.

    Raises UsageError for an unknown topic and for arguments that do not fit, SandboxError where the study failed, was
    not done within the limits, or answered what is not plain data.
    """
    deadline = time.monotonic() + limits.wall
    worker.set_max_frame(MAX_ANALYSIS_BYTES + _FRAME_EXTRA)
    try:
        worker.send(job, deadline)
        said = worker.receive(deadline)
    except DeadlineExceeded:
        raise SandboxError(f"the study {job.topic!r} took longer than {limits.wall:g} s") from None
    except WorkerDisconnected:
        raise SandboxError(f"the study {job.topic!r} died of this source, or of its limits") from None
    except frames.ProtocolError as error:
        raise SandboxError(f"the study {job.topic!r} broke the protocol: {error}") from None
    return _verify_reply(said, job)


def _verify_reply(said: frames.WorkerFrame, job: frames.AnalysisJob) -> Any | Rejected:
    if isinstance(said, frames.RejectionFrame):
        return Rejected(
            job.source, tuple(msgspec.structs.replace(d, message=shorten(d.message)) for d in said.diagnostics)
        )
    if isinstance(said, frames.AnalysisFailed):
        raise (UsageError if said.invalid_job else SandboxError)(
            f"the study {job.topic!r} cannot be had: {said.message}"
        )
    if not isinstance(said, frames.Analysis):
        raise SandboxError(f"the study {job.topic!r} answered with a {type(said).__name__}")
    try:
        found = msgspec.json.decode(said.findings)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SandboxError(f"the study {job.topic!r} found what cannot be read ({error})") from None
    problem = find_non_plain(found, ANALYSIS_RULES)
    if problem is not None:
        raise SandboxError(f"the study {job.topic!r} found {problem}, which is not plain data")
    return found
