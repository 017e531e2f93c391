"""Reads the errors of many kinds of endpoints, and recognises those that say that a prompt is too long."""

from __future__ import annotations

from typing import Any, Final

import msgspec

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
