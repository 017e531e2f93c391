"""The result of an episode, and its ending."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import msgspec

from codeplan.types.model import Usage
from codeplan.types.task import Call, Task
from codeplan.types.value import Amount, Count, Value, html_table, html_text, html_value, short_repr

SizedPart = Literal["prompt", "context", "reply", "observation", "event"]
"""The parts with a maximum size: a prompt (codeplan's maximum), the model's context, a reply, an observation, and an
event of the trace.
"""


_MAX_ASKED = 300  # characters of a question in a sentence


class _Ending(Value, frozen=True, tag_field="type"):
    """Base of the endings."""

    @property
    def name(self) -> str:
        """The ending's short, stable name, as in JSON."""
        return str(self.__struct_config__.tag)

    @property
    def sentence(self) -> str:
        """The ending in one short sentence."""
        match self:
            case Success():
                return "success"
            case EnvironmentEnded():
                return self.message or "the environment ended the episode"
            case Interrupted():
                return "interrupted"
            case TrialEnded():
                return f"{self.trial}: {self.ending.sentence}"
            case BudgetSpent():
                return f"budget: {self.message}"
            case InfrastructureFailed():
                return f"infrastructure: {self.message}"
            case Crashed():
                return f"error: {self.error}: {self.message}"
            case Claimed() | GaveUp() | NoProgress() | Refused() | NotSolved() | TooLarge():
                return self.message
            case TraceFull() | Waiting():
                return self.message
            case NeedsInput():
                words = " ".join(self.question.split())
                return f"it asks: {words if len(words) <= _MAX_ASKED else words[: _MAX_ASKED - 1] + '…'}"
        raise AssertionError(f"{type(self).__name__} has no sentence")


class Success(_Ending, frozen=True, tag="success"):
    """The environment says that the goal is reached."""


class Claimed(_Ending, frozen=True, tag="claimed"):
    """The method believes that the task is done; the environment has not said so."""

    message: str


class GaveUp(_Ending, frozen=True, tag="gave_up"):
    """The method, or its plan, believes that it cannot do the task."""

    message: str


class NoProgress(_Ending, frozen=True, tag="no_progress"):
    """New plans changed nothing: they ended the same way, and the world stayed as it was."""

    message: str


class Refused(_Ending, frozen=True, tag="refused"):
    """The last plan was refused before it ran."""

    message: str


class NotSolved(_Ending, frozen=True, tag="not_solved"):
    """The method stopped without success and without a claim; its tries or turns are used up, for example."""

    message: str


class TooLarge(_Ending, frozen=True, tag="too_large"):
    """A text or value of the model, its plan or the environment is too large. It counts as not solved.

    ``what`` is the part that is too large; ``limit`` is its maximum in characters (an event: bytes), None if only the
    endpoint knows it.
    """

    what: SizedPart
    limit: int | None
    message: str


class TraceFull(_Ending, frozen=True, tag="trace_full"):
    """The trace has no room for a further call and its answer; ``limit`` is its maximum in bytes, or in values."""

    limit: int
    message: str


class EnvironmentEnded(_Ending, frozen=True, tag="environment_ended"):
    """The environment ended the episode without success, for example at its action limit.

    ``message`` says why, if the environment gave a reason.
    """

    message: str = ""


class TrialEnded(_Ending, frozen=True, tag="trial_ended"):
    """How one of several trials ended; ``trial`` names it, as in ``"trial 2"``."""

    trial: str
    ending: Ending


class BudgetSpent(_Ending, frozen=True, tag="budget_spent"):
    """The episode used up its budget: ``kind`` names the field of ``Budget``, ``limit`` is its value."""

    kind: str
    limit: float
    message: str


class Waiting(_Ending, frozen=True, tag="waiting"):
    """A call of ``tool`` needs the approval of somebody who is not there. It was not made.

    ``message`` shows the call and says how to go on; ``resume`` continues with this call.
    """

    tool: str
    call: Call
    message: str


class NeedsInput(_Ending, frozen=True, tag="needs_input"):
    """The plan, or the model in place of a plan, asks the user, who is not there; ``resume`` goes on with an answer.

    ``form`` is the form of the answer in words, empty for any text. ``refused`` says what the last answer lacked.
    """

    question: str
    form: str = ""
    refused: str = ""


class Interrupted(_Ending, frozen=True, tag="interrupted"):
    """The user interrupted the episode."""


class InfrastructureFailed(_Ending, frozen=True, tag="infrastructure"):
    """The model, the environment, the sandbox or the trace failed; ``error`` is the exception's type."""

    error: str
    message: str


class Crashed(_Ending, frozen=True, tag="error"):
    """A method or an environment raised an unexpected exception; ``error`` is its type."""

    error: str
    message: str


Ending: TypeAlias = (
    Success
    | Claimed
    | GaveUp
    | NoProgress
    | Refused
    | NotSolved
    | TooLarge
    | TraceFull
    | EnvironmentEnded
    | TrialEnded
    | BudgetSpent
    | Waiting
    | NeedsInput
    | Interrupted
    | InfrastructureFailed
    | Crashed
)


class LastFailure(Value, frozen=True):
    """What ended the episode's last failed plan, or the episode; the episode may still have succeeded.

    ``error`` is the exception's name or the limit's. ``step`` and ``line`` are the plan's, None outside it; ``tool`` is
    the tool whose error it was, if it was one. An exception of a tool that the plan caught is an event, not a failure.
    """

    error: str
    message: str
    step: int | None = None
    line: int | None = None
    tool: str = ""


class Result(Value, frozen=True):
    """How an episode ended, with its counts.

    ``success`` and ``reason`` (one short sentence) follow from ``ending``: callers never set them, and they are fields
    only so that they appear in JSON. ``asks`` are in-plan refinements (``ask_llm``), ``refinements`` out-of-plan ones
    (a new plan after a failure), ``model_calls`` all calls of any purpose. ``usage`` sums the tokens; ``seconds`` is
    wall time. ``trace`` is the path of the trace, None without a file. ``plan`` is the source of the last plan, None
    for methods that write none. ``claim`` is whether the method believes that the task is done, None if it does not
    say. ``depth`` is the greatest depth of a sub-task (1 if the task was not decomposed), None for methods that do not
    decompose. ``failure`` is the last failure, None if there was none.

    Where the environment judges what plans return, ``value`` is what the last plan returned and ``variables`` are those
    at its end, as JSON data. They are None and empty if it did not run to its end, or if they are too large. With
    ``codeplan.do(returns=…)``, ``value`` has that type, and is None if it did not fit.
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
    depth: Count | None = None
    failure: LastFailure | None = None
    value: Any = None
    variables: dict[str, Any] = {}
    success: bool = cast(bool, msgspec.UNSET)
    reason: str = cast(str, msgspec.UNSET)

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "success", isinstance(self.ending, Success))
        msgspec.structs.force_setattr(self, "reason", self.ending.sentence)

    @property
    def has_model(self) -> bool:
        """Whether a model takes part: a plan that ``codeplan exec`` runs may ask no model."""
        return self.method != "exec" or self.model_calls > 0

    def __repr__(self) -> str:
        shown: dict[str, object] = {"success": self.success, "task": f"{self.task.env} {self.task.id}".strip()}
        shown |= {} if self.success else {"reason": self.reason}
        shown |= {} if self.value is None else {"value": self.value}
        shown |= {n: c for n in ("actions", "asks", "refinements", "model_calls") if (c := getattr(self, n))}
        shown |= {"seconds": round(self.seconds, 2)} | ({"trace": self.trace} if self.trace else {})
        return short_repr(self, shown)

    def _repr_html_(self) -> str:
        """The result as a table, for a notebook; the plan unfolds below it."""
        task = f"{self.task.env} {self.task.id}".strip()
        money = self.usage.money
        rows = {
            "Task": html_text(f"{task}: {self.task.goal}" if self.task.goal else task),
            "Reason": "" if self.success else html_text(self.reason),
            "Value": "" if self.value is None else html_value(self.value),
            "Variables": html_value(self.variables) if self.variables else "",
            "Actions": f"{self.actions:,}",
            "Asks": f"{self.asks:,}",
            "Refinements": f"{self.refinements:,}",
            "Model calls": f"{self.model_calls:,}",
            "Money": f"${money:.4f}" if money else "",
            "Seconds": f"{self.seconds:.2f}",
            "Method": html_text(self.method),
            "Model": html_text(_STAND_IN if self.model == "scripted" else self.model) if self.has_model else "",
            "Trace": html_text(self.trace or ""),
        }
        return html_table(_HEADINGS.get(type(self.ending), "✗ Not solved"), rows, self.plan)


_HEADINGS: dict[type, str] = {
    Success: "✓ Success",
    Claimed: "? Claimed, not verified",
    Waiting: "… Waiting for an approval",
    NeedsInput: "… Waiting for an answer",
}
_STAND_IN = "scripted stand-in, not a language model"
