"""What OpenAI's protocol sends and answers: Chat Completions and the Responses API in one form, and embeddings."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from codeplan.budget import sampling_temperature
from codeplan.errors import UsageError
from codeplan.plugins import remove_secrets
from codeplan.types import Message, Purpose, Usage
from codeplan.untrusted.texts import cut_at_stop, shorten, split_thoughts
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
    JSON. The values of parameters become one JSON object. With a ``wanted`` schema the answer stays JSON. A byte order
    mark before it and one fence around it do not count.
    """
    if purpose not in _SCHEMAS or len(text) > _MAX_ANSWER_BYTES:
        return text
    bare = text.lstrip("\ufeff")
    fenced = _FENCED.fullmatch(bare)
    try:
        return _read_answer(purpose, fenced[1] if fenced else bare, wanted)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return text


_FENCED = re.compile(r"\s*+```[ \t]*+\w*+[ \t]*+\n(.*)```\s*+", re.DOTALL)


def _read_answer(purpose: Purpose, text: str, wanted: Mapping[str, Any] | None) -> str:
    if wanted is not None:
        return bytes(msgspec.json.decode(text, type=_WantedAnswer).answer).decode()
    if purpose == "bind":
        bindings = msgspec.json.decode(text, type=_Bindings)
        return json.dumps({b.name: b.value for b in bindings.values}, ensure_ascii=False)
    return _literal(msgspec.json.decode(text, type=_Answer).answer)


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


TOKEN_LIMIT_FIELDS: Final = ("max_tokens", "max_completion_tokens")
"""The names that Chat Completions has for the limit of tokens; an endpoint may take only one of them."""


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
    system_role: str = "system"

    def __post_init__(self) -> None:
        choices = {
            "api": ("chat", "responses"),
            "max_tokens_field": TOKEN_LIMIT_FIELDS,
            "system_role": ("system", "developer", "user"),
        }
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
        role = {} if self.system_role == "system" else {"system_role": self.system_role}
        return {
            **api,
            **self._sampling(self.temperature),
            **self._token_limit(self.max_tokens),
            **stop,
            **switches,
            **role,
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
        sent = [{"role": m["role"], "content": replace_surrogates(m["content"])} for m in self._in_roles(messages)]
        return {
            "model": self.name,
            **({"messages": sent} if chat else {"input": sent, "store": False}),
            **self._sampling(sampling_temperature(self.temperature)),
            **self._token_limit(self.max_tokens if max_tokens is None else max_tokens),
            **({"stop": [replace_surrogates(s) for s in sequences]} if sequences and chat and not schema else {}),
            **_add_tables(schema, self.extra_body),
        }

    def _in_roles(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """The messages in the roles that the model knows. Without a system role the user's first message begins with
        the system's text.
        """
        if self.system_role != "user":
            roles = {"system": self.system_role}
            return [{"role": roles.get(m["role"], m["role"]), "content": m["content"]} for m in messages]
        told = [m["content"] for m in messages if m["role"] == "system"]
        rest = [{"role": str(m["role"]), "content": m["content"]} for m in messages if m["role"] != "system"]
        if rest and rest[0]["role"] == "user":
            told.append(rest.pop(0)["content"])
        return [*([{"role": "user", "content": "\n\n".join(told)}] if told else []), *rest]

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


CONTEXT_FULL: Final = "context_full"
"""The finish reason of a reply that ended because the model's context has no more room."""

_OTHER_FILTERS = (
    *("recitation", "blocklist", "prohibited_content", "spii", "language", "image_safety"),  # Google
    *("guardrail_intervened", "content_filtered"),  # Bedrock
)

_FINISH_REASONS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "end_turn", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "content-filter", "sensitive", "safety", *_OTHER_FILTERS), "content_filter"),
    "model_context_window_exceeded": CONTEXT_FULL,
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

    ``status`` is the HTTP status that an error within a reply names. If ``is_page``, the body is an HTML page, and the
    message is its title.
    """

    message: str = ""
    code: str = ""
    type: str = ""
    status: int | None = None
    is_page: bool = False


def read_error(body: Any) -> ErrorDetails:
    """The content of an error's body: JSON data, or text that is not JSON."""
    text = _text(body).lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        body = decode_json(text.encode("utf-8", "replace"), Any) or body
    elif is_html(text):
        return ErrorDetails(_page_title(text), is_page=True)
    code = kind = cause = ""
    status = None
    for depth in range(_MAX_NESTING):
        if isinstance(body, list) and len(body) == 1 and isinstance(body[0], dict) and "error" in body[0]:
            body = body[0]  # Google's endpoint
        if not isinstance(body, dict):
            break
        code, kind = _text(body.get("code")) or code, _text(body.get("type") or body.get("status")) or kind
        status = _error_status(body) or status
        cause = _provider_error(body.get("metadata")) or _quoted_error(body.get("cause")) or cause
        below = next((body[name] for name in _MESSAGE_FIELDS if body.get(name)), None)
        body = _by_field(body) if below is None and depth else below
    message = ": ".join(filter(None, (_error_message(body), cause)))
    found = is_html(message)
    return ErrorDetails(_page_title(message) if found else message, code, kind, status, is_page=found)


