"""The values that travel through codeplan: frozen plain data (msgspec structs), one module a subject.

Plain data can be written to a trace, sent to a worker or compared without running foreign code.
"""

from __future__ import annotations

from codeplan.types.agent import AgentApi, AgentAttribute, AgentMethod, AgentParameter, AgentTool, AgentType
from codeplan.types.ending import (
    BudgetSpent,
    Claimed,
    Crashed,
    Ending,
    EnvironmentEnded,
    GaveUp,
    InfrastructureFailed,
    Interrupted,
    NoProgress,
    NotSolved,
    Refused,
    SizedPart,
    Success,
    TooLarge,
    TrialEnded,
)
from codeplan.types.model import NO_USAGE, Completion, Embeddings, Message, Purpose, Usage
from codeplan.types.plan import Checkpoint, Diagnostic, Fix, Plan, Rejected, Step, refuse_warnings
from codeplan.types.result import LastFailure, Result
from codeplan.types.run import Failed, Finished, GiveUp, Outcome, Replan, ResourceUsage, Stopped, recorded_outcome
from codeplan.types.task import ActionSpace, Answer, Call, Observation, Task
from codeplan.types.value import Value

__all__ = [
    "NO_USAGE",
    "ActionSpace",
    "AgentApi",
    "AgentAttribute",
    "AgentMethod",
    "AgentParameter",
    "AgentTool",
    "AgentType",
    "Answer",
    "BudgetSpent",
    "Call",
    "Checkpoint",
    "Claimed",
    "Completion",
    "Crashed",
    "Diagnostic",
    "Embeddings",
    "Ending",
    "EnvironmentEnded",
    "Failed",
    "Finished",
    "Fix",
    "GaveUp",
    "GiveUp",
    "InfrastructureFailed",
    "Interrupted",
    "LastFailure",
    "Message",
    "NoProgress",
    "NotSolved",
    "Observation",
    "Outcome",
    "Plan",
    "Purpose",
    "Refused",
    "Rejected",
    "Replan",
    "ResourceUsage",
    "Result",
    "SizedPart",
    "Step",
    "Stopped",
    "Success",
    "Task",
    "TooLarge",
    "TrialEnded",
    "Usage",
    "Value",
    "recorded_outcome",
    "refuse_warnings",
]
