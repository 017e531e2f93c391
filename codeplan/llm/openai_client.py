"""A model at an endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, Ollama, llama.cpp, LiteLLM …

Everything that is not a whole answer is a ModelError of one sentence; the key is in none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from codeplan.errors import UsageError
from codeplan.llm import endpoint, prices, replies, requests
from codeplan.llm.background_loop import run_and_wait
from codeplan.llm.connections import Connection, RateLimits, shared_connection
from codeplan.llm.endpoint_errors import EndpointError, ErrorFactory
from codeplan.llm.replies import ModelReply
from codeplan.llm.retries import EndpointCall, RetryPolicy, call_with_retries
from codeplan.types.model import NO_USAGE, Completion, Embeddings, Message, Purpose, Usage


class OpenAIModel:
    """A model of this name at an endpoint. Safe to use from several threads; nothing is sent before it is asked.

    ``base_url`` defaults to ``OPENAI_BASE_URL`` (or ``OPENAI_API_BASE``), then to OpenAI's own; ``api_key`` to what the
    environment variable ``key_variable`` holds, and may be missing where a base URL is given. ``api`` is ``"chat"``
    (Chat Completions) or ``"responses"``. ``temperature`` to ``reasoning_effort`` are left out of the request when None
    or empty, so that the endpoint's own defaults hold (some models refuse them); ``max_tokens_field`` is the name under
    which Chat Completions want the limit (None: that which OpenAI, or other servers, take); ``extra_body`` is added to
    the request as it is.

    ``timeout`` is in seconds, for the whole of an attempt; ``deadline`` for the whole of a call, with its retries and
    waits. Up to ``max_retries`` attempts follow one that failed for a passing reason (no connection, time-out, 408,
    409, 425, 429, 5xx, a reply that cannot be read, did not end or has no text), each after a pause that grows, or as
    long as the endpoint asks. ``requests_per_minute`` and ``tokens_per_minute`` hold for all models of this process at
    the same endpoint that have the same limits. ``prices`` is a file with a table of prices, which goes before the
    built-in one.

    Raises UsageError for a key that is missing or malformed, and for any other setting that makes no sense.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        api: Literal["chat", "responses"] = "chat",
        temperature: float | None = None,
        model_seed: int | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
        reasoning_effort: str | None = None,
        max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None,
        extra_body: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
        deadline: float = 1200.0,
        max_retries: int = 3,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        prices: str | Path | None = None,
    ) -> None:
        given = endpoint.Secret(api_key or "")
        del api_key  # a traceback that lists variables finds it in none of ours
        self.name = requests.validate_model_name(name)
        self._url = endpoint.resolve_base_url(base_url)
        own = self._url == endpoint.OPENAI_URL
        self._key = endpoint.resolve_key(given, required=own, variable=key_variable)
        self._body = requests.RequestSettings(
            self.name,
            api=api,
            temperature=temperature,
            seed=model_seed,
            max_tokens=max_tokens,
            stop=tuple(stop),
            reasoning_effort=reasoning_effort,
            max_tokens_field=max_tokens_field or ("max_completion_tokens" if own else "max_tokens"),
            extra_body=dict(extra_body or {}),
        )
        limits: dict[str, float | None] = {"timeout": timeout, "deadline": deadline}
        limits |= {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
        _check_limits(limits, max_retries)
        self._retry_policy = RetryPolicy(timeout, deadline, max_retries)
        self._rate_limits = RateLimits(requests_per_minute, tokens_per_minute)
        self._prices = _price_tables(prices, own)
        self._errors = self._error_factory(self.name)

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, base_url={self.base_url!r})" if hasattr(self, "_tell") else "OpenAIModel()"

    @property
    def base_url(self) -> str:
        """The endpoint's address as it may be shown: without credentials, query and fragment."""
        return endpoint.without_credentials(self._url)

    @property
    def settings(self) -> dict[str, Any]:
        """What a reader of a trace wants to know about how the model was asked. Never the key."""
        price = self._find_price(self.name)
        known = {} if price is None else {"price": msgspec.to_builtins(price)}
        return {"base_url": self.base_url, **self._body.settings, **known}

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Ask the endpoint for one answer. ``max_tokens`` goes before the model's own setting, ``stop`` adds to it.

        Raises ModelError where there is no whole answer: the endpoint cannot be used, the reply is refused or cut off.
        Its ``usage`` is what was spent all the same.
        """
        stop = (*self._body.stop, *stop)
        request = self._body.build_body(messages, stop, max_tokens)
        tokens = requests.estimate_tokens((m["content"] for m in messages), max_tokens)
        call = EndpointCall(self._body.path, request, tokens, self._errors, self._parse_completion)
        reply, faults = call_with_retries(call, self._connection(), self._retry_policy)
        answer = self._build_completion(reply, faults)
        return msgspec.structs.replace(answer, text=replies.cut_at_stop(answer.text, stop))

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        """Ask the endpoint for the vectors of texts, from its embedding model of that name: one request for all.

        Of the model's settings those count that say how the endpoint is reached, and how patiently. Raises as
        ``complete`` does.
        """
        request = requests.build_embedding_body(texts, requests.validate_model_name(model))
        tell = self._error_factory(model)
        read = partial(self._parse_vectors, len(texts), model, tell)
        call = EndpointCall(requests.EMBEDDINGS_PATH, request, requests.estimate_tokens(texts, None), tell, read)
        answer, faults = call_with_retries(call, self._connection(), self._retry_policy)
        return msgspec.structs.replace(answer, usage=_add_usage(faults, answer.usage))

    def ping(self) -> None:
        """Ask the endpoint for its list of models, to see that it answers and takes the key. Raises ModelError."""
        if fault := run_and_wait(self._list_models(self._connection())):
            raise fault

    # -------------------------------------------------------------- in the background

    def _connection(self) -> Connection:
        return shared_connection(self._url, self._key, self._rate_limits, self._errors)

    def _error_factory(self, model: str) -> ErrorFactory:
        return ErrorFactory(self.base_url, model, endpoint.secrets(self._url, self._key), bool(self._key))

    async def _list_models(self, connection: Connection) -> EndpointError | None:
        import openai

        try:
            async with asyncio.timeout(self._retry_policy.timeout):
                async with connection.client() as client:
                    await client.models.with_raw_response.list(timeout=self._retry_policy.timeout)
        except TimeoutError:
            return self._errors.attempt_timed_out(self._retry_policy.timeout)
        except openai.NotFoundError:
            return None  # it answers, and keeps no such list
        except openai.OpenAIError as error:
            return self._errors.convert_client_error(error)
        return None

    # -------------------------------------------------------------- reading the reply

    def _parse_completion(self, body: bytes) -> ModelReply | EndpointError:
        """The reply, priced, where it is a whole answer; else the fault that it is."""
        reply = replies.parse_response(body) if self._body.api == "responses" else replies.parse_chat(body)
        if reply is None:
            return self._errors.unreadable_reply()
        reply = msgspec.structs.replace(reply, usage=self._add_price(reply.usage, reply.model, self.name))
        return self._errors.incomplete_reply(reply) or reply

    def _parse_vectors(self, count: int, model: str, errors: ErrorFactory, body: bytes) -> Embeddings | EndpointError:
        """The vectors of so many texts, priced; else the fault that the reply is."""
        reply = replies.parse_embeddings(body, count)
        if reply is None:
            return errors.unreadable_reply()
        reply = msgspec.structs.replace(reply, usage=self._add_price(reply.usage, reply.model, model))
        return errors.missing_vectors(reply) if reply.vectors is None else Embeddings(reply.vectors, reply.usage)

    def _add_price(self, usage: Usage, *names: str) -> Usage:
        return msgspec.structs.replace(usage, money=prices.cost(self._find_price(*filter(None, names)), usage))

    def _build_completion(self, reply: ModelReply, faults: Sequence[EndpointError]) -> Completion:
        return Completion(
            text=self._errors.mask_answer(reply.text or ""),
            usage=_add_usage(faults, reply.usage),
            finish_reason=reply.finish_reason or "stop",
            model=self._errors.mask_answer(reply.model) or self.name,
            fingerprint=self._errors.mask_answer(reply.fingerprint),
            retries=len(faults),
        )

    def _find_price(self, *names: str) -> prices.Price | None:
        found = (table.find_price(*names) for table in self._prices)
        return next((price for price in found if price is not None), None)


def _add_usage(faults: Sequence[EndpointError], usage: Usage) -> Usage:
    """The usage with that of the attempts that failed before."""
    return sum((fault.usage or NO_USAGE for fault in faults), usage)


def _check_limits(limits: Mapping[str, float | None], max_retries: int) -> None:
    for name, value in limits.items():
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"the setting {name} of the model is {value:g}; give a number that is more than 0")
    if max_retries < 0:
        raise UsageError(f"the setting max_retries of the model is {max_retries}; give 0 or more")


def _price_tables(given: str | Path | None, own: bool) -> tuple[prices.PriceTable, ...]:
    """The tables to look a price up in; the built-in one is for OpenAI's own endpoint, others have their own prices."""
    read = (prices.read_prices(given),) if given else ()
    return (*read, prices.builtin_prices()) if own else read