_MESSAGE_FIELDS: Final = (
    "error",
    "message",
    "detail",
    "details",
    "errors",
    "msg",
    "error_description",
    "title",
    "reason",
    "base_resp",  # MiniMax
    "status_msg",
)
"""Where servers put an error's words, the most telling field first."""

_MAX_MESSAGES: Final = 5
"""Of a list of errors, how many are quoted."""


def _provider_error(metadata: Any) -> str:
    """The words of the provider behind a router, which quotes its body as text."""
    return _quoted_error(metadata.get("raw")) if isinstance(metadata, dict) else ""


def _quoted_error(raw: Any) -> str:
    return read_error(raw).message if isinstance(raw, str) else ""


def _error_status(body: Mapping[str, Any]) -> int | None:
    given = (body.get(name) for name in ("code", "status", "status_code"))
    return next((value for value in given if type(value) is int and 400 <= value < 600), None)


def _error_message(body: Any) -> str:
    """The words of an error. Of a list, such as FastAPI's, each item's words follow the place in the request."""
    if not isinstance(body, list):
        return _text(body)
    return "; ".join(filter(None, map(_listed_error, body[:_MAX_MESSAGES])))[:_MAX_CHARS]


def _by_field(body: Mapping[str, Any]) -> list[Any]:
    """The errors of a table from the request's fields to lists of what is wrong with each."""
    return [{"loc": [name], "msg": words} for name, words in body.items() if isinstance(words, list)]


def _listed_error(item: Any) -> str:
    if not isinstance(item, dict):
        return _text(item)
    words = next((item[name] for name in ("msg", *_MESSAGE_FIELDS) if item.get(name)), None)
    if isinstance(words, list):
        words = ", ".join(filter(None, map(_text, words[:_MAX_MESSAGES])))
    elif isinstance(words, dict):
        words = next((words[name] for name in _MESSAGE_FIELDS if isinstance(words.get(name), str)), None)
    place = item.get("loc") or item.get("param") or item.get("field") or item.get("path")
    steps = place[:_MAX_MESSAGES] if isinstance(place, list) else [place]
    where = ".".join(str(step) for step in steps if isinstance(step, str | int))
    return f"{where}: {_text(words)}" if where and _text(words) else _text(words) or where


_HTML_STARTS: Final = ("<!doctype html", "<html", "<head", "<body", "<?xml")


def is_html(text: str) -> bool:
    """Whether a body's text is an HTML page."""
    start = text[:1000].lstrip("\ufeff \t\r\n").lower()
    return start.startswith(_HTML_STARTS) or (start.startswith("<!--") and "<html" in start)


def _page_title(page: str) -> str:
    """The title of an HTML page; empty without one."""
    start = page.lower().find("<title>")
    end = page.find("<", start + 7)
    return page[start + 7 : end].strip() if 0 <= start < end else ""


def is_context_overflow(status: int | None, error: ErrorDetails) -> bool:
    """Whether the error says that the prompt is too long. ``status`` is None for an error in a successful answer."""
    if needs_more_a_minute(error):
        return False
    if status == 413:
        return True
    if status is not None and status not in _STATUSES:
        return False
    if {error.code.lower(), error.type.lower()} & _CODES:
        return True
    message = error.message.lower()
    return any(phrase in message for phrase in _PHRASES)


