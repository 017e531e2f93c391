"""The bodies of requests, for Chat Completions or the Responses API."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from codeplan.budget import sampling_temperature
from codeplan.errors import UsageError
from codeplan.llm.answer_schemas import schema_fields
from codeplan.recording.redaction import remove_secrets
from codeplan.types import Message, Purpose
from codeplan.untrusted.values import in_quotes

EMBEDDINGS_PATH = "/embeddings"
"""The path for embeddings, below the base URL."""

API_PATHS = ("/chat/completions", "/responses", EMBEDDINGS_PATH, "/models")
"""All paths below the base URL that codeplan asks for."""


class RequestSettings(msgspec.Struct, frozen=True):
    """The settings that become part of each request; None and empty ones are left out.

    Raises: UsageError: the API does not accept a setting.
    """

    name: str
    api: str
    temperature: float | None
    seed: int | None
    max_tokens: int | None
    stop: tuple[str, ...]
    reasoning_effort: str | None
    max_tokens_field: str
    extra_body: dict[str, Any]
    send_stop: bool = False
    json_schema: bool = False
    top_p: float | None = None

    def __post_init__(self) -> None:
        choices = {"api": ("chat", "responses"), "max_tokens_field": ("max_tokens", "max_completion_tokens")}
        for field, valid in choices.items():
            if getattr(self, field) not in valid:
                raise UsageError(
                    f"{field} is {in_quotes(getattr(self, field))}; use {' or '.join(map(in_quotes, valid))}"
                )
        if self.temperature is not None and not math.isfinite(self.temperature):
            raise UsageError(f"temperature is {self.temperature}; give a number, or leave it out")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise UsageError(f"top_p is {self.top_p}; give a share above 0 and up to 1, or leave it out")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"max_tokens is {self.max_tokens}; give 1 or more, or leave it out")
        if self.api == "responses" and self.seed is not None:
            raise UsageError("the Responses API takes no model_seed; leave it out, or use api=chat")
        for field, value in {"reasoning_effort": self.reasoning_effort, "extra_body": self.extra_body}.items():
            if why := _json_error(value):
                raise UsageError(f"{field} holds a value that JSON cannot carry ({why}); leave that out")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings for traces, without secrets."""
        api = {} if self.api == "chat" else {"api": self.api}
        stop = {"stop": list(self.stop)} if self.stop else {}
        switches = {name: True for name in ("send_stop", "json_schema") if getattr(self, name)}
        return {
            **api,
            **self._sampling(self.temperature),
            **self._token_limit(self.max_tokens),
            **stop,
            **switches,
            **remove_secrets(self.extra_body),
        }

    @property
    def path(self) -> str:
        """The API's path below the base URL."""
        return "/chat/completions" if self.api == "chat" else "/responses"

    def build_body(
        self, messages: Sequence[Message], purpose: Purpose, stop: Sequence[str], max_tokens: int | None
    ) -> dict[str, Any]:
        """The body of one request. ``stop`` holds the call's own sequences.

        The Responses API has no stop sequences, and reasoning models refuse them: replies are cut when read.
        """
        chat = self.api == "chat"
        sequences = (*self.stop, *(stop if self.send_stop else ()))
        schema = schema_fields(purpose, self.api) if self.json_schema else {}
        sent = [{"role": m["role"], "content": replace_surrogates(m["content"])} for m in messages]
        return {
            "model": self.name,
            **({"messages": sent} if chat else {"input": sent, "store": False}),
            **self._sampling(sampling_temperature(self.temperature)),
            **self._token_limit(self.max_tokens if max_tokens is None else max_tokens),
            **({"stop": [replace_surrogates(s) for s in sequences]} if sequences and chat and not schema else {}),
            **_add_tables(schema, self.extra_body),
        }

    def _sampling(self, temperature: float | None) -> dict[str, Any]:
        effort = self.reasoning_effort or None
        reasoning = {"reasoning_effort": effort} if self.api == "chat" else {"reasoning": effort and {"effort": effort}}
        given = {"temperature": temperature, "top_p": self.top_p, "seed": self.seed, **reasoning}
        return {name: value for name, value in given.items() if value is not None}

    def _token_limit(self, tokens: int | None) -> dict[str, Any]:
        field = self.max_tokens_field if self.api == "chat" else "max_output_tokens"
        return {} if tokens is None else {field: tokens}


def _add_tables(fields: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Both tables together. Tables under the same key are merged, and the fields of ``extra`` take precedence."""
    joined = {n: {**fields[n], **extra[n]} for n in fields if isinstance(extra.get(n), dict)}
    return {**fields, **extra, **joined}


def build_embedding_body(texts: Sequence[str], model: str) -> dict[str, Any]:
    """The body of one request for embeddings."""
    return {"model": model, "input": [replace_surrogates(text) for text in texts]}


def validate_model_name(name: str) -> str:
    """The name itself. Raises UsageError if it is empty or not valid UTF-8."""
    if not name.strip():
        raise UsageError("the model has no name; give one (such as --model gpt-4.1-mini), or use --model scripted")
    if _json_error(name):
        raise UsageError(f"the model's name {in_quotes(replace_surrogates(name))} is not text in UTF-8; copy it again")
    return name


def _json_error(value: object) -> str:
    """Why JSON cannot hold the value; empty if it can."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as e:
        return str(e)
    return ""


def replace_surrogates(text: str) -> str:
    """The text without lone surrogates: plans can print them, but JSON cannot hold them."""
    return text.encode("utf-8", "replace").decode()


def estimate_tokens(texts: Iterable[str], max_tokens: int | None) -> int:
    """The approximate tokens of a call, for the rate limit: four characters to a token."""
    return sum(map(len, texts)) // 4 + (max_tokens or 0)
