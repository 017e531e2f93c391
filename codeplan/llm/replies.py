"""What an endpoint sent back, read: of Chat Completions and of the Responses API into one form; and embeddings."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from codeplan.types import Usage

_THOUGHT = re.compile(r"\A(?:\s*<think>)?(?:(?!<think>).)*?</think>\s*", re.DOTALL)

_ENDS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "end_turn", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "safety"), "content_filter"),
    **dict.fromkeys(("tool_calls", "function_call"), "tool_calls"),
}
"""How a reply ended, in the words of servers and APIs, and in those of Chat Completions."""

_MOST = 2**53
"""No sound count is larger; beyond it, sums would no longer be exact."""


class Reply(msgspec.Struct, frozen=True):
    """A reply as it came, whole or not. ``text`` is None where it has none; ``error`` is set where it is none.

    ``finish_reason`` is in Chat's words, as far as it has one: ``"stop"``, or empty, for a whole reply.
    """

    text: str | None = None
    refusal: str = ""
    finish_reason: str = ""
    usage: Usage = Usage(None, None)
    model: str = ""
    fingerprint: str = ""
    error: Any = None


class Vectors(msgspec.Struct, frozen=True):
    """Embeddings as they came. ``vectors`` is None where there is not one for each text that is sound."""

    vectors: tuple[tuple[float, ...], ...] | None
    usage: Usage
    model: str = ""
    error: Any = None


def chat(body: bytes) -> Reply | None:
    """A chat completion; None where the body is none."""
    read = _decoded(body, _Chat)
    if read is None or (read.error is None and read.choices is None):
        return None
    usage = _usage(read.usage, "prompt", "completion")
    shared = {"usage": usage, "model": read.model or "", "error": read.error}
    if not read.choices:
        return Reply(**shared)
    choice = read.choices[0]
    return Reply(
        text=_text(choice.message),
        refusal=choice.message.refusal or "",
        finish_reason=_ended(choice.finish_reason),
        fingerprint=read.system_fingerprint or "",
        **shared,
    )


def responses(body: bytes) -> Reply | None:
    """A response of the Responses API; None where the body is none."""
    read = _decoded(body, _Response)
    if read is None or (read.error is None and read.output is None):
        return None
    parts = [part for item in read.output or [] if item.type == "message" for part in item.content or []]
    texts = [part.text or "" for part in parts if part.type == "output_text"]
    return Reply(
        text=_without_thought("".join(texts)) if texts else None,
        refusal="".join(part.refusal or "" for part in parts if part.type == "refusal"),
        finish_reason=_finish_reason(read),
        usage=_usage(read.usage, "input", "output"),
        model=read.model or "",
        error=read.error,
    )


def embeddings(body: bytes, count: int) -> Vectors | None:
    """The vectors of so many texts; None where the body is no such reply."""
    read = _decoded(body, _Embeddings)
    if read is None or (read.error is None and read.data is None):
        return None
    tokens = read.usage if isinstance(read.usage, dict) else {}
    usage = Usage(_count(tokens, "prompt_tokens" if "prompt_tokens" in tokens else "total_tokens"), 0)
    return Vectors(_in_order(read.data or [], count), usage, read.model or "", read.error)


def cut(text: str, stop: Sequence[str]) -> str:
    """The text up to the first of the stop sequences; for endpoints that do not know them."""
    for sequence in stop:
        text = text.partition(sequence)[0] if sequence else text
    return text


def _in_order(items: Sequence[_Embedding], count: int) -> tuple[tuple[float, ...], ...] | None:
    found = {item.index: item.embedding or () for item in items}
    vectors = tuple(found.get(number, ()) for number in range(count))
    if len(items) != count or len({len(vector) for vector in vectors}) != 1:
        return None
    return vectors if all(vector and math.isfinite(sum(vector)) for vector in vectors) else None


def _text(message: _Message) -> str | None:
    """The message's text; None where there is nothing but reasoning, which servers put beside an empty text, too."""
    text = _without_thought(message.content)
    reasoned = message.reasoning_content or message.reasoning
    return None if reasoned and not (text or "").strip() else text


def _without_thought(text: str | None) -> str | None:
    """The text without the reasoning that some servers leave at its front; None where there is nothing else."""
    if text is None or ("<think>" not in text and "</think>" not in text):
        return text
    rest = _THOUGHT.sub("", text, count=1)
    return None if not rest.strip() or rest.lstrip().startswith("<think>") else rest


def _finish_reason(read: _Response) -> str:
    if read.status != "incomplete":
        return _ended(read.status)
    reason = (read.incomplete_details or {}).get("reason")
    return _ended(str(reason or "incomplete"))


def _ended(reason: str | None) -> str:
    given = reason or ""
    return _ENDS.get(given.lower(), given)


def _usage(tokens: object, sent: str, made: str) -> Usage:
    """The tokens under the API's own names; unknown where it says nothing, or nothing sound."""
    if not isinstance(tokens, dict):
        return Usage(None, None)
    details = (tokens.get(f"{sent}_tokens_details"), tokens.get(f"{made}_tokens_details"))
    return Usage(
        _count(tokens, f"{sent}_tokens"),
        _count(tokens, f"{made}_tokens"),
        _count(details[0], "cached_tokens") or 0,
        _count(details[1], "reasoning_tokens") or 0,
    )


def _count(of: object, name: str) -> int | None:
    value = of.get(name) if isinstance(of, dict) else None
    return value if type(value) is int and 0 <= value <= _MOST else None


# ------------------------------------------------------------------ the parts that are read; anything else is ignored


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Chat(msgspec.Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    usage: Any = None
    error: Any = None


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
    incomplete_details: dict[str, Any] | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None


class _Embedding(msgspec.Struct):
    index: int
    embedding: tuple[float, ...] | None = None


class _Embeddings(msgspec.Struct):
    data: list[_Embedding] | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None


def _decoded(body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
