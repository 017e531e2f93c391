"""One call of an endpoint: retried until the reply is complete, the time is up, or the error is permanent."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from codeplan.budget import seconds_left
from codeplan.llm.background_loop import run_and_wait
from codeplan.llm.bounded_bodies import excess_of_values
from codeplan.llm.connections import Connection, response_class
from codeplan.llm.endpoint_errors import EndpointError, ErrorFactory
from codeplan.llm.replies import ModelReply
from codeplan.types import NO_USAGE, Embeddings

if TYPE_CHECKING:
    import openai

_CONNECT_SECONDS = 10.0
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 8.0
_MAX_DOUBLINGS = 10  # more make no difference, and would overflow a float

_Answer = TypeVar("_Answer", ModelReply, Embeddings)


class EndpointCall(msgspec.Struct, Generic[_Answer], frozen=True):
    """One request: its path below the base URL, its body, and an estimate of its tokens.

    ``parse`` turns the bytes of the reply into a whole answer, or into the error that they stand for.
    """

    path: str
    body: dict[str, Any]
    tokens: int
    errors: ErrorFactory
    parse: Callable[[bytes], _Answer | EndpointError]


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often to retry, and the seconds for one attempt (``timeout``) and for the whole call (``deadline``)."""

    timeout: float
    deadline: float
    max_retries: int

    def pause_before_retry(self, errors: Sequence[EndpointError]) -> float | None:
        """Seconds until the next attempt, with random jitter so that threads spread; None if there is to be none."""
        if not errors[-1].is_transient or len(errors) > self.max_retries:
            return None
        longest = min(_FIRST_PAUSE * 2.0 ** min(len(errors) - 1, _MAX_DOUBLINGS), _MAX_PAUSE)
        wait = errors[-1].retry_after
        return longest * random.uniform(0.5, 1.0) if wait is None else wait + longest * random.uniform(0.0, 0.1)


def call_with_retries(
    call: EndpointCall[_Answer], connection: Connection, policy: RetryPolicy
) -> tuple[_Answer, list[EndpointError]]:
    """The whole answer, and the errors of the attempts before it. It respects the time left in the budget.

    Raises: EndpointError: no attempt gave a whole answer.
    """
    left = seconds_left()
    seconds = policy.deadline if left is None else max(0.0, min(policy.deadline, left))
    outcome = run_and_wait(_retry_until_whole(call, connection, policy, seconds))
    if isinstance(outcome, EndpointError):
        raise outcome
    return outcome


async def _retry_until_whole(
    call: EndpointCall[_Answer], connection: Connection, policy: RetryPolicy, seconds: float
) -> tuple[_Answer, list[EndpointError]] | EndpointError:
    errors: list[EndpointError] = []
    until = asyncio.get_running_loop().time() + seconds
    try:
        async with asyncio.timeout_at(until):
            while isinstance(outcome := await _try_once(call, connection, policy.timeout), EndpointError):
                errors.append(outcome)
                pause = policy.pause_before_retry(errors)
                if pause is None or asyncio.get_running_loop().time() + pause >= until:
                    return call.errors.all_attempts_failed(errors)
                await asyncio.sleep(pause)
    except TimeoutError:
        return call.errors.all_attempts_failed([*errors, call.errors.deadline_exceeded(seconds)])
    return outcome, errors


async def _try_once(call: EndpointCall[_Answer], connection: Connection, seconds: float) -> _Answer | EndpointError:
    admitted = await connection.limiter.admit(call.tokens)
    try:
        async with asyncio.timeout(seconds):
            async with connection.client() as client:
                body = await _send(call, client, seconds)
    except TimeoutError:
        return call.errors.attempt_timed_out(seconds)
    if isinstance(body, EndpointError):
        return body
    if said := excess_of_values(call.path, body):
        return call.errors.error(said)
    outcome = call.parse(body)
    admitted.tokens = (outcome.usage or NO_USAGE).total_tokens or call.tokens
    return outcome


async def _send(call: EndpointCall[_Answer], client: openai.AsyncOpenAI, seconds: float) -> bytes | EndpointError:
    import openai

    timeout = openai.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
    options: Any = {"timeout": timeout}
    kind = response_class()
    try:
        reply = await client.post(call.path, cast_to=kind, body=call.body, options=options)
    except Exception as error:  # what the endpoint sends can raise exceptions of any library below the client
        return call.errors.convert_client_error(error)
    content: bytes = reply.content
    return content
