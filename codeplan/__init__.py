"""codeplan runs Python plans that a language model writes: checked, sandboxed, refined from feedback and resumed.

    import codeplan
    result = codeplan.run("household", "clean/3")

Episodes:      run, do (with your own tools), execute (a plan of yours), check, learn, bench.run (many)
Sessions:      Session (goals that follow one another over one state)
Tools:         tool, Toolset: what holds for one of yours, or for a set of them, such as a limit of time
Recordings:    resume, replay, fork, approve (a call that waits), Trace
With await:    arun, ado, abench: the same inside a running event loop, such as a notebook's
Ports:         Environment, Agent, Method, LLM: what you write to bring your own; bench, envs, sandbox: modules
Values:        Task, Observation, Result, Execution, Budget, Usage, ProposedCall
Errors:        CodeplanError is the base of all; UsageError says what to correct

Results, plans, traces and benches show themselves in a notebook. ``on_event`` of ``run`` is called with each event as
it happens. ``__all__`` lists all names; their modules are loaded on first use, so importing codeplan is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names
from codeplan.version import VERSION as __version__

if TYPE_CHECKING:
    from codeplan.agent_interface import agent_api
    from codeplan.bench import abench
    from codeplan.budget import Budget
    from codeplan.episode.episode import Episode
    from codeplan.episode.method import Learner, Method
    from codeplan.errors import (
        AgentError,
        BudgetExceeded,
        CallInDoubt,
        CodeplanError,
        Diverged,
        EnvironmentFailure,
        EpisodeOver,
        InfrastructureError,
        ModelError,
        SandboxError,
        TraceFailure,
        UsageError,
        WaitingForApproval,
    )
    from codeplan.protocols import LLM, Agent, Environment, GeneratesTasks
    from codeplan.recording.events import Event
    from codeplan.recording.trace import Trace
    from codeplan.runner.approval_answers import approve
    from codeplan.runner.async_episodes import ado, arun
    from codeplan.runner.episodes import learn, run
    from codeplan.runner.given_plans import Execution, check, execute
    from codeplan.runner.recorded_episodes import fork, replay, resume
    from codeplan.runner.session import Session
    from codeplan.runner.tools import do
    from codeplan.tools.approvals import ProposedCall
    from codeplan.tools.tool import tool
    from codeplan.tools.toolset import Toolset
    from codeplan.types import ActionSpace, Completion, Message, Observation, Result, Task, Usage

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "agent_interface": "agent_api",
        "bench": "abench",
        "budget": "Budget",
        "episode": "Episode Learner Method",
        "errors": (
            "AgentError BudgetExceeded CallInDoubt CodeplanError Diverged EnvironmentFailure EpisodeOver "
            "InfrastructureError ModelError SandboxError TraceFailure UsageError WaitingForApproval"
        ),
        "protocols": "Agent Environment GeneratesTasks LLM",
        "recording": "Event Trace",
        "runner.approval_answers": "approve",
        "runner.async_episodes": "ado arun",
        "runner.episodes": "learn run",
        "runner.given_plans": "Execution check execute",
        "runner.recorded_episodes": "fork replay resume",
        "runner.session": "Session",
        "runner.tools": "do",
        "tools": "ProposedCall Toolset",
        "tools.tool": "tool",
        "types": "ActionSpace Completion Message Observation Result Task Usage",
    },
    modules="bench envs sandbox",
)

__all__ = [
    "LLM",
    "ActionSpace",
    "Agent",
    "AgentError",
    "Budget",
    "BudgetExceeded",
    "CallInDoubt",
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
    "ProposedCall",
    "Result",
    "SandboxError",
    "Session",
    "Task",
    "Toolset",
    "Trace",
    "TraceFailure",
    "Usage",
    "UsageError",
    "WaitingForApproval",
    "__version__",
    "abench",
    "ado",
    "agent_api",
    "approve",
    "arun",
    "check",
    "do",
    "execute",
    "fork",
    "learn",
    "replay",
    "resume",
    "run",
    "tool",
]
