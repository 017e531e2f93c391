"""What OpenAI's protocol sends and answers: Chat Completions and the Responses API in one form, and embeddings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from codeplan.budget import sampling_temperature
from codeplan.errors import UsageError
from codeplan.recording.redaction import remove_secrets
from codeplan.types import Message, Purpose, Usage
from codeplan.untrusted.values import in_quotes

_MAX_ANSWER_BYTES = 256 << 10
"""The largest answer that is decoded; a larger one stays as it is."""

_SCALARS = [{"type": name} for name in ("string", "number", "boolean", "null")]
_LIST = {"type": "array", "items": {"anyOf": _SCALARS}}
_LIST_OF_LISTS = {"type": "array", "items": _LIST}
_TEXTS = {"type": "array", "items": {"type": "string"}}


def _object(**fields: Any) -> dict[str, Any]:
    """A schema for an object with exactly these fields, as strict endpoints want it."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


_STRING = {
    "type": "string",
    "description": "exactly the characters that the question asks for; if it asks for a Python string, with its quotes",
}
_SCHEMAS: dict[Purpose, dict[str, Any]] = {
    "ask": _object(answer={"anyOf": [_STRING, *_SCALARS[1:], _LIST, _LIST_OF_LISTS]}),
    "bind": _object(
        values={
            "type": "array",
            "items": _object(name={"type": "string"}, value={"anyOf": [{"type": "string"}, _TEXTS]}),
        }
    ),
}

_Scalar = str | int | float | bool | None


class _Answer(msgspec.Struct):
    answer: _Scalar | list[_Scalar | list[_Scalar]]


class _WantedAnswer(msgspec.Struct):
    answer: msgspec.Raw


class _Binding(msgspec.Struct):
    name: str
    value: str | list[str]


class _Bindings(msgspec.Struct):
    values: list[_Binding]


