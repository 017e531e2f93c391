"""Model calls: messages, answers, tokens and money."""

from __future__ import annotations

from typing import Literal, TypedDict, TypeVar

from codeplan.types.value import Amount, Count, Value

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
