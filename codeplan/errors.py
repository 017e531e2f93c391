"""The exceptions of codeplan: what a caller cannot expect. Expected outcomes are values (see ``codeplan.types``).

    CodeplanError
    ├── UsageError              a wrong name, path or setting; the message says what to do           exit 2
    │   └── CallInDoubt         a resumed episode needs a decision about a call that may have been made
    ├── BudgetExceeded          the episode has used up a budget                                     exit 3
    ├── TraceExhausted          the trace has no room for a further call                             exit 3
    ├── WaitingForApproval      a call needs the approval of somebody who is not there               exit 5
    ├── WaitingForAnswer        a plan asks the user, who is not there                               exit 5
    ├── AnswerChanged           a tool answers otherwise than when the skill was proven whose plan runs
    ├── EpisodeOver             an action after the environment ended the episode
    ├── Diverged                a repeated episode differs from its recording                        exit 1
    ├── AgentError              an agent's method tells the plan what was wrong with a call
    │   └── SizeExceeded        what the agent made is too large; the agent is to blame                  exit 1
    └── InfrastructureError     something around the agent failed; the agent is not to blame         exit 4
        ├── AgentBroken         an agent's method raised another exception than AgentError: a bug of its code
        ├── VerifierBroken      the user's verifier failed, or gave no verdict
        ├── ModelError          the endpoint is unreachable, refuses the key or answers nonsense
        ├── EnvironmentFailure  the environment broke
        ├── SandboxError        the sandbox cannot be built, or its own part of a worker died
        └── TraceFailure        the trace cannot be written; the disk is full, for example

Exceptions raised inside a plan stay in the sandbox; the run ends as ``Failed``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codeplan.types import Call, SizedPart, Usage


class CodeplanError(Exception):
    """Base of all. ``str()`` is one clear sentence for the user."""

    exit_code = 4


class UsageError(CodeplanError):
    """Wrong input. The message says what is wrong, where, and what to do."""

    exit_code = 2


class CallInDoubt(UsageError):
    """An episode was ended during calls of tools. They may have been done, and no setting says what to do.

    ``tool`` and ``arguments`` are the first of these calls, ``others`` further ones that were open at the same time.
    The episode stays as it is, and can be resumed with a decision.
    """

    def __init__(
        self,
        message: str,
        tool: str,
        arguments: Mapping[str, Any],
        others: Sequence[tuple[str, Mapping[str, Any]]] = (),
    ) -> None:
        super().__init__(message)
        self.tool, self.arguments, self.others = tool, arguments, tuple(others)


class BudgetExceeded(CodeplanError):
    """A budget is used up. ``kind`` names the field of ``Budget``.

    ``value`` is the amount that would be reached, ``limit`` the amount allowed.
    """

    exit_code = 3

    def __init__(self, kind: str, value: float, limit: float) -> None:
        unit = {"money": "US dollars"}.get(kind, kind.replace("_", " "))
        super().__init__(f"the budget of {limit:g} {unit} is spent")
        self.kind, self.value, self.limit = kind, value, limit


class TraceExhausted(CodeplanError):
    """The trace is full: it has reached ``limit``, in bytes or values. The episode ends as ``TraceFull``."""

    exit_code = 3

    def __init__(self, limit: int, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class WaitingForApproval(CodeplanError):
    """A call needs approval, and there is nobody to ask. It is not made, and the episode ends as ``Waiting``."""

    exit_code = 5

    def __init__(self, message: str, call: Call) -> None:
        super().__init__(message)
        self.call = call


class WaitingForAnswer(CodeplanError):
    """A plan, or the model, asks the user, who is not there. The episode ends as ``NeedsInput``.

    ``form`` is the form of the answer in words; ``refused`` says what the last answer lacked.
    """

    exit_code = 5

    def __init__(self, question: str, form: str = "", refused: str = "") -> None:
        super().__init__(f"it asks: {question}")
        self.question, self.form, self.refused = question, form, refused


class AnswerChanged(CodeplanError):
    """A tool answers otherwise than a skill's plan knows it. The plan ends as ``Failed``, and cannot catch it.

    ``line`` is that of the call in the plan, None if unknown.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class EpisodeOver(CodeplanError):
    """The environment has ended the episode; further actions do not count."""


class TurnOver(CodeplanError):
    """The recording says that the turn of a session ended here, for a reason that does not come again."""


class Diverged(CodeplanError):
    """A repeated episode differs from its recording. The message shows the difference."""

    exit_code = 1


class AgentError(CodeplanError):
    """Raised by an agent's method. The plan receives the message in the built-in exception that ``error`` names.

    That is one of the exceptions that plans know (``codeplan.sandbox.runtime.names``), otherwise a RuntimeError. An
    exception's class stands for its name.
    """

    def __init__(self, message: str = "", error: str | type[BaseException] = "RuntimeError") -> None:
        super().__init__(message)
        name = error.__name__ if isinstance(error, type) else error
        self.error = name if isinstance(name, str) and name else "RuntimeError"


class SizeExceeded(AgentError):
    """A text or value of a model, a plan or the environment is too large. The attempt counts as failed.

    If a plan's call causes it, the plan receives the message. Otherwise the attempt ends as ``TooLarge``. ``what`` is
    as in ``TooLarge``; ``limit`` is the maximum, None if only the endpoint knows it.
    """

    exit_code = 1

    def __init__(self, what: SizedPart, limit: int | None, message: str) -> None:
        super().__init__(message)
        self.what: SizedPart = what
        self.limit = limit


class InfrastructureError(CodeplanError):
    """Something around the agent failed. The episode's result then says nothing about the agent.

    ``is_users_bug``: the user's own code raised ``__cause__``, so commands print its traceback, too.
    """

    is_users_bug: bool = False


class ModelError(InfrastructureError):
    """The model gave no complete answer. The message names the endpoint, the cause and a remedy.

    ``usage`` is the failed call's usage as the endpoint reports it; None if unknown. ``prompt_too_long``: the model
    has no room for the prompt. ``reply_cut``: its reply reached the limit of tokens.
    """

    usage: Usage | None = None
    prompt_too_long: bool = False
    reply_cut: bool = False


class AgentBroken(InfrastructureError):
    """A member of the agent, or the function that answers ``ask_llm``, raised an exception that is not the plan's
    fault.

    ``__cause__`` is that exception, with its traceback. No plan sees it, and no model has to mend it.
    """

    is_users_bug = True


class VerifierBroken(InfrastructureError):
    """The user's verifier failed, or gave no verdict. ``__cause__`` is its exception, if there was one."""


class EnvironmentFailure(InfrastructureError):
    """The environment broke."""


class SandboxError(InfrastructureError):
    """The sandbox cannot be built as strongly as required, or its own part of a worker died."""


class TraceFailure(InfrastructureError):
    """An event could not be written. The episode stops: unrecorded events could not be replayed."""
