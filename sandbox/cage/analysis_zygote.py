"""The zygote for analyses of plan text. It alone loads libcst, and starts at the first analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from codeplan.sandbox.analysis.topics import answer_analysis
from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.worker import HostLink, PlanTimer, WorkerJob, WorkerRole
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.runtime.user_imports import admit

_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.goto('desk 1')
        assert seen, f'Error in [Step 1]: {seen}'
"""


def main(control_fd: int, imports: Sequence[str]) -> NoReturn:
    """Serve as the zygote for analyses. Plans may import the packages ``imports``, which only runs load."""
    admit(imports)
    zygote.main(control_fd, WorkerRole(frames.AnalysisJob("literals", _SAMPLE, {}), serve_analysis))


def serve_analysis(link: HostLink, job: WorkerJob, timer: PlanTimer) -> None:
    """Answer an AnalysisJob; ignore any other job."""
    if isinstance(job, frames.AnalysisJob):
        link.send(answer_analysis(job))
