"""A model at an endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, Ollama, llama.cpp, LiteLLM …"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from codeplan.budget import seconds_left
from codeplan.errors import UsageError
from codeplan.llm import endpoint, openai_protocol, prices, reply_stream
from codeplan.llm.connections import (
    Connection,
    RateLimits,
    response_class,
    run_and_hear,
    run_and_wait,
    shared_connection,
)
from codeplan.llm.endpoint_errors import EndpointError, ErrorFactory, UnacceptableBodyError
from codeplan.llm.openai_protocol import ModelReply, answer_text
from codeplan.plugins import MAX_SEED, Setting
from codeplan.protocols import answer_schema, reply_listener
from codeplan.types import NO_USAGE, Completion, Embeddings, Message, Purpose, Usage

if TYPE_CHECKING:
    import openai


_CONNECT_SECONDS = 10.0
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 8.0
_MAX_DOUBLINGS = 10  # more make no difference, and would overflow a float

_Answer = TypeVar("_Answer", ModelReply, Embeddings)


class EndpointCall(msgspec.Struct, Generic[_Answer], frozen=True):
    """One request: its path below the base URL, its body, and an estimate of its tokens.

    ``parse`` turns the bytes of the reply into a whole answer, or into the error that they stand for. ``tell`` gets the
    pieces of its text while it comes, each with its place; None if nobody listens.
    """

    path: str
    body: dict[str, Any]
    tokens: int
    errors: ErrorFactory
    parse: Callable[[bytes], _Answer | EndpointError]
    tell: Callable[[tuple[int, str]], None] | None = None


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often to retry, and the seconds for one attempt (``timeout``) and for the whole call (``deadline``)."""

    timeout: float
    deadline: float
    max_retries: int

    def pause_before_retry(self, errors: Sequence[EndpointError]) -> float | None:
        """Seconds until the next attempt, with random jitter so that threads spread; None if there is to be none."""
        own = errors[-1].max_retries
        is_enough = own is not None and sum(error.max_retries is not None for error in errors) > own
        if not errors[-1].is_transient or is_enough or len(errors) > self.max_retries:
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
    listener = reply_listener.get()
    if listener is None or call.path == openai_protocol.EMBEDDINGS_PATH:
        return retry_attempts(partial(_try_once, call, connection, policy.timeout), call.errors, policy)

    def begin(
        tell: Callable[[tuple[int, str]], None],
    ) -> Coroutine[Any, Any, tuple[_Answer, list[EndpointError]] | EndpointError]:
        attempt = partial(_try_once, replace(call, tell=tell), connection, policy.timeout)
        return _retry_until_whole(attempt, call.errors, policy, _seconds_for(policy))

    return _whole(run_and_hear(begin, listener))


def retry_attempts(
    attempt: Callable[[], Coroutine[Any, Any, _Answer | EndpointError]], factory: ErrorFactory, policy: RetryPolicy
) -> tuple[_Answer, list[EndpointError]]:
    """The whole answer of an attempt, and the errors of those before it. Raises as ``call_with_retries``."""
    return _whole(run_and_wait(_retry_until_whole(attempt, factory, policy, _seconds_for(policy))))


def _seconds_for(policy: RetryPolicy) -> float:
    """The time for all attempts: that of the policy, within what the budget leaves."""
    left = seconds_left()
    return policy.deadline if left is None else max(0.0, min(policy.deadline, left))


def _whole(outcome: tuple[_Answer, list[EndpointError]] | EndpointError) -> tuple[_Answer, list[EndpointError]]:
    if isinstance(outcome, EndpointError):
        raise outcome
    return outcome


async def _retry_until_whole(
    attempt: Callable[[], Coroutine[Any, Any, _Answer | EndpointError]],
    factory: ErrorFactory,
    policy: RetryPolicy,
    seconds: float,
) -> tuple[_Answer, list[EndpointError]] | EndpointError:
    errors: list[EndpointError] = []
    until = asyncio.get_running_loop().time() + seconds
    try:
        async with asyncio.timeout_at(until):
            while isinstance(outcome := await attempt(), EndpointError):
                errors.append(outcome)
                pause = policy.pause_before_retry(errors)
                if pause is None or asyncio.get_running_loop().time() + pause >= until:
                    return factory.all_attempts_failed(errors)
                await asyncio.sleep(pause)
    except TimeoutError:
        return factory.all_attempts_failed([*errors, factory.deadline_exceeded(seconds)])
    return outcome, errors