def needs_more_a_minute(error: ErrorDetails) -> bool:
    """Whether the endpoint says that this request alone has more tokens than it allows in a minute."""
    said = error.message.lower()
    return "request too large" in said and "tokens per min" in said


def _text(value: object) -> str:
    return value[:_MAX_CHARS] if isinstance(value, str) else ""


class ModelReply(msgspec.Struct, frozen=True):
    """A reply, whole or not. ``text`` is None if it has none; ``error`` is the body's own error.

    ``finish_reason`` uses Chat Completions' terms where there is one; a whole reply has ``"stop"``, or nothing.
    ``reasoning`` is what the endpoint shows of the model's thoughts, at most MAX_REASONING_CHARS of it.
    """

    text: str | None = None
    refusal: str = ""
    finish_reason: str = ""
    usage: Usage = Usage(None, None)
    model: str = ""
    fingerprint: str = ""
    error: ErrorDetails | None = None
    reasoning: str = ""


MAX_REASONING_CHARS: Final = 20_000
"""How much of a reply's reasoning is kept, in characters."""


class EmbeddingReply(msgspec.Struct, frozen=True):
    """A reply with embeddings. ``vectors`` is None unless there is one valid vector for each text."""

    vectors: tuple[tuple[float, ...], ...] | None
    usage: Usage
    model: str = ""
    error: ErrorDetails | None = None


def parse_chat(body: bytes) -> ModelReply | None:
    """The reply in a chat completion's body; None if it is not one."""
    read = decode_json(mended(body), _Chat)
    error = read and _parse_error(read.error)
    if read is None:
        return None
    if error is None and read.choices is None and decode_json(read.message, ReplyFields) is not None:
        read.choices = [_Choice(read.message)]  # as Ollama's own API
    if error is None and read.choices is None:
        return None
    usage = _parse_usage(read.usage, "prompt", "completion")
    shared: dict[str, Any] = {"usage": usage, "model": decode_json(read.model, str) or "", "error": error}
    if not read.choices:
        told = _parse_error(msgspec.Raw(body))  # why there are none
        shared["error"] = error or (told if told and told.message else None)
        return ModelReply(**shared)
    choice = read.choices[0]
    shared["error"] = error or _parse_error(choice.error)
    alone = ReplyFields(choice.message if len(choice.message) else choice.text)
    message = decode_json(choice.message, ReplyFields) or alone
    parts = read_content(message.content)
    text, thought = split_thoughts(parts.text)
    beside = (message.reasoning_content, message.reasoning, message.thinking, message.reasoning_details)
    thoughts = [parts.reasoning, next(filter(None, map(_all_text, beside)), ""), thought]
    reasoned = any(bytes(field) not in _NOTHING for field in beside)
    return ModelReply(
        text=None if (reasoned or parts.reasoning) and not (text or "").strip() else text,
        refusal=decode_json(message.refusal, str) or parts.refusal,
        finish_reason=normalise_finish_reason(decode_json(choice.finish_reason, str)),
        fingerprint=decode_json(read.system_fingerprint, str) or "",
        reasoning=bound_reasoning(thoughts),
        **shared,
    )


def parse_response(body: bytes) -> ModelReply | None:
    """The reply in a Responses API body; None if it is not one."""
    read = decode_json(mended(body), _Response)
    error = read and _parse_error(read.error)
    if read is None or (error is None and read.output is None):
        return None
    output = read.output or []
    parts = [read_content(item.content) for item in output if item.type == "message"]
    texts = [part.text for part in parts if part.text is not None]
    text, thought = split_thoughts("".join(texts) if texts else None)
    thoughts = [
        _all_text(field) for item in output if item.type == "reasoning" for field in (item.summary, item.content)
    ]
    return ModelReply(
        text=text,
        refusal="".join(part.refusal for part in parts),
        finish_reason=_response_finish_reason(read),
        usage=_parse_usage(read.usage, "input", "output"),
        model=read.model or "",
        error=error,
        reasoning=bound_reasoning([*thoughts, *(part.reasoning for part in parts), thought]),
    )


