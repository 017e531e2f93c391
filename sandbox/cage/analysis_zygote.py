"""The zygote for analyses of plan text. It alone loads libcst, and starts at the first analysis."""

from __future__ import annotations

from typing import Final, NoReturn

import msgspec

from codeplan.sandbox.analysis.topics import ANALYSES
from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.host_client import HostLink, PlanTimer
from codeplan.sandbox.cage.worker import WorkerJob, WorkerRole
from codeplan.sandbox.language.diagnostics import RejectedPlanError
from codeplan.sandbox.limits import shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, MAX_ANALYSIS_BYTES, find_non_plain
from codeplan.sandbox.protocol.plan_rows import diagnostic_rows
from codeplan.sandbox.protocol.values import escape_surrogates

_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.goto('desk 1')
        assert seen, f'Error in [Step 1]: {seen}'
"""


def main(control_fd: int) -> NoReturn:
    """Serve as the zygote for analyses."""
    zygote.main(control_fd, WorkerRole(frames.AnalysisJob("literals", _SAMPLE, {}), serve_analysis))


def serve_analysis(link: HostLink, job: WorkerJob, timer: PlanTimer) -> None:
    """Answer an AnalysisJob; ignore any other job."""
    if isinstance(job, frames.AnalysisJob):
        link.send(_analyse(job))


def _analyse(job: frames.AnalysisJob) -> frames.Analysis | frames.AnalysisFailed | frames.RejectionFrame:
    conduct = ANALYSES.get(job.topic)
    if conduct is None:
        return frames.AnalysisFailed(
            f"there is no such analysis; choose one of: {', '.join(sorted(ANALYSES))}", invalid_job=True
        )
    try:
        found = conduct(job.source, job.arguments)
    except RejectedPlanError as refused:
        return frames.RejectionFrame(diagnostic_rows(refused.diagnostics))
    except ValueError as error:
        return frames.AnalysisFailed(escape_surrogates(shorten(str(error))), invalid_job=True)
    except Exception as error:
        return frames.AnalysisFailed(f"it failed on this source ({type(error).__name__})", invalid_job=False)
    problem = find_non_plain(found, ANALYSIS_RULES)
    written = b"" if problem else msgspec.json.encode(found)
    if len(written) > MAX_ANALYSIS_BYTES:
        problem = f"more than {MAX_ANALYSIS_BYTES:,} bytes"
    return frames.AnalysisFailed(f"it found {problem}", invalid_job=False) if problem else frames.Analysis(written)
