"""Reads the messages of a server. An answer that cannot be read is a failed call at once, not one that never came."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError, JSONRPCMessage

_NO_ANSWER: Final = "what the server sent is no answer of JSON-RPC 2.0"


class _Head(msgspec.Struct):
    """The parts of a message that say what it is: an answer has an ``id`` and no ``method``."""

    id: int | str | None = None
    method: object = None


def read_message(line: bytes) -> SessionMessage | Exception:
    """The message of a line; an exception for what is none, such as a program's log."""
    from mcp.shared.message import SessionMessage
    from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, jsonrpc_message_adapter

    found: JSONRPCMessage | None
    try:
        found = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        found = _read_loosely(line) or _unreadable_answer(line)
        if found is None:
            return error
    return mark_as_servers_own(SessionMessage(found), (CONNECTION_CLOSED, REQUEST_TIMEOUT))


def mark_as_servers_own(message: SessionMessage, codes: Collection[int]) -> SessionMessage:
    """Replace these codes of an error that a server sent: from the official client they say that no answer came."""
    from mcp_types import INTERNAL_ERROR, JSONRPCError

    if isinstance(message.message, JSONRPCError) and message.message.error.code in codes:
        message.message.error.code = INTERNAL_ERROR
    return message


def _read_loosely(line: bytes) -> JSONRPCMessage | None:
    """A message with what pydantic's parser refuses, or None: bytes that are not UTF-8, and half surrogate pairs, which
    JavaScript writes when a text is cut within an emoji.
    """
    from mcp_types import jsonrpc_message_adapter

    try:
        return jsonrpc_message_adapter.validate_python(json.loads(line.decode("utf-8-sig", "replace")), by_name=False)
    except (ValueError, RecursionError):
        return None


def _unreadable_answer(line: bytes) -> JSONRPCError | None:
    """The error that an unreadable answer stands for; None if the line is no answer."""
    from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError

    try:
        head = msgspec.json.decode(line, type=_Head)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if head.id is None or head.method is not None:
        return None
    return JSONRPCError(jsonrpc="2.0", id=head.id, error=ErrorData(code=INTERNAL_ERROR, message=_NO_ANSWER))
