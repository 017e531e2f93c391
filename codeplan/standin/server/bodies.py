"""Bodies of OpenAI's protocol, whole and as streams."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec

from codeplan.types import Completion, Message

MAX_NAME_CHARACTERS = 200
"""The longest name of a model or a user."""

_CHUNK_CHARACTERS = 40


class ServerReply(msgspec.Struct, frozen=True):
    """A reply to send. ``text`` is None for a reply without text; ``finish_reason`` is Chat Completions' term."""

    number: int
    model: str
    text: str | None
    finish_reason: str
    input_tokens: int
    output_tokens: int

    @staticmethod
    def from_completion(completion: Completion, number: int, model: str, fault: str) -> ServerReply:
        """The reply to a completion; the faults ``"null"`` and ``"length"`` remove or cut its text."""
        usage = completion.usage
        text, made = completion.text, usage.output_tokens or 0
        if fault == "length":
            text, made = text[: len(text) // 2], made // 2
        reason = "length" if fault == "length" else "stop"
        return ServerReply(number, model, None if fault == "null" else text, reason, usage.input_tokens or 0, made)


def read_name(request: dict[str, Any], field: str) -> str:
    """A name in a request; empty if it has none. Raises ValueError if it is no text, or too long."""
    name = request.get(field) or ""
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f"{field} is not a text of at most {MAX_NAME_CHARACTERS} characters")
    return name


def read_messages(request: dict[str, Any], api: str) -> list[Message]:
    """The messages of a request. Raises ValueError if one is invalid."""
    given = request.get("messages" if api == "chat" else "input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    instructions = request.get("instructions")
    system = [{"role": "system", "content": instructions}] if api == "responses" and instructions else []
    try:
        return msgspec.convert([*system, *(_plain_message(m) for m in given or [])], list[Message])
    except (msgspec.ValidationError, TypeError, KeyError, AttributeError) as e:
        raise ValueError(f"the messages are invalid: {e}") from None


def _plain_message(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its content as one text; it may come as a list of parts."""
    content = message["content"]
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    role = {"developer": "system"}.get(message["role"], message["role"])
    return {"role": role, "content": content}


# ------------------------------------------------------------------ Chat Completions


def chat_body(reply: ServerReply) -> dict[str, Any]:
    """The body of a chat completion."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text, "refusal": None},
        "finish_reason": reply.finish_reason,
        "logprobs": None,
    }
    return {**_chat_head(reply, "chat.completion"), "choices": [choice], "usage": _chat_usage(reply)}


def chat_stream(reply: ServerReply, with_usage: bool) -> Iterator[bytes]:
    """A chat completion as server-sent events, with the usage last if requested."""
    head = _chat_head(reply, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        return _server_sent_event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _chunks(reply.text):
        yield chunk({"content": piece})
    yield chunk({}, reply.finish_reason)
    if with_usage:
        yield _server_sent_event({**head, "choices": [], "usage": _chat_usage(reply)})
    yield b"data: [DONE]\n\n"


def _chat_head(answer: ServerReply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.number}",
        "object": kind,
        "created": int(time.time()),
        "model": answer.model,
        "system_fingerprint": "fp_scripted",
    }


def _chat_usage(answer: ServerReply) -> dict[str, int]:
    total = answer.input_tokens + answer.output_tokens
    return {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens, "total_tokens": total}


# ------------------------------------------------------------------ the Responses API


def response_body(reply: ServerReply) -> dict[str, Any]:
    """The body of a Responses API reply."""
    whole = reply.finish_reason == "stop"
    return {
        **_response_head(reply, "completed" if whole else "incomplete"),
        "incomplete_details": None if whole else {"reason": "max_output_tokens"},
        "output": [] if reply.text is None else [_message_item(reply, reply.text)],
        "usage": {
            "input_tokens": reply.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": reply.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.input_tokens + reply.output_tokens,
        },
    }


def response_stream(reply: ServerReply) -> Iterator[bytes]:
    """A Responses API reply as server-sent events."""
    at = {"item_id": f"msg_{reply.number}", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": _response_head(reply, "in_progress")}]
    events += [{"type": "response.output_text.delta", **at, "delta": piece} for piece in _chunks(reply.text)]
    events.append({"type": "response.output_text.done", **at, "text": reply.text or ""})
    ending = "response.completed" if reply.finish_reason == "stop" else "response.incomplete"
    events.append({"type": ending, "response": response_body(reply)})
    for number, event in enumerate(events):
        yield f"event: {event['type']}\n".encode() + _server_sent_event({**event, "sequence_number": number})


def _response_head(answer: ServerReply, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.number}",
        "object": "response",
        "created_at": int(time.time()),
        "model": answer.model,
        "status": status,
        "error": None,
        "output": [],
    }


def _message_item(answer: ServerReply, text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


# ------------------------------------------------------------------ both


def models_body() -> dict[str, Any]:
    """The list of models, which has one entry."""
    return {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "codeplan"}]}


def error_body(message: str, kind: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _chunks(text: str | None) -> Iterator[str]:
    for start in range(0, len(text or ""), _CHUNK_CHARACTERS):
        yield (text or "")[start : start + _CHUNK_CHARACTERS]


def _server_sent_event(data: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(data) + b"\n\n"
