"""One episode from names: run, resume, replay, fork."""

from __future__ import annotations

from codeplan.runner.approval_answers import approve
from codeplan.runner.async_episodes import ado, arun
from codeplan.runner.episodes import learn, run
from codeplan.runner.given_plans import Execution, check, execute
from codeplan.runner.models import connect
from codeplan.runner.recorded_episodes import fork, replay, resume
from codeplan.runner.session import Session
from codeplan.runner.tools import do

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