async def _try_once(call: EndpointCall[_Answer], connection: Connection, seconds: float) -> _Answer | EndpointError:
    admitted = await connection.limiter.admit(call.tokens)
    try:
        async with asyncio.timeout(seconds):
            async with connection.client() as client:
                body = await _send(call, connection, client, seconds)
    except TimeoutError:
        return call.errors.attempt_timed_out(seconds)
    if isinstance(body, EndpointError):
        return body
    outcome = call.parse(body)
    if not isinstance(outcome, EndpointError):
        connection.has_answered = True
    elif outcome.is_page:
        outcome.is_transient = connection.has_answered
    admitted.tokens = (outcome.usage or NO_USAGE).total_tokens or call.tokens
    return outcome


async def _send(
    call: EndpointCall[_Answer], connection: Connection, client: openai.AsyncOpenAI, seconds: float
) -> bytes | EndpointError:
    """The body of the reply. An endpoint that refuses the way in which it is asked for is asked in another one."""
    model = call.path, str(call.body.get("model", ""))
    known = connection.stream_modes.get(model)
    chat = call.path == openai_protocol.CHAT_PATH
    first, *others = reply_stream.modes_to_try(known, listens=call.tell is not None, chat=chat)
    others = [] if call.path == openai_protocol.EMBEDDINGS_PATH else others
    outcome = refused = await _send_in_mode(call, first, client, seconds)
    while others and isinstance(outcome, _RefusedModeError):
        mode = others.pop(0)
        outcome = await _send_in_mode(call, mode, client, seconds)
        if isinstance(outcome, bytes):
            connection.stream_modes[model] = mode
    return refused if isinstance(outcome, _RefusedModeError) else outcome


class _RefusedModeError(EndpointError):
    """The endpoint refuses the way in which it was asked for its reply."""


async def _send_in_mode(
    call: EndpointCall[_Answer], mode: reply_stream.StreamMode, client: openai.AsyncOpenAI, seconds: float
) -> bytes | EndpointError:
    import openai

    timeout = openai.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
    options: Any = {"timeout": timeout}
    body = reply_stream.with_mode(call.body, mode, chat=call.path == openai_protocol.CHAT_PATH)
    kind: Any = response_class()
    try:
        reply = await client.post(call.path, cast_to=kind, body=body, options=options, stream=mode != "off")
        return await _read_body(call, reply, is_read=mode == "off")
    except openai.APIStatusError as error:
        failed = call.errors.convert_client_error(error)
        if failed.prompt_too_long or not reply_stream.refuses_mode(error.status_code, error.response.text):
            return failed
        return _RefusedModeError(str(failed), usage=failed.usage or NO_USAGE)
    except Exception as error:  # what the endpoint sends can raise exceptions of any library below the client
        return call.errors.convert_client_error(error)


