"""The zygote for analyses of plan text. It alone loads libcst, and starts at the first analysis."""

from __future__ import annotations

from typing import Final, NoReturn

from codeplan.sandbox.analysis.topics import answer_analysis
from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.worker import HostLink, PlanTimer, WorkerJob, WorkerRole
from codeplan.sandbox.protocol import frames

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
        link.send(answer_analysis(job))