class MessageContent(msgspec.Struct, frozen=True):
    """What a message holds: its text (None without any), the model's reasoning in it, and its refusal."""

    text: str | None
    reasoning: str = ""
    refusal: str = ""


_REASONING_KINDS: Final = ("think", "thought", "reason")
_TEXT_FIELDS: Final = ("text", "content", "value")
_THOUGHT_FIELDS: Final = ("thinking", "reasoning", "reasoning_content", "summary", *_TEXT_FIELDS)


def read_content(content: msgspec.Raw) -> MessageContent:
    """The content of a message: a text, one part, or a list of parts of any servers' kinds.

    Parts whose type speaks of thoughts are reasoning; parts without text, such as pictures, are left out.
    """
    if bytes(content) in _EMPTY:
        return MessageContent(None)
    if (whole := decode_json(content, str)) is not None:
        return MessageContent(whole)
    texts, thoughts, refusals = list[str](), list[str](), list[str]()
    for part in _listed(content):
        if (plain := decode_json(part, str)) is not None:
            texts.append(plain)
            continue
        fields = decode_json(part, dict[str, msgspec.Raw]) or {}
        kind = (decode_json(fields.get("type", msgspec.Raw()), str) or "").lower()
        if kind == "refusal":
            refusals.append(_field_text(fields, ("refusal", "text")) or "")
        elif any(word in kind for word in _REASONING_KINDS) or _is_thought(fields):
            thoughts.append(_field_text(fields, _THOUGHT_FIELDS) or "")
        elif (said := _field_text(fields, _TEXT_FIELDS)) is not None and not kind.startswith("tool"):
            texts.append(said)
    return MessageContent("".join(texts) if texts else None, "\n".join(filter(None, thoughts)), "".join(refusals))


def _is_thought(fields: Mapping[str, msgspec.Raw]) -> bool:
    """Whether a part without a type of its own is marked as a thought, as Google does."""
    return bytes(fields.get("thought", msgspec.Raw())) == b"true" or ("thinking" in fields and "text" not in fields)


def _listed(value: msgspec.Raw) -> list[msgspec.Raw]:
    found = decode_json(value, list[msgspec.Raw])
    return [value] if found is None else found


def _field_text(fields: Mapping[str, msgspec.Raw], names: Sequence[str]) -> str | None:
    """The text in the first of these fields that has one; a text may be nested once more, or in parts."""
    found = (_all_text(fields[name]) for name in names if name in fields and bytes(fields[name]) != b"null")
    return next(found, None)


def _all_text(value: msgspec.Raw, depth: int = 0) -> str:
    """The text of a field that holds a text, or parts with texts, nested at most _MAX_NESTING times."""
    if bytes(value) in _NOTHING or depth > _MAX_NESTING:
        return ""
    text: str | None = decode_json(value, str)
    if text is not None:
        return text
    if (parts := decode_json(value, list[msgspec.Raw])) is not None:
        return "".join(_all_text(part, depth + 1) for part in parts)
    fields: dict[str, msgspec.Raw] = decode_json(value, dict[str, msgspec.Raw]) or {}
    return next((_all_text(fields[name], depth + 1) for name in _THOUGHT_FIELDS if name in fields), "")


def bound_reasoning(parts: Iterable[str]) -> str:
    """The parts of a model's reasoning as one text of at most MAX_REASONING_CHARS, without repetitions."""
    text = "\n".join(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return shorten(text, MAX_REASONING_CHARS)


def parse_embeddings(body: bytes, count: int) -> EmbeddingReply | None:
    """The vectors of ``count`` texts; None if the body is no such reply."""
    read = decode_json(body, _Embeddings)
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


def _order_vectors(items: Sequence[_Embedding], count: int) -> tuple[tuple[float, ...], ...] | None:
    if len(items) != count or any(len(item.embedding) > _MAX_VECTOR_BYTES for item in items):
        return None
    found = {item.index: decode_json(item.embedding, tuple[float, ...]) or () for item in items}
    vectors = tuple(found.get(number, ()) for number in range(count))
    if len({len(vector) for vector in vectors}) != 1:
        return None
    return vectors if all(vector and math.isfinite(sum(vector)) for vector in vectors) else None


def _response_finish_reason(read: _Response) -> str:
    if read.status != "incomplete":
        return normalise_finish_reason(read.status)
    reason = _parse_object(read.incomplete_details).get("reason", msgspec.Raw())
    return normalise_finish_reason(decode_json(reason, str) or "incomplete")


def normalise_finish_reason(reason: str | None) -> str:
    """The reason in Chat Completions' terms, or as it is."""
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
        money=_cost(tokens),
    )


