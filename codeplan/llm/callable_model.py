"""A function as a model: it takes the messages of a chat and returns the answer's text."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from codeplan.errors import CodeplanError, UsageError
from codeplan.llm.connections import run_and_wait
from codeplan.types import Completion, Message, Purpose, Usage
from codeplan.untrusted.texts import cut_at_stop, one_line, with_article
from codeplan.untrusted.tracebacks import broken_model, wrong_reply
from codeplan.untrusted.values import in_quotes

Answer: TypeAlias = str | Completion

ModelFunction: TypeAlias = Callable[..., Answer | Awaitable[Answer]]
"""Answers a chat, a list of messages, with a text, or with a Completion if the usage is known. It may be asynchronous.

If it has a parameter ``purpose`` or ``seed``, it also gets what the answer is for (``codeplan.types.Purpose``), or the
model's seed, a whole number that is another one in each repeat of a bench.
"""


class CallableModel:
    """A model made from a function. ``name`` is the function's name; for a lambda or an object it is the type's.

    Stop sequences cut the text here. The function gets no maximum of tokens.

    Raises: UsageError: the function cannot be called with the messages and what else it may get.
    """

    def __init__(self, function: ModelFunction, model_seed: int = 0) -> None:
        wanted = _wanted_names(function)
        self.takes_seed, self._takes_purpose = "seed" in wanted, "purpose" in wanted
        self._seed = {"seed": model_seed} if self.takes_seed else {}
        own = getattr(function, "__name__", "")
        self.name = own if isinstance(own, str) and own.isidentifier() else type(function).__name__
        self._function = function

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Call the function. Its own usage is kept; a text has unknown usage.

        Raises:
            ModelError: the function raises an exception, SystemExit included, or returns neither a text nor a
                Completion; ``is_users_bug`` is true.
        """
        more = {**self._seed, "purpose": purpose} if self._takes_purpose else self._seed
        try:
            answer = self._function([Message(role=m["role"], content=m["content"]) for m in messages], **more)
            if isinstance(answer, Awaitable):
                answer = run_and_wait(self._awaited(answer))
        except CodeplanError:
            raise
        except (Exception, SystemExit) as e:  # sys.exit(0) in a model must not end the program as a success
            raise broken_model(self.name, e) from e
        completion = Completion(answer, _UNKNOWN) if isinstance(answer, str) else answer
        if not isinstance(completion, Completion) or not isinstance(completion.text, str):
            found = with_article(type(answer).__name__)
            raise wrong_reply(self.name, purpose, found, "a function that is a model returns a text")
        return msgspec.structs.replace(completion, text=cut_at_stop(completion.text, stop))

    def with_seed(self, model_seed: int) -> CallableModel:
        """The same function with another seed."""
        return CallableModel(self._function, model_seed)

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


def _wanted_names(function: ModelFunction) -> frozenset[str]:
    """Which of ``purpose`` and ``seed`` the function takes by name. Raises: UsageError: it cannot be called so."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # Python cannot tell
        return frozenset()
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = {name for name, parameter in signature.parameters.items() if parameter.kind in by_name}
    first = next(iter(signature.parameters), "")
    wanted = named & {"purpose", "seed"} - {first}
    try:
        signature.bind([], **dict.fromkeys(wanted))
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise UsageError(
            f"the model {in_quotes(name)} cannot be called with the messages ({one_line(str(error), 200)}); write "
            "def model(messages), with messages as dicts of role and content, and if you want them purpose and seed"
        ) from None
    return frozenset(wanted)


def is_model_function(given: object) -> bool:
    """Whether the object can be a model like a function: it can be called, and is not a class."""
    return callable(given) and not inspect.isclass(given) and not hasattr(given, "complete")
