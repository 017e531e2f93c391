"""codeplan: plans that a language model writes as Python, run safely, refined from feedback and resumed.

    import codeplan
    result = codeplan.run("household", "clean/3")

Everything public is listed in ``__all__`` and loaded when it is first used; importing codeplan costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codeplan.api import agent_api
    from codeplan.budget import Budget
    from codeplan.episode import Episode
    from codeplan.errors import (
        AgentError,
        BudgetExceeded,
        CodeplanError,
        Diverged,
        EnvironmentFailure,
        EpisodeOver,
        InfrastructureError,
        ModelError,
        SandboxError,
        TraceFailure,
        UsageError,
    )
    from codeplan.events import Event
    from codeplan.protocols import LLM, Agent, Environment, GeneratesTasks, Learner, Method
    from codeplan.recordings import fork, replay, resume
    from codeplan.runner import Execution, execute, learn, run
    from codeplan.trace import Trace
    from codeplan.types import ActionSpace, Completion, Message, Observation, Result, Task, Usage

__version__ = "0.1.0"

_HOMES = {
    "api": ("agent_api",),
    "budget": ("Budget",),
    "episode": ("Episode",),
    "errors": (
        "AgentError",
        "BudgetExceeded",
        "CodeplanError",
        "Diverged",
        "EnvironmentFailure",
        "EpisodeOver",
        "InfrastructureError",
        "ModelError",
        "SandboxError",
        "TraceFailure",
        "UsageError",
    ),
    "events": ("Event",),
    "protocols": ("LLM", "Agent", "Environment", "GeneratesTasks", "Learner", "Method"),
    "recordings": ("fork", "replay", "resume"),
    "runner": ("Execution", "execute", "learn", "run"),
    "trace": ("Trace",),
    "types": ("ActionSpace", "Completion", "Message", "Observation", "Result", "Task", "Usage"),
}
_HOME_OF = {name: f"codeplan.{home}" for home, names in _HOMES.items() for name in names}

__all__ = [
    "LLM",
    "ActionSpace",
    "Agent",
    "AgentError",
    "Budget",
    "BudgetExceeded",
    "CodeplanError",
    "Completion",
    "Diverged",
    "Environment",
    "EnvironmentFailure",
    "Episode",
    "EpisodeOver",
    "Event",
    "Execution",
    "GeneratesTasks",
    "InfrastructureError",
    "Learner",
    "Message",
    "Method",
    "ModelError",
    "Observation",
    "Result",
    "SandboxError",
    "Task",
    "Trace",
    "TraceFailure",
    "Usage",
    "UsageError",
    "__version__",
    "agent_api",
    "execute",
    "fork",
    "learn",
    "replay",
    "resume",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'codeplan' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
