"""Reads replies: Chat Completions and the Responses API into one form, and embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from codeplan.llm.error_bodies import ErrorDetails, read_error
from codeplan.types import Usage

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
