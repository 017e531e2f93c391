"""Reads a server's messages, within limits on their size and number."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final

import msgspec

from codeplan.untrusted.json_values import has_more_values
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes

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


def keep_readable(result: Any) -> tuple[str, ...]:
    """Take out of an answer the tools and the parts of content that break the protocol, so that the others stay.

    An answer without any readable part stays as it is. Returns the tools that are left out, each with the reason.
    """
    if not isinstance(result, dict):
        return ()
    if "protocolVersion" in result:
        _fill_in_server(result)
    if "tools" in result and result["tools"] is None:
        result["tools"] = []
    if "isError" in result and result["isError"] is None:
        del result["isError"]
    left_out = _keep_tools(result) if isinstance(result.get("tools"), list) else ()
    if "content" in result or result.get("structuredContent") is not None:
        _keep_content(result)
    return left_out


def _keep_tools(result: dict[str, Any]) -> tuple[str, ...]:
    left_out = []
    kept = []
    for tool in result["tools"]:
        _fill_in(tool)
        mended, fault = _without_faults(tool)
        if fault:
            name = in_quotes(tool.get("name") if isinstance(tool, dict) else None, 60)
            left_out.append(f"{name}: {fault.removeprefix('tools.0.')}")
        else:
            kept.append(mended)
    result["tools"] = kept
    if not isinstance(result.get("nextCursor"), str | None):
        fault = _fault_of("tools/list", {"tools": [], "nextCursor": result.pop("nextCursor")})
        left_out.append(f"all after the first {len(kept):,}: {fault}")
    return tuple(left_out)


_NOT_NEEDED: Final = frozenset({"outputSchema", "annotations", "title", "description", "icons", "_meta", "execution"})
"""The fields of a tool without which it can be called."""


def _without_faults(tool: Any) -> tuple[Any, str]:
    """The tool without fields that break the protocol and are not needed, and why it is of no use; empty if it is."""
    while fault := _fault_of("tools/list", {"tools": [tool]}):
        field = re.split(r"[.:]", fault.removeprefix("tools.0."), maxsplit=1)[0]
        if not isinstance(tool, dict) or field not in tool or field not in _NOT_NEEDED:
            return tool, fault
        tool = {name: value for name, value in tool.items() if name != field}
    return tool, ""


def _fill_in(tool: Any) -> None:
    """Write no properties as {}: servers in Go send null, those in PHP an empty list. Name the type of an object."""
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    if isinstance(schema, dict):
        if "properties" in schema and schema["properties"] in (None, []):
            schema["properties"] = {}
        if "required" in schema and schema["required"] is None:
            del schema["required"]
        kind = schema.get("type", ["object"] if "properties" in schema else None)
        if isinstance(kind, list) and "object" in kind:
            schema["type"] = "object"


def _fill_in_server(result: dict[str, Any]) -> None:
    """Fill in what a server does not say of itself, and take out what breaks the protocol. Nothing depends on it."""
    if result.get("capabilities") is None:
        result["capabilities"] = {}
    if isinstance(info := result.get("serverInfo") or {}, dict):
        named = {name: _as_text(info.get(name) or "unknown") for name in ("name", "version")}
        result["serverInfo"] = {**info, **named}
    while fault := _fault_of("initialize", result):
        outer, inner = [*fault.partition(": ")[0].split("."), ""][:2]
        holder, field = (result[outer], inner) if outer in ("capabilities", "serverInfo") else (result, outer)
        if field not in holder or field in _SAID_OF_SERVERS:
            return
        del holder[field]


_SAID_OF_SERVERS: Final = frozenset({"protocolVersion", "capabilities", "serverInfo", "name", "version"})
"""What a server must say of itself."""


def _keep_content(result: dict[str, Any]) -> None:
    """Keep the readable parts of a call's answer. Structured content alone is an answer, also an empty object."""
    structured = result.get("structuredContent")
    parts = result.get("content")
    if isinstance(parts, dict) and "type" not in parts and structured is None:  # the data without anything around it
        structured = result["structuredContent"] = result.pop("content")
        parts = []
    elif isinstance(parts, str | dict):
        parts = [parts]
    if not isinstance(parts, list):
        if structured is None:
            return
        parts = []
    readable = [part for each in parts if (part := _readable(each)) is not None]
    if structured is not None and not isinstance(structured, dict):  # the protocol knows objects alone
        del result["structuredContent"]
        readable = readable or [{"type": "text", "text": _as_text(structured)}]
    if readable or not parts or isinstance(structured, dict):
        result["content"] = readable


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _readable(part: Any) -> Any:
    """The part, without hints for a client that break the protocol; None if it cannot be read. A text may be written as
    a number, as what it is the JSON of, or without its part around it.
    """
    if isinstance(part, str):
        part = {"type": "text", "text": part}
    if not _fault_of("tools/call", {"content": [part]}):
        return part
    if not isinstance(part, dict):
        return None
    plain = {name: value for name, value in part.items() if name not in ("annotations", "_meta")}
    if plain.get("type") == "text" and plain.get("text") is not None:
        plain["text"] = _as_text(plain["text"])
    return None if _fault_of("tools/call", {"content": [plain]}) else plain


