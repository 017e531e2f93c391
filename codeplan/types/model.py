"""Model calls: messages, answers, tokens and money."""

from __future__ import annotations

from typing import Literal, TypedDict, TypeVar

from codeplan.types.value import Value

_Number = TypeVar("_Number", int, float)


Purpose = Literal["plan", "check", "refine", "resume", "ask", "act", "formalise", "reflect", "embed"]
"""Why a model is called: to write a plan, to repair one that was refused, to refine one that failed,
to name the step to resume at (only with ``resume_by="model"``), to answer a plan's ``ask_llm``, to choose
an executor's next action (in methods where the model acts itself), to put that into a valid action's form, to look
back at what was done, or to embed texts, so that they can be compared by what they mean."""


class Message(TypedDict):
    """One chat message, in the form every chat endpoint takes."""

    role: Literal["system", "user", "assistant"]
    content: str


class Usage(Value, frozen=True):
    """Tokens of one or many model calls, and what they cost. None where that is not known (never guessed).

    ``cached_tokens`` are part of the input, ``reasoning_tokens`` of the output; ``money`` is in US dollars, None where
    the model has no known price.
    """

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    money: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            _sum(self.money, other.money),
        )

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; None where either is unknown."""
        return _sum(self.input_tokens, self.output_tokens)


NO_USAGE = Usage(money=0.0)
"""The usage of no call at all: what sums begin with."""


def _sum(a: _Number | None, b: _Number | None) -> _Number | None:
    return None if a is None or b is None else a + b


class Completion(Value, frozen=True):
    """A model's answer. ``text`` is never an error in disguise: failures are exceptions.

    ``finish_reason`` is ``"stop"`` for a whole answer; ``model`` is what the endpoint says answered;
    ``fingerprint`` is the endpoint's, or empty; ``retries`` is how many attempts failed before this one, and ``usage``
    counts what they are known to have spent, too.
    """

    text: str
    usage: Usage = Usage()
    finish_reason: str = "stop"
    model: str = ""
    fingerprint: str = ""
    retries: int = 0


class Embeddings(Value, frozen=True):
    """Texts as vectors: one for each text, in their order, all of the same length, their numbers finite.

    The nearer the directions of two, the nearer the texts in meaning. ``usage`` counts what failed attempts are known
    to have spent, too.
    """

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()
