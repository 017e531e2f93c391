"""The zygote for studies of plan text. It alone holds what they lean on, and is started when the first is asked for."""

from __future__ import annotations

from typing import Final, NoReturn

import msgspec

from codeplan.sandbox.analysis.studies import STUDIES
from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.calls import Clock, Link
from codeplan.sandbox.cage.worker import Job, Trade
from codeplan.sandbox.language.refusals import PlanRefused
from codeplan.sandbox.limits import shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.plain_data import MOST_BYTES, not_plain
from codeplan.sandbox.protocol.values import printable

_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.goto('desk 1')
        assert seen, f'Error in [Step 1]: {seen}'
"""


def main(control_fd: int) -> NoReturn:
    """Be the zygote whose workers study plans."""
    zygote.main(control_fd, Trade(frames.StudyJob("literals", _SAMPLE, {}), study))


def study(link: Link, job: Job, clock: Clock) -> None:
    """Answer a StudyJob; any other job gets no answer."""
    if isinstance(job, frames.StudyJob):
        link.send(_studied(job))


def _studied(job: frames.StudyJob) -> frames.Studied | frames.Unstudied | frames.Refused:
    conduct = STUDIES.get(job.topic)
    if conduct is None:
        return frames.Unstudied(f"there is no such study; there are: {', '.join(sorted(STUDIES))}", misused=True)
    try:
        found = conduct(job.source, job.arguments)
    except PlanRefused as refused:
        return frames.Refused(list(refused.diagnostics))
    except ValueError as error:
        return frames.Unstudied(printable(shorten(str(error))), misused=True)
    except Exception as error:
        return frames.Unstudied(f"it failed on this source ({type(error).__name__})", misused=False)
    problem = not_plain(found)
    written = b"" if problem else msgspec.json.encode(found)
    if len(written) > MOST_BYTES:
        problem = f"more than {MOST_BYTES:,} bytes"
    return frames.Unstudied(f"it found {problem}", misused=False) if problem else frames.Studied(written)