_VERSION: Final = "2025-11-25"  # whose forms hold where a session has agreed on no other


def _fault_of(method: str, result: dict[str, Any]) -> str:
    """Why this is no result of the method in the protocol; empty if it is."""
    from mcp_types.methods import validate_server_result
    from pydantic import ValidationError

    try:
        validate_server_result(method, _VERSION, result)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return one_line(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}", 200)
    return ""


MAX_MESSAGE_BYTES: Final = 16 << 20
"""Maximum size of one message of a server, in bytes."""

MAX_MESSAGE_VALUES: Final = 500_000
"""Maximum number of JSON values of one message. A plan takes 20,000 of a result; the rest is room for large tables
that come as text too, and for lists of tools. Parsed, so many values take some 200 MB.
"""

MAX_UNSOLICITED: Final = 50_000
"""Maximum number of messages, between two answers, that are no answer."""

MAX_UNSOLICITED_BYTES: Final = 64 << 20
"""Maximum size of these messages together in bytes, if their sizes are known."""


class FloodError(Exception):
    """A server sent too much; the message says what it did, in words that follow its name."""


def require_size(message: bytes | bytearray) -> None:
    """Raises: FloodError: a message that is not parsed yet is too large."""
    if len(message) > MAX_MESSAGE_BYTES:
        raise FloodError(f"sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB")
    if has_more_values(message, MAX_MESSAGE_VALUES):
        raise FloodError(f"sent a message of more than {MAX_MESSAGE_VALUES:,} JSON values")


class FloodGate:
    """Counts what a server sends between two answers."""

    def __init__(self) -> None:
        self._messages = self._bytes = 0
        self.left_out: tuple[str, ...] = ()
        """The tools that the last list of tools lost because they break the protocol, each with the reason."""
        self.has_changed_list = False
        """Whether the server says that its tools are others than those that it listed."""
        self.on_changed_list: Callable[[], None] = lambda: None
        """Called when the server says so."""

    def lets_pass(self, message: SessionMessage | Exception, size: int = 0) -> bool:
        """Whether the message is useful. Raises: FloodError: there were too many useless ones."""
        from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

        found = None if isinstance(message, Exception) else message.message
        if isinstance(found, JSONRPCResponse | JSONRPCError):
            self._messages = self._bytes = 0
            if isinstance(found, JSONRPCResponse):
                left_out = keep_readable(found.result)
                if "tools" in found.result:
                    self.left_out = left_out
            return True
        self._messages += 1
        self._bytes += size
        if self._messages > MAX_UNSOLICITED or self._bytes > MAX_UNSOLICITED_BYTES:
            raise FloodError(f"sent more than {MAX_UNSOLICITED:,} messages that nobody asked for")
        is_notification = isinstance(found, JSONRPCNotification | None)
        if found is not None and is_notification and found.method == "notifications/tools/list_changed":
            self.has_changed_list = True
            self.on_changed_list()
        return not is_notification or (found is not None and found.method == "notifications/progress")


class GatedStream:
    """A stream of messages from a site, through a FloodGate. A flood ends it."""

    def __init__(self, stream: Any, gate: FloodGate) -> None:
        self._stream, self._gate = stream, gate
        self.flood: FloodError | None = None
        self.is_over = False
        """Whether no message comes any more."""

    @property
    def last_context(self) -> Any:
        """The context variables of the last message's sender."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        """The next message of use."""
        import anyio
        from mcp_types import REQUEST_TIMEOUT

        while True:
            try:
                message = await self._stream.receive()
                if self._gate.lets_pass(message):
                    return mark_as_servers_own(message, (REQUEST_TIMEOUT,))
            except FloodError as flood:
                self.flood, self.is_over = flood, True
                raise anyio.EndOfStream from None
            except BaseException:  # the stream has ended, or its reader is cancelled because the connection broke
                self.is_over = True
                raise

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> GatedStream:
        return self

    async def __anext__(self) -> Any:
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> GatedStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