async def _read_body(call: EndpointCall[_Answer], reply: Any, *, is_read: bool) -> bytes | EndpointError:
    """The body of a response; of a stream, what it would be otherwise. Raises: openai.APIConnectionError: the
    connection breaks.
    """
    import openai

    if call.path == openai_protocol.EMBEDDINGS_PATH:
        content: bytes = reply.content
        return content
    reader = reply_stream.ReplyReader(call.path == openai_protocol.CHAT_PATH, call.tell)
    if is_read:
        reader.feed(reply.content)
        return _whole_body(call, reader)
    try:
        async for piece in reply.aiter_bytes():
            if reader.feed(piece):
                break
    except (UnacceptableBodyError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise openai.APIConnectionError(request=reply.request) from error
    finally:
        await reply.aclose()
    return _whole_body(call, reader)


def _whole_body(call: EndpointCall[_Answer], reader: reply_stream.ReplyReader) -> bytes | EndpointError:
    body = reader.body()
    return call.errors.cut_stream() if reader.is_cut else body or call.errors.unreadable_reply(reader.start)


class EndpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a model at an endpoint. Those that are None or empty are left out of requests: some models
    refuse them.
    """

    base_url: Annotated[
        str | None, Setting("The endpoint. [OPENAI_BASE_URL, or OpenAI's own]", "trusted", repeat="live")
    ] = None
    api_key: Annotated[str | None, Setting("The key. [what key_variable holds]", "trusted", repeat="never")] = None
    key_variable: Annotated[str, Setting("The environment variable with the key.", "trusted", repeat="live")] = (
        endpoint.MAIN_KEY_VARIABLE
    )
    api: Annotated[Literal["chat", "responses"], Setting("The endpoint's API.", "safe")] = "chat"
    temperature: Annotated[float | None, Setting("The sampling temperature. [the endpoint's]", "safe", most=10)] = None
    top_p: Annotated[
        float | None, Setting("Sample from the likeliest tokens of this share. [the endpoint's]", "safe", most=1)
    ] = None
    model_seed: Annotated[
        int | None, Setting("The seed of requests; a model may ignore it.", "safe", most=MAX_SEED)
    ] = None
    max_tokens: Annotated[
        int | None, Setting("The most tokens of a reply. [the endpoint's]", "safe", most=1_000_000)
    ] = None
    stop: Annotated[Sequence[str], Setting("Sequences at which replies are cut; sent, too.", "safe")] = ()
    send_stop: Annotated[bool, Setting("Send the methods' stop sequences; reasoning models refuse them.", "safe")] = (
        False
    )
    json_schema: Annotated[bool, Setting("Ask for JSON by a schema where a program reads the answer.", "safe")] = False
    reasoning_effort: Annotated[str | None, Setting("How much the model reasons. [the endpoint's]", "recordable")] = (
        None
    )
    max_tokens_field: Annotated[
        Literal["max_tokens", "max_completion_tokens"] | None,
        Setting("The name of the token limit in Chat Completions. [what the endpoint takes]", "safe"),
    ] = None
    system_role: Annotated[
        Literal["system", "developer", "user"],
        Setting("The role of the system text; user puts it into the user's first message.", "safe"),
    ] = "system"
    extra_body: Annotated[
        Mapping[str, Any] | None, Setting("A table that is added to every request.", "trusted", repeat="live")
    ] = None
    timeout: Annotated[float, Setting("Seconds for one attempt.", "trusted", repeat="never")] = 600.0
    deadline: Annotated[
        float, Setting("Seconds for one call with its retries and pauses.", "trusted", repeat="never")
    ] = 1200.0
    max_retries: Annotated[int, Setting("Retries after failures that may pass.", "trusted", repeat="never")] = 3
    requests_per_minute: Annotated[
        int | None, Setting("The most requests in any minute.", "trusted", repeat="never")
    ] = None
    tokens_per_minute: Annotated[int | None, Setting("The most tokens in any minute.", "trusted", repeat="never")] = (
        None
    )
    prices: Annotated[
        str | Path | None, Setting("A table of prices (TOML) that extends the built-in one.", "trusted", repeat="never")
    ] = None


class OpenAIModel:
    """The model ``name`` at an endpoint. It sends nothing before it is asked, and is safe to use from several threads.

    ``given`` are fields of EndpointSettings. An attempt is retried if it failed
    for a passing reason: no connection, time-out, 408, 409, 425, 429, 5xx, or a reply that is unreadable, incomplete or
    without text. Rate limits hold for all models of this process that have the same limits at the same
    endpoint. The headers that the environment names (OPENAI_ORG_ID, OPENAI_PROJECT_ID, OPENAI_CUSTOM_HEADERS) are sent
    only where the key in OPENAI_API_KEY is.

    Raises: UsageError: the key is missing or malformed, a header is malformed, or a setting has no such value.
    """

    settings_type = EndpointSettings

    def __init__(self, name: str, **given: Any) -> None:
        key = endpoint.Secret(given.pop("api_key", None) or "")  # so that no traceback of ours shows it
        own = EndpointSettings(**given)
        self.name = openai_protocol.validate_model_name(name)
        self._url = endpoint.resolve_base_url(own.base_url)
        is_openai = self._url == endpoint.OPENAI_URL
        self._key = endpoint.resolve_key(key, required=is_openai, variable=own.key_variable)
        self._headers = endpoint.resolve_headers(key, variable=own.key_variable)
        self._body = openai_protocol.RequestSettings(
            self.name,
            api=own.api,
            temperature=own.temperature,
            top_p=own.top_p,
            seed=own.model_seed,
            max_tokens=own.max_tokens,
            stop=tuple(own.stop),
            reasoning_effort=own.reasoning_effort,
            max_tokens_field=own.max_tokens_field or ("max_completion_tokens" if is_openai else "max_tokens"),
            extra_body=dict(own.extra_body or {}),
            send_stop=own.send_stop,
            json_schema=own.json_schema,
            system_role=own.system_role,
        )
        self._request = self._body  # with the name of the token limit that the endpoint asks for
        check_limits(own)
        self._retry_policy = RetryPolicy(own.timeout, own.deadline, own.max_retries)
        self._rate_limits = RateLimits(own.requests_per_minute, own.tokens_per_minute)
        self._prices = _price_tables(own.prices, is_openai)
        self._errors = self._error_factory(self.name)

    def __repr__(self) -> str:
        return (
            f"OpenAIModel({self.name!r}, base_url={self.base_url!r})" if hasattr(self, "_errors") else "OpenAIModel()"
        )

    @property
    def base_url(self) -> str:
        """The endpoint's address without credentials."""
        return endpoint.without_credentials(self._url)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the model's requests, for traces; never the key."""
        price = self._find_price(self.name)
        known = {} if price is None else {"price": msgspec.to_builtins(price)}
        return {"base_url": self.base_url, **self._body.settings, **known}

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Ask the endpoint for one answer. ``max_tokens`` overrides the model's own setting, ``stop`` extends it.

        The answer is always cut at the stop sequences. They are sent only where a setting asks for it.

        Raises: ModelError: there is no whole answer; ``usage`` is what the attempts spent.
        """
        try:
            return self._complete(self._request, messages, purpose, stop, max_tokens)
        except EndpointError as error:
            if error.wants_field in ("", self._request.max_tokens_field) or self._body.api != "chat":
                raise
            self._request = msgspec.structs.replace(self._request, max_tokens_field=error.wants_field)
        return self._complete(self._request, messages, purpose, stop, max_tokens)

    def _complete(
        self,
        settings: openai_protocol.RequestSettings,
        messages: Sequence[Message],
        purpose: Purpose,
        stop: Sequence[str],
        max_tokens: int | None,
    ) -> Completion:
        wanted = answer_schema.get() if purpose == "ask" else None
        request = settings.build_body(messages, purpose, stop, max_tokens, wanted)
        limit = settings.max_tokens if max_tokens is None else max_tokens
        parse = partial(self._parse_completion, purpose, (*settings.stop, *stop), wanted, limit)
        tokens = openai_protocol.estimate_tokens((m["content"] for m in messages), max_tokens)
        call = EndpointCall(settings.path, request, tokens, self._errors, parse)
        reply, errors = call_with_retries(call, self._connection(), self._retry_policy)
        return self._build_completion(reply, errors)

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        """Ask the endpoint's embedding model of this name for vectors, in one request; raises ModelError.

        Only the settings that concern the endpoint, retries and limits apply.
        """
        request = openai_protocol.build_embedding_body(texts, openai_protocol.validate_model_name(model))
        errors = self._error_factory(model)
        parse = partial(self._parse_vectors, len(texts), model, errors)
        call = EndpointCall(
            openai_protocol.EMBEDDINGS_PATH, request, openai_protocol.estimate_tokens(texts, None), errors, parse
        )
        answer, failed = call_with_retries(call, self._connection(), self._retry_policy)
        return msgspec.structs.replace(answer, usage=_add_usage(failed, answer.usage))

    def ping(self) -> None:
        """Ask for the endpoint's list of models; raises ModelError if it does not answer or refuses the key."""
        if error := run_and_wait(self._list_models(self._connection())):
            raise error

    # -------------------------------------------------------------- in the background

    def _connection(self) -> Connection:
        return shared_connection(self._url, self._key, self._headers, self._rate_limits, self._errors)

    def _error_factory(self, model: str) -> ErrorFactory:
        secrets = endpoint.secrets(self._url, self._key) + endpoint.header_secrets(self._headers)
        has_price = self._find_price(model) is not None
        return ErrorFactory(self.base_url, model, secrets, has_key=bool(self._key), has_price=has_price)

    async def _list_models(self, connection: Connection) -> EndpointError | None:
        try:
            async with asyncio.timeout(self._retry_policy.timeout):
                async with connection.client() as client:
                    return await self._list_with(client)
        except TimeoutError:
            return self._errors.attempt_timed_out(self._retry_policy.timeout)

    async def _list_with(self, client: openai.AsyncOpenAI) -> EndpointError | None:
        import openai

        try:
            await client.models.with_raw_response.list(timeout=self._retry_policy.timeout)
        except openai.NotFoundError:
            return None  # the endpoint answers, but has no list of models
        except Exception as error:  # what the endpoint sends can raise exceptions of any library below the client
            return self._errors.convert_client_error(error)
        return None

    # -------------------------------------------------------------- reading the reply

    def _parse_completion(
        self, purpose: Purpose, stop: Sequence[str], wanted: Mapping[str, Any] | None, limit: int | None, body: bytes
    ) -> ModelReply | EndpointError:
        """The reply, cut at the stop sequences, with its price; or why it is not a whole answer."""
        reply = (
            openai_protocol.parse_response(body) if self._body.api == "responses" else openai_protocol.parse_chat(body)
        )
        if reply is None:
            return self._errors.unreadable_reply(body)
        text = reply.text and self._errors.mask_answer(reply.text)
        if text and self._body.json_schema and reply.finish_reason in ("", "stop"):
            text = answer_text(purpose, text, wanted)
        usage = self._add_price(reply.usage, reply.model, self.name)
        thought = self._errors.mask_answer(reply.reasoning)
        reply = msgspec.structs.replace(reply, text=text, usage=usage, reasoning=thought)
        reply = openai_protocol.cut_reply(reply, stop)
        return self._errors.incomplete_reply(reply, limit) or reply

    def _parse_vectors(self, count: int, model: str, errors: ErrorFactory, body: bytes) -> Embeddings | EndpointError:
        """The vectors of ``count`` texts with their price, or why the reply does not have them."""
        reply = openai_protocol.parse_embeddings(body, count)
        if reply is None:
            return errors.unreadable_reply(body)
        reply = msgspec.structs.replace(reply, usage=self._add_price(reply.usage, reply.model, model))
        return errors.missing_vectors(reply) if reply.vectors is None else Embeddings(reply.vectors, reply.usage)

    def _add_price(self, usage: Usage, *names: str) -> Usage:
        """The usage with its cost: by the table of prices, or else as the endpoint says it."""
        cost = prices.cost(self._find_price(*filter(None, names)), usage)
        return usage if cost is None else msgspec.structs.replace(usage, money=cost)

    def _build_completion(self, reply: ModelReply, errors: Sequence[EndpointError]) -> Completion:
        return Completion(
            text=reply.text or "",
            usage=_add_usage(errors, reply.usage),
            finish_reason=reply.finish_reason or "stop",
            model=self._errors.sanitise(reply.model) or self.name,
            fingerprint=self._errors.sanitise(reply.fingerprint),
            retries=len(errors),
            reasoning=reply.reasoning,
        )

    def _find_price(self, *names: str) -> prices.Price | None:
        found = (table.find_price(*names) for table in self._prices)
        return next((price for price in found if price is not None), None)


def _add_usage(errors: Sequence[EndpointError], usage: Usage) -> Usage:
    return sum((error.usage or NO_USAGE for error in errors), usage)


def check_limits(own: Any) -> None:
    """Check the settings of time, retries and rates. Raises UsageError."""
    for name in ("timeout", "deadline", "requests_per_minute", "tokens_per_minute"):
        value = getattr(own, name)
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"the setting {name} of the model is {value:g}; give a number that is more than 0")
    if own.max_retries < 0:
        raise UsageError(f"the setting max_retries of the model is {own.max_retries}; give 0 or more")


def _price_tables(path: str | Path | None, is_openai: bool) -> tuple[prices.PriceTable, ...]:
    """The tables to search; the built-in one applies only to OpenAI's own endpoint."""
    own = (prices.read_prices(path),) if path else ()
    return (*own, prices.builtin_prices()) if is_openai else own