def schema_fields(purpose: Purpose, api: str, wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields of a request that ask for JSON by the ``wanted`` schema, or the purpose's; empty if it has none."""
    schema = wanted or _SCHEMAS.get(purpose)
    if schema is None:
        return {}
    about = {"name": f"codeplan_{purpose}", "strict": _is_strict(schema), "schema": schema}
    if api == "chat":
        return {"response_format": {"type": "json_schema", "json_schema": about}}
    return {"text": {"format": {"type": "json_schema", **about}}}


def _is_strict(schema: Any) -> bool:
    """Whether strict endpoints take the schema: they want to know all keys of each object."""
    if isinstance(schema, Mapping):
        return schema.get("additionalProperties", False) is False and all(map(_is_strict, schema.values()))
    return not isinstance(schema, list) or all(map(_is_strict, schema))


def answer_text(purpose: Purpose, text: str, wanted: Mapping[str, Any] | None = None) -> str:
    """The text that an answer stands for; the text itself if it does not follow the purpose's schema.

    A string becomes its characters, every other answer its Python literal; a list of texts and numbers is also valid
    JSON. The values of parameters become one JSON object. With a ``wanted`` schema the answer stays JSON.
    """
    if purpose not in _SCHEMAS or len(text) > _MAX_ANSWER_BYTES:
        return text
    try:
        if wanted is not None:
            return bytes(msgspec.json.decode(text, type=_WantedAnswer).answer).decode()
        if purpose == "bind":
            bindings = msgspec.json.decode(text, type=_Bindings)
            return json.dumps({b.name: b.value for b in bindings.values}, ensure_ascii=False)
        return _literal(msgspec.json.decode(text, type=_Answer).answer)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return text


def _literal(answer: Any) -> str:
    """The answer as Python reads it. Texts within a list are in double quotes, so that JSON reads them as well."""
    if isinstance(answer, str):
        return answer
    return _item(answer)


def _item(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_item, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


EMBEDDINGS_PATH = "/embeddings"
"""The path for embeddings, below the base URL."""

CHAT_PATH = "/chat/completions"
"""The path of Chat Completions, below the base URL."""

API_PATHS = (CHAT_PATH, "/responses", EMBEDDINGS_PATH, "/models")
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
        return CHAT_PATH if self.api == "chat" else "/responses"

    def build_body(
        self,
        messages: Sequence[Message],
        purpose: Purpose,
        stop: Sequence[str],
        max_tokens: int | None,
        wanted: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The body of one request. ``stop`` holds the call's own sequences, ``wanted`` the answer's own schema.

        The Responses API has no stop sequences, and reasoning models refuse them: replies are cut when read.
        """
        chat = self.api == "chat"
        sequences = (*self.stop, *(stop if self.send_stop else ()))
        schema = schema_fields(purpose, self.api, wanted) if self.json_schema else {}
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


_REASONING_START, _REASONING_END = "<think>", "</think>"

_FINISH_REASONS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "end_turn", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "safety"), "content_filter"),
    **dict.fromkeys(("tool_calls", "function_call"), "tool_calls"),
}
"""Finish reasons of various servers, and what Chat Completions calls them."""

_MAX_COUNT = 10**12
"""The largest token count accepted; no call has more, and sums of it fit into the integers of JSON decoders."""

_MAX_VECTOR_BYTES = 256 << 10
"""The largest vector in JSON that is decoded: 8192 numbers of 32 characters."""

_MAX_ERROR_BYTES = 64 << 10
"""The largest error in a reply that is decoded."""


_STATUSES: Final = frozenset({400, 413, 422, 500})
"""Status codes with which endpoints report a prompt that is too long: llama.cpp has used 500,
text-generation-inference uses 422. 413 has no other meaning.
"""


_CODES: Final = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, Groq, DeepSeek, OpenRouter
        "string_above_max_length",  # OpenAI, for a single message
        "context_window_exceeded",
        "model_context_window_exceeded",
        "exceed_context_size_error",  # llama.cpp
        "request_too_large",  # Anthropic
        "contextwindowexceedederror",  # LiteLLM
    }
)
"""Values of ``code`` or ``type`` in an error, in lower case."""


_PHRASES: Final = (
    "context_length_exceeded",
    "contextwindowexceedederror",  # LiteLLM quotes its exception
    "maximum context length",  # vLLM, SGLang, Mistral, OpenAI of old
    "maximum prompt length",  # xAI
    "longer than the maximum model length",  # vLLM
    "longer than the model's context length",  # SGLang
    "exceeds the available context size",  # llama.cpp
    "exceeds the context length",  # Ollama
    "exceeded max context length",  # Ollama
    "exceeds the context window",  # OpenAI's Responses API
    "exceed context limit",  # Anthropic
    "prompt is too long",  # Anthropic
    "input is too long",  # Bedrock
    "exceeds the maximum number of tokens allowed",  # Gemini
    "`inputs` must have less than",  # text-generation-inference
    "`inputs` tokens + `max_new_tokens` must be",  # text-generation-inference, Together
    "loaded with context length of only",  # LM Studio
    "reduce the length of the messages",  # OpenAI, Groq
)
"""Parts of messages, in lower case, of endpoints that have no code for it."""


_MAX_NESTING: Final = 4


_MAX_CHARS: Final = 20_000
"""Maximum length of a message, in characters; the rest is ignored."""


class ErrorDetails(msgspec.Struct, frozen=True):
    """The content of an error, regardless of the place of its fields. A field that is missing or is not a text is
    empty.
    """

    message: str = ""
    code: str = ""
    type: str = ""


def read_error(body: Any) -> ErrorDetails:
    """The content of an error's body: JSON data, or text that is not JSON."""
    code = kind = ""
    for _ in range(_MAX_NESTING):
        if not isinstance(body, dict):
            break
        code, kind = _text(body.get("code")) or code, _text(body.get("type")) or kind
        body = body.get("error") or body.get("message") or body.get("detail")
    message = _text(body)
    return ErrorDetails("" if "<html" in message.lower() else message, code, kind)


def is_context_overflow(status: int | None, error: ErrorDetails) -> bool:
    """Whether the error says that the prompt is too long. ``status`` is None for an error in a successful answer."""
    if status == 413:
        return True
    if status is not None and status not in _STATUSES:
        return False
    if {error.code.lower(), error.type.lower()} & _CODES:
        return True
    message = error.message.lower()
    return any(phrase in message for phrase in _PHRASES)


def _text(value: object) -> str:
    return value[:_MAX_CHARS] if isinstance(value, str) else ""


class ModelReply(msgspec.Struct, frozen=True):
    """A reply, whole or not. ``text`` is None if it has none; ``error`` is the body's own error.

    ``finish_reason`` uses Chat Completions' terms where there is one; a whole reply has ``"stop"``, or nothing.
    """

    text: str | None = None
    refusal: str = ""
    finish_reason: str = ""
    usage: Usage = Usage(None, None)
    model: str = ""
    fingerprint: str = ""
    error: ErrorDetails | None = None


class EmbeddingReply(msgspec.Struct, frozen=True):
    """A reply with embeddings. ``vectors`` is None unless there is one valid vector for each text."""

    vectors: tuple[tuple[float, ...], ...] | None
    usage: Usage
    model: str = ""
    error: ErrorDetails | None = None


def parse_chat(body: bytes) -> ModelReply | None:
    """The reply in a chat completion's body; None if it is not one."""
    read = _decode(body, _Chat)
    error = read and _parse_error(read.error)
    if read is None or (error is None and read.choices is None):
        return None
    usage = _parse_usage(read.usage, "prompt", "completion")
    shared: dict[str, Any] = {"usage": usage, "model": read.model or "", "error": error}
    if not read.choices:
        return ModelReply(**shared)
    choice = read.choices[0]
    return ModelReply(
        text=_message_text(choice.message),
        refusal=choice.message.refusal or "",
        finish_reason=_normalise_finish_reason(choice.finish_reason),
        fingerprint=read.system_fingerprint or "",
        **shared,
    )


def parse_response(body: bytes) -> ModelReply | None:
    """The reply in a Responses API body; None if it is not one."""
    read = _decode(body, _Response)
    error = read and _parse_error(read.error)
    if read is None or (error is None and read.output is None):
        return None
    parts = [part for item in read.output or [] if item.type == "message" for part in item.content or []]
    texts = [part.text or "" for part in parts if part.type == "output_text"]
    return ModelReply(
        text=_strip_reasoning("".join(texts)) if texts else None,
        refusal="".join(part.refusal or "" for part in parts if part.type == "refusal"),
        finish_reason=_response_finish_reason(read),
        usage=_parse_usage(read.usage, "input", "output"),
        model=read.model or "",
        error=error,
    )


def parse_embeddings(body: bytes, count: int) -> EmbeddingReply | None:
    """The vectors of ``count`` texts; None if the body is no such reply."""
    read = _decode(body, _Embeddings)
    error = read and _parse_error(read.error)
    if read is None or (error is None and read.data is None):
        return None
    tokens = _parse_object(read.usage)
    usage = Usage(_token_count(tokens, "prompt_tokens" if "prompt_tokens" in tokens else "total_tokens"), 0)
    return EmbeddingReply(_order_vectors(read.data or [], count), usage, read.model or "", error)


def cut_reply(reply: ModelReply, stop: Sequence[str]) -> ModelReply:
    """The reply with its text up to the first stop sequence: endpoints get none, or ignore them.

    The text before the sequence is complete, even if the endpoint cut the rest off at its limit of tokens.
    """
    whole = reply.text or ""
    text = cut_at_stop(whole, stop)
    if len(text) == len(whole):
        return reply
    reason = "stop" if reply.finish_reason == "length" else reply.finish_reason
    return msgspec.structs.replace(reply, text=text, finish_reason=reason)


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """The text up to the first stop sequence.

    White space at the start of a text is no stop sequence: many models begin with an empty line.
    """
    start = len(text) - len(text.lstrip())
    found = (text.find(sequence, start if sequence.isspace() else 0) for sequence in stop if sequence)
    return text[: min((place for place in found if place >= 0), default=len(text))]


def _order_vectors(items: Sequence[_Embedding], count: int) -> tuple[tuple[float, ...], ...] | None:
    if len(items) != count or any(len(item.embedding) > _MAX_VECTOR_BYTES for item in items):
        return None
    found = {item.index: _decode(item.embedding, tuple[float, ...]) or () for item in items}
    vectors = tuple(found.get(number, ()) for number in range(count))
    if len({len(vector) for vector in vectors}) != 1:
        return None
    return vectors if all(vector and math.isfinite(sum(vector)) for vector in vectors) else None


def _message_text(message: _Message) -> str | None:
    """The message's text; None if there is only reasoning, which some servers put beside an empty text."""
    text = _strip_reasoning(message.content)
    reasoned = {bytes(message.reasoning_content), bytes(message.reasoning)} - _NOTHING
    return None if reasoned and not (text or "").strip() else text


def _strip_reasoning(text: str | None) -> str | None:
    """The text without the reasoning that some servers leave at its start; None if nothing else is left."""
    if text is None or (_REASONING_START not in text and _REASONING_END not in text):
        return text
    reasoning, end, answer = text.partition(_REASONING_END)
    nested = _REASONING_START in reasoning.lstrip().removeprefix(_REASONING_START)
    rest = answer.lstrip() if end and not nested else text
    return None if not rest.strip() or rest.lstrip().startswith(_REASONING_START) else rest


def _response_finish_reason(read: _Response) -> str:
    if read.status != "incomplete":
        return _normalise_finish_reason(read.status)
    reason = _parse_object(read.incomplete_details).get("reason", msgspec.Raw())
    return _normalise_finish_reason(_decode(reason, str) or "incomplete")


def _normalise_finish_reason(reason: str | None) -> str:
    given = reason or ""
    return _FINISH_REASONS.get(given.lower(), given)


def _parse_usage(usage: msgspec.Raw, input_name: str, output_name: str) -> Usage:
    """The tokens, read by the API's own names; None where a count is missing or invalid."""
    tokens = _parse_object(usage)
    details = [_parse_object(tokens.get(f"{n}_tokens_details", msgspec.Raw())) for n in (input_name, output_name)]
    sent, written = (_token_count(tokens, f"{n}_tokens") for n in (input_name, output_name))
    return Usage(
        sent,
        written,
        _part_of(sent, _token_count(details[0], "cached_tokens")),
        _part_of(written, _token_count(details[1], "reasoning_tokens")),
    )


def _token_count(tokens: dict[str, msgspec.Raw], name: str) -> int | None:
    value = _decode(tokens.get(name, msgspec.Raw()), int)
    return value if value is not None and 0 <= value <= _MAX_COUNT else None


def _part_of(whole: int | None, part: int | None) -> int:
    """The part, or 0 if it is unknown or larger than a known whole."""
    return 0 if part is None or (whole is not None and part > whole) else part


def _parse_error(error: msgspec.Raw) -> ErrorDetails | None:
    """The error in a reply; None if there is none."""
    if bytes(error) in (b"", b"null"):
        return None
    return read_error(_decode(error, Any)) if len(error) <= _MAX_ERROR_BYTES else ErrorDetails()


def _parse_object(value: msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The fields of a small JSON object; empty if it is something else."""
    return (_decode(value, dict[str, msgspec.Raw]) or {}) if len(value) <= _MAX_ERROR_BYTES else {}


# ------------------------------------------------------------------ the fields that are read; others are ignored
# Fields of unknown types stay undecoded: as Python objects, they could take fifty times the memory of the body.

_NOTHING = frozenset({b"", b"null", b'""', b"[]", b"{}", b"false"})


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: msgspec.Raw = msgspec.Raw()
    reasoning: msgspec.Raw = msgspec.Raw()


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Chat(msgspec.Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class _Part(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    content: list[_Part] | None = None


class _Response(msgspec.Struct):
    output: list[_Item] | None = None
    status: str | None = None
    incomplete_details: msgspec.Raw = msgspec.Raw()
    model: str | None = None
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class _Embedding(msgspec.Struct):
    index: int
    embedding: msgspec.Raw = msgspec.Raw()


class _Embeddings(msgspec.Struct):
    data: list[_Embedding] | None = None
    model: str | None = None
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


def _decode(data: bytes | msgspec.Raw, kind: Any) -> Any:
    """The value; None if the data is not JSON of this type."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
