"""The zygote for runs. It is small, without the parser that only checks need: the less memory, the quicker a fork."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, NoReturn, TypeAlias

from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.calls import Clock, Link
from codeplan.sandbox.cage.execution import Execution
from codeplan.sandbox.cage.worker import Job, Trade
from codeplan.sandbox.language.program import PlanRefused, Program, compile_plan
from codeplan.sandbox.limits import Limits, shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import CheckpointError, decode, encode

Compile: TypeAlias = Callable[[str], Program]
"""What makes a program of a plan's source."""

_SAMPLE: Final = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] count')
        seen = [i for i in range(3)]
        said = agent.report()
        assert seen, f'Error in [Step 1]: {said}'
"""


def main(control_fd: int, compiled: Compile = compile_plan) -> NoReturn:
    """Be the zygote whose workers run plans. (The audit gives another ``compiled``.)"""
    _load_the_rest()
    code = [compiled(_SAMPLE).packed() for _ in range(zygote.PRACTICE)][-1]  # some plans come without their code
    saved = encode({"x": [1]}, 1_000)
    job = frames.RunJob(_SAMPLE, frozenset({"report"}), frozenset(), 1, saved, 0, Limits(), code=code)
    zygote.main(control_fd, Trade(job, partial(run, compiled=compiled), rehearsed=True))


def _load_the_rest() -> None:
    """Make the standard library load what it loads only when it is used: a worker cannot open a file any more."""
    Counter("a").most_common(1)
    re.compile(r"\N{DIGIT ONE}")
    random.Random("a")


def run(link: Link, job: Job, clock: Clock, compiled: Compile) -> None:
    """Answer a RunJob; any other job gets no answer."""
    if not isinstance(job, frames.RunJob):
        return
    try:
        program = Program.unpacked(job.code) if job.code else compiled(job.source)
        variables = decode(job.checkpoint) if job.checkpoint else {}
    except PlanRefused as refused:
        link.send(frames.Refused(list(refused.diagnostics)))
        return
    except CheckpointError as error:
        link.send(frames.Damaged(shorten(str(error))))
        return
    link.send(frames.Started())
    Execution(link, job, clock).run(program, variables)
