"""One episode from names: run, resume, replay, fork. Names are loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.runner.approval_answers import approve
    from codeplan.runner.async_episodes import ado, arun
    from codeplan.runner.episodes import learn, run
    from codeplan.runner.given_plans import Execution, check, execute
    from codeplan.runner.models import connect
    from codeplan.runner.recorded_episodes import fork, replay, resume
    from codeplan.runner.session import Session
    from codeplan.runner.tools import do

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "approval_answers": "approve",
        "async_episodes": "ado arun",
        "episodes": "learn run",
        "given_plans": "Execution check execute",
        "models": "connect",
        "recorded_episodes": "fork replay resume",
        "session": "Session",
        "tools": "do",
    },
)

__all__ = [
    "Execution",
    "Session",
    "ado",
    "approve",
    "arun",
    "check",
    "connect",
    "do",
    "execute",
    "fork",
    "learn",
    "replay",
    "resume",
    "run",
]
