"""How an episode ends: a value that code can test, with the sentence that people read."""

from __future__ import annotations

from typing import Literal, TypeAlias

from codeplan.types.value import Value

SizedPart = Literal["prompt", "context", "reply", "observation", "event", "trace"]
"""The parts with a maximum size: a prompt (codeplan's maximum), the model's context, a reply, an observation, an event
of the trace, and the whole trace.
"""


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

    ``what`` is the part that is too large; ``limit`` is its maximum in characters (events and traces: bytes), None if
    only the endpoint knows it.
    """

    what: SizedPart
    limit: int | None
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
    | EnvironmentEnded
    | TrialEnded
    | BudgetSpent
    | Interrupted
    | InfrastructureFailed
    | Crashed
)
