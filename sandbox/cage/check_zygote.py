"""The zygote for checks. It loads the whole plan language with libcst's parser; runs need only the guards."""

from __future__ import annotations

import gc
from typing import Final, NoReturn

from codeplan.sandbox.cage import lean_libcst, zygote
from codeplan.sandbox.cage.host_client import HostLink, PlanTimer
from codeplan.sandbox.cage.worker import WorkerJob, WorkerRole
from codeplan.sandbox.protocol import frames
from codeplan.types import AgentApi, AgentAttribute, AgentMethod, AgentParameter

_SAMPLE: Final = """\
import re
def solution(agent, start_from=1):
    # General plan: look at each place until the mug is found, and take it.
    seen = {}
    def look(place):
        try:
            seen[place] = agent.goto(place)
        except ValueError as error:
            return str(error)
        return ', '.join(w for w in re.findall(r'mug \\d+', seen[place]) if w != 'mug 0')
    places, found = ['desk 1', 'shelf 2'], None
    if start_from <= 1:
        print('[Step 1] I look for the mug')
        for i, place in enumerate(places):
            found = look(place) or found
            if found and not i:
                break
        assert found is not None, f'Error in [Step 1]: nothing at {places[:2]}. {agent.report()}'
    if start_from <= 2:
        print(f'[Step 2] I take {found}')
        count = 0
        while agent.holding != found and count < 3:
            count += 1
            answer = agent.goto(place=places[-1])
        done = {'answer': answer.strip(), 'ok': 'take' in answer if count else True}
        assert done['ok'], f'Error in [Step 2]: {agent.report()}'
"""

_API: Final = AgentApi(
    (AgentMethod("goto", "(place)", "", (AgentParameter("place"),)), AgentMethod("report", "()")),
    (AgentAttribute("holding"),),
)


def serve_check(link: HostLink, job: WorkerJob, timer: PlanTimer) -> None:
    """Answer a CheckJob; ignore any other job."""
    if not isinstance(job, frames.CheckJob):
        return
    from codeplan.sandbox.cage.check_answers import answer_check  # it imports libcst, so not before main

    gc.disable()  # the syntax trees stay in use until the worker exits, so collection finds no garbage
    link.send(answer_check(job))


ROLE: Final = WorkerRole(frames.CheckJob(_SAMPLE, _API), serve_check, fresh_heap=True, hot_pages=True)
"""The role of this zygote's workers."""


def main(control_fd: int) -> NoReturn:
    """Serve as the zygote for checks."""
    lean_libcst.install()
    zygote.main(control_fd, ROLE)
