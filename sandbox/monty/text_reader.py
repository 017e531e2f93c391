"""The process that reads plan texts where there is no cage: it checks and analyses them, and runs none of their code.

The host starts it with an empty environment and sends it one job after the other over standard input.
"""

from __future__ import annotations

import contextlib
from typing import Final

from codeplan.sandbox.analysis.topics import answer_analysis
from codeplan.sandbox.cage.frame_link import FrameLink
from codeplan.sandbox.language.checking import answer_check
from codeplan.sandbox.protocol import frames

_MAX_BYTES: Final = 2 << 30  # address space, where the system can limit it


def main() -> None:
    """Answer jobs until the host closes the connection."""
    _limit_memory()
    link = FrameLink(0, 1)
    while True:
        job = link.receive()
        if isinstance(job, frames.CheckJob):
            link.send(answer_check(job))
        elif isinstance(job, frames.AnalysisJob):
            link.send(answer_analysis(job))


def _limit_memory() -> None:
    """Limit this process's memory, if the system can do that."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
