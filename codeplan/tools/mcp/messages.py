"""Reads the messages of a server. An answer that cannot be read is a failed call at once, not one that never came."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage, RequestId

_UNREADABLE: Final = "the server's answer is no JSON-RPC 2.0 that codeplan can read"

_ANSWER: Final = re.compile(
    rb'\s*+\{\s*+(?:"jsonrpc"\s*+:\s*+"[^"]*+"\s*+,\s*+|"id"\s*+:\s*+(?P<id>[^,\[{]*+),\s*+)*+"(?:result|error)"'
)
"""How an answer begins, in the order that most servers write."""

_MAX_ID_DIGITS: Final = 9


class UnreadableAnswer(Exception):
    """An answer cannot be read, not even to which request it belongs. The message follows the server's name."""


class _Head(msgspec.Struct):
    """The parts of a message that say what it is: an answer has an ``id`` and no ``method``."""

    id: int | str | None = None
    method: object = None


def read_message(line: bytes) -> SessionMessage | Exception:
    """The message of a line; an exception for what is none, such as a program's log.

    An unreadable answer is the error PARSE_ERROR, which no server can send itself. Raises: UnreadableAnswer.
    """
    from mcp.shared.message import SessionMessage
    from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT

    try:
        found = parse_message(line)
    except ValueError as error:
        return _unreadable_answer(line) or error
    return mark_as_servers_own(SessionMessage(found), (CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT))


def parse_message(line: bytes) -> JSONRPCMessage:
    """The message of a line, also one with what pydantic's parser refuses: bytes that are not UTF-8, and half surrogate
    pairs, which JavaScript writes when a text is cut within an emoji. Raises: ValueError: it is none.
    """
    from mcp_types import jsonrpc_message_adapter

    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        try:
            loosely = json.loads(line.decode("utf-8-sig", "replace"))
        except RecursionError:
            raise error from None
        return jsonrpc_message_adapter.validate_python(loosely, by_name=False)


def find_request_id(line: bytes) -> RequestId | None:
    """The id of a request that is no message of the protocol; None if it has none, or is no request."""
    try:
        head = msgspec.json.decode(line, type=_Head)
    except (ValueError, RecursionError):
        return None
    return head.id if isinstance(head.method, str) else None


def has_wrong_id(line: bytes) -> bool:
    """Whether a message has an id of a type that the protocol does not know, such as 1.5: pydantic ignores it."""
    try:
        msgspec.json.decode(line, type=_Head)
    except msgspec.ValidationError:
        return True
    except (ValueError, RecursionError):
        pass  # the id may be right: something else is not as msgspec reads JSON
    return False


def mark_as_servers_own(message: SessionMessage, codes: Collection[int]) -> SessionMessage:
    """Replace these codes of an error that a server sent: from the official client they say that no answer came."""
    from mcp_types import INTERNAL_ERROR, JSONRPCError

    if isinstance(message.message, JSONRPCError) and message.message.error.code in codes:
        message.message.error.code = INTERNAL_ERROR
    return message


def _unreadable_answer(line: bytes) -> SessionMessage | None:
    """The error that an unreadable answer stands for; None if the line is no answer. Raises: UnreadableAnswer."""
    from mcp.shared.message import SessionMessage
    from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError

    request = _answered_request(line)
    if request is None:
        return None
    return SessionMessage(
        JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=PARSE_ERROR, message=_UNREADABLE))
    )


def _answered_request(line: bytes) -> RequestId | None:
    """The id of the request that the line answers; None if it is no answer. Raises: UnreadableAnswer: it has no id."""
    try:
        head = msgspec.json.decode(line, type=_Head)
    except (ValueError, RecursionError):
        begin = _ANSWER.match(line)
        if begin is None or b'"jsonrpc"' not in line:
            return None
        digits = (begin["id"] or b"").strip(b' \t"')
        if not digits.isdigit() or len(digits) > _MAX_ID_DIGITS:
            raise UnreadableAnswer("sent an answer that is no JSON codeplan can read") from None
        return int(digits)
    return None if head.method is not None else head.id
