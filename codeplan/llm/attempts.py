"""One call of an endpoint, attempt after attempt: until its reply is whole, its time over, or a fault does not pass."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from codeplan.budget import seconds_left
from codeplan.llm.background import wait_for
from codeplan.llm.connections import Connection, response_class
from codeplan.llm.faults import Fault, Teller
from codeplan.llm.replies import Reply
from codeplan.types import NOTHING, Embeddings

if TYPE_CHECKING:
    import openai

_CONNECT_SECONDS = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_DOUBLINGS = 10  # more make no difference, and too many are more than a float can hold

_Read = TypeVar("_Read", Reply, Embeddings)


class Call(msgspec.Struct, Generic[_Read], frozen=True):
    """What is asked: where below the base URL, with which body, of about how many tokens.

    ``read`` makes of the bytes that come back a whole answer, or the fault that they are.
    """

    path: str
    body: dict[str, Any]
    tokens: int
    tell: Teller
    read: Callable[[bytes], _Read | Fault]


class Patience(msgspec.Struct, frozen=True):
    """How long is waited, in seconds: for an attempt, and for a call with all its attempts and pauses.

    Up to ``max_retries`` attempts follow one that failed for a passing reason.
    """

    timeout: float
    deadline: float
    max_retries: int

    def pause(self, faults: Sequence[Fault]) -> float | None:
        """Seconds to wait before the next attempt; None where there is to be none. Random, so that threads spread."""
        if not faults[-1].passing or len(faults) > self.max_retries:
            return None
        longest = min(_FIRST_PAUSE * 2.0 ** min(len(faults) - 1, _DOUBLINGS), _LONGEST_PAUSE)
        wait = faults[-1].wait
        return longest * random.uniform(0.5, 1.0) if wait is None else wait + longest * random.uniform(0.0, 0.1)


def answered(call: Call[_Read], way: Connection, patience: Patience) -> tuple[_Read, list[Fault]]:
    """The whole answer, and the faults of the attempts before it.

    Raises the last Fault where there is none; the time that the episode's budget leaves is kept to.
    """
    left = seconds_left()
    seconds = patience.deadline if left is None else max(0.0, min(patience.deadline, left))
    outcome = wait_for(_asked(call, way, patience, seconds))
    if isinstance(outcome, Fault):
        raise outcome
    return outcome


async def _asked(
    call: Call[_Read], way: Connection, patience: Patience, seconds: float
) -> tuple[_Read, list[Fault]] | Fault:
    """The answer within so many seconds, attempt after attempt; faults are values here."""
    faults: list[Fault] = []
    until = asyncio.get_running_loop().time() + seconds
    try:
        async with asyncio.timeout_at(until):
            while isinstance(outcome := await _attempt(call, way, patience.timeout), Fault):
                faults.append(outcome)
                pause = patience.pause(faults)
                if pause is None or asyncio.get_running_loop().time() + pause >= until:
                    return call.tell.gave_up(faults)
                await asyncio.sleep(pause)
    except TimeoutError:
        return call.tell.gave_up([*faults, call.tell.too_late(seconds)])
    return outcome, faults


async def _attempt(call: Call[_Read], way: Connection, seconds: float) -> _Read | Fault:
    import openai

    sent = await way.limiter.admit(call.tokens)
    try:
        async with asyncio.timeout(seconds):
            async with way.client() as client:
                body = await _send(call, client, seconds)
    except TimeoutError:
        return call.tell.late(seconds)
    except openai.OpenAIError as error:
        return call.tell.explain(error)
    outcome = call.read(body)
    sent.tokens = (outcome.usage or NOTHING).total_tokens or call.tokens
    return outcome


async def _send(call: Call[_Read], client: openai.AsyncOpenAI, seconds: float) -> bytes:
    import openai

    timeout = openai.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
    options: Any = {"timeout": timeout}
    reply = await client.post(call.path, cast_to=response_class(), body=call.body, options=options)
    content: bytes = reply.content
    return content
