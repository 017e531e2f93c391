"""The zygote for checks. It holds libcst, which takes longer to load than all the rest, and more memory."""

from __future__ import annotations

from typing import Final, NoReturn

from codeplan.sandbox import wire
from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.calls import Clock, Link
from codeplan.sandbox.cage.worker import Job, Trade
from codeplan.sandbox.language.check import check_source
from codeplan.types import AgentApi, AgentMethod, Plan

_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] count')
        seen = [i for i in range(3)]
        assert seen, f'Error in [Step 1]: {agent.report()}'
"""


def main(control_fd: int) -> NoReturn:
    """Be the zygote whose workers check plans."""
    zygote.main(control_fd, Trade(wire.CheckJob(_SAMPLE, AgentApi((AgentMethod("report", "()"),))), check))


def check(link: Link, job: Job, clock: Clock) -> None:
    """Answer a CheckJob; any other job gets no answer."""
    if isinstance(job, wire.CheckJob):
        found = check_source(job.source, job.api)
        link.send(wire.Checked(found) if isinstance(found, Plan) else wire.Refused(list(found.diagnostics)))
