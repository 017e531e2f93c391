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
from codeplan.llm.attempts import Call, Patience, answered
from codeplan.llm.background import wait_for
from codeplan.llm.connections import Connection, Rates, connection
from codeplan.llm.faults import Fault, Teller
from codeplan.llm.replies import Reply
from codeplan.types import NOTHING, Completion, Embeddings, Message, Purpose, Usage


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
        self.name = requests.sound_name(name)
        self._url = endpoint.base_url(base_url)
        own = self._url == endpoint.OPENAI_URL
        self._key = endpoint.key(given, needed=own, variable=key_variable)
        self._body = requests.Body(
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
        _check(limits, max_retries)
        self._patience = Patience(timeout, deadline, max_retries)
        self._rates = Rates(requests_per_minute, tokens_per_minute)
        self._prices = _tables(prices, own)
        self._tell = self._teller(self.name)

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, base_url={self.base_url!r})" if hasattr(self, "_tell") else "OpenAIModel()"

    @property
    def base_url(self) -> str:
        """The endpoint's address as it may be shown: without credentials, query and fragment."""
        return endpoint.shown(self._url)

    @property
    def settings(self) -> dict[str, Any]:
        """What a reader of a trace wants to know about how the model was asked. Never the key."""
        price = self._price(self.name)
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
        request = self._body.request(messages, stop, max_tokens)
        tokens = requests.estimate((m["content"] for m in messages), max_tokens)
        call = Call(self._body.path, request, tokens, self._tell, self._judged)
        reply, faults = answered(call, self._way(), self._patience)
        answer = self._completion(reply, faults)
        return msgspec.structs.replace(answer, text=replies.cut(answer.text, stop))

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        """Ask the endpoint for the vectors of texts, from its embedding model of that name: one request for all.

        Of the model's settings those count that say how the endpoint is reached, and how patiently. Raises as
        ``complete`` does.
        """
        request = requests.embedding(texts, requests.sound_name(model))
        tell = self._teller(model)
        read = partial(self._vectors, len(texts), model, tell)
        call = Call(requests.EMBEDDINGS, request, requests.estimate(texts, None), tell, read)
        answer, faults = answered(call, self._way(), self._patience)
        return msgspec.structs.replace(answer, usage=_with(faults, answer.usage))

    def ping(self) -> None:
        """Ask the endpoint for its list of models, to see that it answers and takes the key. Raises ModelError."""
        if fault := wait_for(self._pinged(self._way())):
            raise fault

    # -------------------------------------------------------------- in the background

    def _way(self) -> Connection:
        return connection(self._url, self._key, self._rates, self._tell)

    def _teller(self, model: str) -> Teller:
        return Teller(self.base_url, model, endpoint.secrets(self._url, self._key), bool(self._key))

    async def _pinged(self, way: Connection) -> Fault | None:
        import openai

        try:
            async with asyncio.timeout(self._patience.timeout):
                async with way.client() as client:
                    await client.models.with_raw_response.list(timeout=self._patience.timeout)
        except TimeoutError:
            return self._tell.late(self._patience.timeout)
        except openai.NotFoundError:
            return None  # it answers, and keeps no such list
        except openai.OpenAIError as error:
            return self._tell.explain(error)
        return None

    # -------------------------------------------------------------- reading the reply

    def _judged(self, body: bytes) -> Reply | Fault:
        """The reply, priced, where it is a whole answer; else the fault that it is."""
        reply = replies.responses(body) if self._body.api == "responses" else replies.chat(body)
        if reply is None:
            return self._tell.unreadable()
        reply = msgspec.structs.replace(reply, usage=self._priced(reply.usage, reply.model, self.name))
        return self._tell.lack(reply) or reply

    def _vectors(self, count: int, model: str, tell: Teller, body: bytes) -> Embeddings | Fault:
        """The vectors of so many texts, priced; else the fault that the reply is."""
        reply = replies.embeddings(body, count)
        if reply is None:
            return tell.unreadable()
        reply = msgspec.structs.replace(reply, usage=self._priced(reply.usage, reply.model, model))
        return tell.no_vectors(reply) if reply.vectors is None else Embeddings(reply.vectors, reply.usage)

    def _priced(self, usage: Usage, *names: str) -> Usage:
        return msgspec.structs.replace(usage, money=prices.cost(self._price(*filter(None, names)), usage))

    def _completion(self, reply: Reply, faults: Sequence[Fault]) -> Completion:
        return Completion(
            text=self._tell.answer(reply.text or ""),
            usage=_with(faults, reply.usage),
            finish_reason=reply.finish_reason or "stop",
            model=self._tell.answer(reply.model) or self.name,
            fingerprint=self._tell.answer(reply.fingerprint),
            retries=len(faults),
        )

    def _price(self, *names: str) -> prices.Price | None:
        found = (table.of(*names) for table in self._prices)
        return next((price for price in found if price is not None), None)


def _with(faults: Sequence[Fault], usage: Usage) -> Usage:
    """The usage with that of the attempts that failed before."""
    return sum((fault.usage or NOTHING for fault in faults), usage)


def _check(limits: Mapping[str, float | None], max_retries: int) -> None:
    for name, value in limits.items():
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"the setting {name} of the model is {value:g}; give a number that is more than 0")
    if max_retries < 0:
        raise UsageError(f"the setting max_retries of the model is {max_retries}; give 0 or more")


def _tables(given: str | Path | None, own: bool) -> tuple[prices.Prices, ...]:
    """The tables to look a price up in; the built-in one is for OpenAI's own endpoint, others have their own prices."""
    read = (prices.read(given),) if given else ()
    return (*read, prices.builtin()) if own else read
