"""The result of an episode."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from codeplan.types.ending import Ending, Success
from codeplan.types.model import Usage
from codeplan.types.task import Task
from codeplan.types.value import Amount, Count, Value


class LastFailure(Value, frozen=True):
    """The last thing that went wrong in an episode, which may have succeeded all the same.

    ``error`` is the exception's name or the limit's. ``step`` and ``line`` are the plan's, None outside it; ``tool`` is
    the tool that failed, if it was one.
    """

    error: str
    message: str
    step: int | None = None
    line: int | None = None
    tool: str = ""


class Result(Value, frozen=True):
    """How an episode ended, with its counts.

    ``success`` and ``reason`` (one short sentence) follow from ``ending``: they are never given, and are fields only to
    appear in JSON. ``asks`` are in-plan refinements (``ask_llm``), ``refinements`` out-of-plan ones (a new plan after a
    failure), ``model_calls`` all calls of any purpose. ``usage`` sums the tokens; ``seconds`` is wall time. ``trace``
    is the path of the trace, None without a file. ``plan`` is the source of the last plan, None for methods that write
    none. ``claim`` is whether the method believes that the task is done, None where it does not say. ``failure`` is the
    last thing that went wrong, None if nothing did.

    Where the environment judges what plans return, ``value`` is what the last plan returned and ``variables`` are those
    at its end, as JSON data. They are None and empty if it did not run to its end, or if they are too large.
    """

    task: Task
    ending: Ending
    method: str = ""
    model: str = ""
    reward: Amount = 0.0
    actions: Count = 0
    asks: Count = 0
    refinements: Count = 0
    model_calls: Count = 0
    usage: Usage = Usage()
    seconds: Amount = 0.0
    trace: str | None = None
    plan: str | None = None
    claim: bool | None = None
    failure: LastFailure | None = None
    value: Any = None
    variables: dict[str, Any] = {}
    success: bool = cast(bool, msgspec.UNSET)
    reason: str = cast(str, msgspec.UNSET)

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "success", isinstance(self.ending, Success))
        msgspec.structs.force_setattr(self, "reason", self.ending.sentence)