def _token_count(tokens: dict[str, msgspec.Raw], name: str) -> int | None:
    value = decode_json(tokens.get(name, msgspec.Raw()), int | float)
    return int(value) if value is not None and 0 <= value <= _MAX_COUNT and value == int(value) else None


_MAX_COST = 1e6
"""The largest cost of a call that is accepted, in US dollars."""


def _cost(tokens: dict[str, msgspec.Raw]) -> float | None:
    """What the endpoint says that the call cost, in US dollars; None if it says nothing, or nothing valid."""
    value = decode_json(tokens.get("cost", msgspec.Raw()), float)
    return value if value is not None and 0 <= value <= _MAX_COST else None


def _part_of(whole: int | None, part: int | None) -> int:
    """The part, or 0 if it is unknown or larger than a known whole."""
    return 0 if part is None or (whole is not None and part > whole) else part


def _parse_error(error: msgspec.Raw) -> ErrorDetails | None:
    """The error in a reply; None if there is none."""
    if bytes(error) in (b"", b"null"):
        return None
    return read_error(decode_json(error, Any)) if len(error) <= _MAX_ERROR_BYTES else ErrorDetails()


def _parse_object(value: msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The fields of a small JSON object; empty if it is something else."""
    return (decode_json(value, dict[str, msgspec.Raw]) or {}) if len(value) <= _MAX_ERROR_BYTES else {}


# ------------------------------------------------------------------ the fields that are read; others are ignored
# Fields of unknown types stay undecoded: as Python objects, they could take fifty times the memory of the body.

_EMPTY = frozenset({b"", b"null"})
_NOTHING = _EMPTY | {b'""', b"[]", b"{}", b"false"}


class ReplyFields(msgspec.Struct):
    """A reply, or a piece of one. A field of an unknown type says nothing about the others."""

    content: msgspec.Raw = msgspec.Raw()
    refusal: msgspec.Raw = msgspec.Raw()
    reasoning_content: msgspec.Raw = msgspec.Raw()
    reasoning: msgspec.Raw = msgspec.Raw()
    thinking: msgspec.Raw = msgspec.Raw()
    reasoning_details: msgspec.Raw = msgspec.Raw()


class _Choice(msgspec.Struct):
    message: msgspec.Raw = msgspec.Raw()
    text: msgspec.Raw = msgspec.Raw()
    finish_reason: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class _Chat(msgspec.Struct):
    choices: list[_Choice] | None = None
    message: msgspec.Raw = msgspec.Raw()
    model: msgspec.Raw = msgspec.Raw()
    system_fingerprint: msgspec.Raw = msgspec.Raw()
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class _Item(msgspec.Struct):
    type: str = ""
    content: msgspec.Raw = msgspec.Raw()
    summary: msgspec.Raw = msgspec.Raw()


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


def decode_json(data: bytes | msgspec.Raw, kind: Any) -> Any:
    """The value; None if the data is not JSON of this type. A byte order mark before it does not count."""
    try:
        if isinstance(data, bytes):
            data = data.removeprefix(codecs.BOM_UTF8)
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


_MAX_MENDED: Final = 256 << 10
"""The largest body that is mended. As Python objects, it may take fifty times as much memory."""


def mended(body: bytes) -> bytes:
    """The body as JSON, if it is JSON but for what some servers write: bytes that are not UTF-8, half surrogate pairs
    (both where a text is cut within a character), NaN, and bare line ends in a text.
    """
    try:
        body.decode()
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if len(body) <= _MAX_MENDED:
            with contextlib.suppress(ValueError, RecursionError):
                loosely = json.loads(body.decode("utf-8-sig", "replace"), strict=False, parse_constant=lambda _: None)
                return replace_surrogates(json.dumps(loosely, ensure_ascii=False)).encode()
    return body
