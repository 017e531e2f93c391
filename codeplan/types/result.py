"""The result of an episode and its ending; model calls: messages, answers, tokens and money."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, cast

import msgspec

from codeplan.types.task import Call, Task
from codeplan.types.value import Amount, Count, Value, html_table, html_text, html_value, short_repr

_Number = TypeVar("_Number", int, float)

Purpose = Literal[
    "plan",
    "check",
    "refine",
    "resume",
    "ask",
    "bind",
    "plan_text",
    "refine_text",
    "decompose",
    "act",
    "formalise",
    "reflect",
    "generalise",
    "rate",
    "embed",
]
"""Why a model is called:

``plan``, ``check``, ``refine``: write a plan, repair one that the check refused, refine one that failed.
``resume``: name the step to resume at (only with ``resume_by="model"``).
``ask``, ``bind``: answer a plan's ``ask_llm``, set a skill's parameters for a task.
``plan_text``, ``refine_text``, ``decompose``: write or refine a plan in words, split a goal into sub-tasks.
``act``, ``formalise``: choose an executor's next action, put a line into the form of a valid action.
``reflect``, ``generalise``: learn from what was done, write one plan in words from several such lessons.
``rate``: say how promising a plan is, in a search.
``embed``: turn texts into vectors.
"""


class Message(TypedDict):
    """One chat message, in the form every chat endpoint takes."""

    role: Literal["system", "user", "assistant"]
    content: str


class Usage(Value, frozen=True):
    """Tokens and cost of one or more model calls. None means unknown; nothing is guessed.

    ``cached_tokens`` are part of the input, ``reasoning_tokens`` of the output. ``money`` is in US dollars, and None if
    the model's price is unknown. ``reused_replies`` counts calls that the user's own cache answered: their tokens are
    those of the first call, and they cost no money.
    """

    input_tokens: Count | None = 0
    output_tokens: Count | None = 0
    cached_tokens: Count = 0
    reasoning_tokens: Count = 0
    money: Amount | None = None
    reused_replies: Count = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            _sum(self.money, other.money),
            self.reused_replies + other.reused_replies,
        )

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; None if either is unknown."""
        return _sum(self.input_tokens, self.output_tokens)

    @property
    def cached_share(self) -> float | None:
        """The part of the input that came from endpoints' caches, from 0 to 1, as reported by the endpoints.

        None if the input is unknown or empty.
        """
        return min(1.0, self.cached_tokens / self.input_tokens) if self.input_tokens else None


NO_USAGE = Usage(money=0.0)
"""The usage of no call: the start value of sums."""


def _sum(a: _Number | None, b: _Number | None) -> _Number | None:
    return None if a is None or b is None else a + b


class Completion(Value, frozen=True):
    """A model's complete answer. A failure is an exception, never a text.

    ``model`` is the model that the endpoint reports. ``fingerprint`` is the endpoint's, or empty. ``retries`` counts
    the failed attempts before this answer; ``usage`` includes their known usage. ``warning`` is a sentence for readers
    of the trace, or empty. ``reasoning`` is what the endpoint shows of the model's thoughts, shortened if it is long.
    """

    text: str
    usage: Usage = Usage()
    finish_reason: str = "stop"
    model: str = ""
    fingerprint: str = ""
    retries: Count = 0
    warning: str = ""
    reasoning: str = ""


class Embeddings(Value, frozen=True):
    """One vector per text, in the order of the texts; all have the same length and finite numbers.

    Similar directions mean similar texts. ``usage`` includes what failed attempts are known to have used.
    """

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()


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
