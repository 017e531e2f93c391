"""A function as a model: it takes the messages of a chat and returns the answer's text."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from codeplan.errors import CodeplanError, UsageError
from codeplan.llm.connections import run_and_wait
from codeplan.llm.openai_protocol import cut_at_stop
from codeplan.types import Completion, Message, Purpose, Usage
from codeplan.untrusted.texts import one_line, with_article
from codeplan.untrusted.tracebacks import broken_model
from codeplan.untrusted.values import in_quotes

Answer: TypeAlias = str | Completion

ModelFunction: TypeAlias = Callable[[list[Message]], Answer | Awaitable[Answer]]
"""Answers a chat with a text, or with a Completion if the usage is known. It may be asynchronous."""


class CallableModel:
    """A model made from a function. ``name`` is the function's name; for a lambda or an object it is the type's.

    Stop sequences cut the text here. The function gets no maximum of tokens.

    Raises: UsageError: the function cannot be called with the messages alone.
    """

    def __init__(self, function: ModelFunction) -> None:
        _require_one_argument(function)
        own = getattr(function, "__name__", "")
        self.name = own if isinstance(own, str) and own.isidentifier() else type(function).__name__
        self._function = function

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Call the function. Its own usage is kept; a text has unknown usage.

        Raises:
            ModelError: the function raises an exception, SystemExit included; ``is_users_bug`` is true.
            UsageError: it returns neither a text nor a Completion.
        """
        try:
            answer = self._function([Message(role=m["role"], content=m["content"]) for m in messages])
            if isinstance(answer, Awaitable):
                answer = run_and_wait(self._awaited(answer))
        except CodeplanError:
            raise
        except (Exception, SystemExit) as e:  # sys.exit(0) in a model must not end the program as a success
            raise broken_model(self.name, e) from e
        completion = Completion(answer, _UNKNOWN) if isinstance(answer, str) else answer
        if not isinstance(completion, Completion) or not isinstance(completion.text, str):
            found = with_article(type(answer).__name__)
            raise UsageError(f"the model {self.name} returned {found}; a function that is a model returns a text")
        return msgspec.structs.replace(completion, text=cut_at_stop(completion.text, stop))

    async def _awaited(self, awaitable: Awaitable[Answer]) -> Answer:
        """The answer. A cancelled task of the function's own is a failure of the function, not the user's interrupt."""
        try:
            return await awaitable
        except (SystemExit, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            raise broken_model(self.name, error) from error


_UNKNOWN = Usage(None, None)


def _require_one_argument(function: ModelFunction) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # Python cannot tell
        return
    try:
        signature.bind([])
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise UsageError(
            f"the model {in_quotes(name)} cannot be called with the messages ({one_line(str(error), 200)}); write "
            "a function of one argument: def model(messages), with messages as dicts of role and content"
        ) from None


def is_model_function(given: object) -> bool:
    """Whether the object can be a model like a function: it can be called, and is not a class."""
    return callable(given) and not inspect.isclass(given) and not hasattr(given, "complete")
