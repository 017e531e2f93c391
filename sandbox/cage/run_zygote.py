"""The zygote for runs. It does not load the parser that checks need, because a fork is faster with less memory."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import partial
from typing import Final, NoReturn

import msgspec

from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.plan_execution import PlanExecution
from codeplan.sandbox.cage.worker import HostLink, PlanTimer, WorkerJob, WorkerRole
from codeplan.sandbox.language.compilation import Program, RejectedPlanError, compile_plan
from codeplan.sandbox.limits import Limits, shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import CheckpointError, decode, encode
from codeplan.sandbox.protocol.frames import diagnostic_rows
from codeplan.sandbox.runtime.namespace import PlanRuntime

_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] count')
        seen = [i for i in range(3)]
        said = agent.report()
        assert seen, f'Error in [Step 1]: {said}'
"""


def main(control_fd: int) -> NoReturn:
    """Serve as the zygote for runs."""
    _preload_modules()
    saved = encode({"x": [1]}, 1_000)
    text = frames.RunJob(_SAMPLE, frozenset({"report"}), frozenset(), 1, saved, 0, Limits())
    checked = msgspec.structs.replace(text, code=compile_plan(_SAMPLE).pack())
    serve = partial(serve_run, runtime=PlanRuntime())
    zygote.main(control_fd, WorkerRole(checked, serve, prewarmed=True, other_samples=(text,)))


def _preload_modules() -> None:
    """Make the standard library load what it loads lazily: a locked worker cannot open files."""
    Counter("a").most_common(1)
    re.compile(r"\N{DIGIT ONE}")
    random.Random("a")


def serve_run(link: HostLink, job: WorkerJob, timer: PlanTimer, runtime: PlanRuntime) -> None:
    """Answer a RunJob; ignore any other job."""
    if not isinstance(job, frames.RunJob):
        return
    try:
        program = Program.unpack(job.code) if job.code else compile_plan(job.source)
        variables = decode(job.checkpoint) if job.checkpoint else {}
    except RejectedPlanError as refused:
        link.send(frames.RejectionFrame(diagnostic_rows(refused.diagnostics)))
        return
    except CheckpointError as error:
        link.send(frames.CheckpointErrorFrame(shorten(str(error))))
        return
    link.send(frames.StartFrame())
    PlanExecution(link, job, timer, runtime).run(program, variables)
