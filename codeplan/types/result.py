"""The result of an episode."""

from __future__ import annotations

from codeplan.types.model import Usage
from codeplan.types.task import Task
from codeplan.types.value import Value


class Result(Value, frozen=True):
    """How an episode ended, with its counts.

    ``reason`` is one short sentence in every case. ``asks`` are in-plan refinements (``ask_llm``), ``refinements``
    out-of-plan ones (a new plan after a failure), ``model_calls`` all calls of any purpose. ``usage`` sums the
    tokens; ``seconds`` is wall time. ``trace`` is the trace's path, None where none was written. ``plan`` is the
    source of the last plan, None for methods that write none. ``claim`` is whether the method itself held the task for
    done, None where it says nothing of that: success is the environment's word alone.
    """

    task: Task
    success: bool
    reason: str
    method: str = ""
    model: str = ""
    reward: float = 0.0
    actions: int = 0
    asks: int = 0
    refinements: int = 0
    model_calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    trace: str | None = None
    plan: str | None = None
    claim: bool | None = None
