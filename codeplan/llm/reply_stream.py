"""Replies that an endpoint sends while it writes them: server-sent events, put together to the body of a whole reply.

The rest of the client reads that body, and so does not know how the reply came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from codeplan.llm.connections import MAX_BODY_BYTES
from codeplan.llm.endpoint_errors import UnacceptableBodyError
from codeplan.llm.openai_protocol import ReplyFields, decode_json, mended

StreamMode = Literal["off", "on", "bare"]
"""How a request asks for its reply: whole, as a stream with its usage, or as a stream without ``stream_options``."""

_REFUSING_STATUSES: Final = frozenset({400, 404, 405, 406, 415, 422, 501})
_STREAM_STARTS: Final = tuple(b"deir:")  # of data, event, id, retry, and of a comment; JSON begins with a brace
_BOM: Final = b"\xef\xbb\xbf"
_END: Final = b"[DONE]"
_START_BYTES: Final = 400


def modes_to_try(known: StreamMode | None, *, listens: bool, chat: bool) -> tuple[StreamMode, ...]:
    """The ways to ask for a reply, the first one first; the others are for an endpoint that refuses it.

    ``known`` is the way that this endpoint has taken, after it refused another one. ``listens``: somebody hears the
    reply while it is written.
    """
    first: StreamMode = known or ("on" if listens else "off")
    others: tuple[StreamMode, ...] = ("off", "on", "bare") if chat else ("off", "on")
    return (first, *(mode for mode in others if mode != first))


def with_mode(body: Mapping[str, Any], mode: StreamMode, *, chat: bool) -> dict[str, Any]:
    """The body of a request that asks for its reply in this way."""
    if mode == "off":
        return dict(body)
    usage = {"stream_options": {"include_usage": True}} if mode == "on" and chat else {}
    return {**usage, **body, "stream": True}


def refuses_mode(status: int, text: str) -> bool:
    """Whether an error says that the endpoint refuses streams, takes nothing else, or has no ``stream_options``."""
    return status in _REFUSING_STATUSES and "stream" in text.lower()


class ReplyReader:
    """Reads the pieces of a body, a stream or not. ``tell`` gets each piece of the reply's text, with its place.

    Raises: UnacceptableBodyError: the reply is too large.
    """

    def __init__(self, chat: bool, tell: Callable[[tuple[int, str]], None] | None = None) -> None:
        self._parts: _ChatParts | _ResponseParts = _ChatParts() if chat else _ResponseParts()
        self._tell, self._told = tell, 0
        self._is_stream: bool | None = None  # None: nothing was read so far
        self._whole: list[bytes] = []
        self._line: list[bytes] = []  # the pieces of a line without its end
        self._data: list[bytes] = []  # the lines of an event
        self._name = b""  # of that event
        self._size = 0  # of what is kept
        self.start = b""
        """How the body begins, for an error about it."""

    def feed(self, piece: bytes) -> bool:
        """Read a piece. Returns whether the reply is at its end, whatever else may come."""
        if self._is_stream is None:
            piece = piece.removeprefix(_BOM).lstrip()
            if piece:
                self._is_stream = piece[0] in _STREAM_STARTS
        self._count(len(piece))
        self.start += piece[: _START_BYTES - len(self.start)]
        if not self._is_stream:
            self._whole.append(piece)
            return False
        first, *rest = piece.split(b"\n")
        self._line.append(first)
        for following in rest:
            line = b"".join(self._line).removesuffix(b"\r")
            self._line = [following]
            if self._take_line(line):
                return True
        return False

    @property
    def is_cut(self) -> bool:
        """Whether a stream of this API ended within its reply."""
        return bool(self._is_stream) and not self._parts.is_whole and bool(self._told or self._parts.size)

    def body(self) -> bytes:
        """The body of the whole reply; empty if the stream ended before it."""
        if not self._is_stream:
            return b"".join(self._whole)
        for line in (b"".join(self._line).removesuffix(b"\r"), b""):
            self._take_line(line)
        return self._parts.body()

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > MAX_BODY_BYTES:
            raise UnacceptableBodyError(
                f"sent a reply of more than {MAX_BODY_BYTES >> 20} MiB, which is not read; ask for less at a time"
            )

    def _take_line(self, line: bytes) -> bool:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name == b"event":
            self._name = value.strip()
        elif line.startswith(b"{"):  # an error of a backend, which a proxy passes on as it is
            self._data.append(line)
        if line or not (self._data or self._name):
            return False
        events, is_error = _events(self._data), self._name == b"error"
        self._data, self._name = [], b""
        return any(self._take_event(data, is_error) for data in events)

    def _take_event(self, data: bytes, is_error: bool) -> bool:
        if data == _END:
            self._parts.is_whole = True
            return True
        if not data.startswith(b"{") or self._parts.is_over:  # such as an empty one, or "ping", which keeps it open
            return self._parts.is_over
        text = self._parts.take(mended(data), is_error)
        self._size = sum(map(len, self._line)) + self._parts.size  # the wrapping of events is not kept
        self._count(0)
        if text and self._tell:
            self._tell((self._told, text))
        self._told += len(text)
        return self._parts.is_over


def _events(lines: list[bytes]) -> list[bytes]:
    """The events in the lines of one: some servers leave out the empty lines between theirs."""
    lines = [line.strip() for line in lines]
    are_several = len(lines) > 1 and all(line == _END or line.startswith(b"{") for line in lines)
    return lines if are_several else [b"\n".join(lines)]


_TEXT_FIELDS: Final = ("content", "refusal", "reasoning_content", "reasoning", "thinking")


class _ChunkChoice(msgspec.Struct):
    """A choice. Some servers send their pieces as those of a whole reply: in a ``message``, or as a ``text``."""

    index: msgspec.Raw = msgspec.Raw()
    delta: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    text: msgspec.Raw = msgspec.Raw()
    finish_reason: msgspec.Raw = msgspec.Raw()

    @property
    def piece(self) -> ReplyFields:
        """What the choice adds to the reply."""
        return decode_json(self.delta, ReplyFields) or decode_json(self.message, ReplyFields) or ReplyFields(self.text)


class _Chunk(msgspec.Struct):
    choices: msgspec.Raw = msgspec.Raw()
    model: msgspec.Raw = msgspec.Raw()
    system_fingerprint: msgspec.Raw = msgspec.Raw()
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()

    @property
    def choice(self) -> _ChunkChoice | None:
        """The first choice of the reply, which is the only one that is asked for; None without one."""
        found = (decode_json(each, _ChunkChoice) for each in decode_json(self.choices, list[msgspec.Raw]) or ())
        return next((each for each in found if each and not decode_json(each.index, int)), None)


class _ChatParts:
    """The parts of a chat completion. ``is_whole``: its end has come; ``is_over``: nothing else can follow."""

    def __init__(self) -> None:
        self.size = 0
        self.is_whole = self.is_over = False
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[Any]] = {"content": [], "reasoning_details": []}  # fields that hold parts
        self._head: dict[str, Any] = {}
        self._reason: str | None = None
        self._has_choice = False
        self._other = b""  # the last event without a choice, which may say why none comes

    def take(self, data: bytes, is_error: bool) -> str:
        """Take an event, and return the text that it adds. ``is_error``: its name says that it is one."""
        chunk = decode_json(data, _Chunk)
        if chunk is None:
            self.is_over = True  # and not whole
            return ""
        if is_error and bytes(chunk.error) in (b"", b"null"):
            chunk.error = msgspec.Raw(data)
        said = {name: decode_json(getattr(chunk, name), str) for name in ("model", "system_fingerprint")}
        raw = {name: part for name in ("usage", "error") if bytes(part := getattr(chunk, name)) not in (b"", b"null")}
        self._head |= {name: part for name, part in said.items() if part} | raw
        if "error" in raw:
            self.is_whole = self.is_over = True
        choice = chunk.choice
        if choice is None:
            self._other = self._other if "usage" in raw else data
            return ""
        self._has_choice = True
        return self._take_choice(choice)

    def _take_choice(self, choice: _ChunkChoice) -> str:
        if reason := decode_json(choice.finish_reason, str):
            self._reason, self.is_whole = reason, True
        piece, told = choice.piece, ""
        for name in _TEXT_FIELDS:
            raw = getattr(piece, name)
            if (text := decode_json(raw, str)) is not None:
                self._texts.setdefault(name, []).append(text)
                self.size += len(text)
                told = text if name == "content" else told
        if told and self._lists["content"]:
            self._lists["content"].append({"type": "text", "text": told})
        return told + "".join(self._take_parts(piece))

    def _take_parts(self, piece: ReplyFields) -> Iterator[str]:
        """Keep the fields that hold parts, and yield the texts of the content's."""
        for name, kept in self._lists.items():
            raw = getattr(piece, name)
            parts = decode_json(raw, list[Any]) or [each for each in (decode_json(raw, dict[str, Any]),) if each]
            if parts:
                kept += parts
                self.size += len(raw)
                texts = list(_text_parts(parts)) if name == "content" else []
                self._texts.setdefault("content", []).extend(texts)
                yield from texts

    def body(self) -> bytes:
        if "error" in self._head:
            return msgspec.json.encode({"error": self._head["error"]})
        if not self.is_whole or not self._has_choice:
            return b"" if self.size else self._other
        message: dict[str, Any] = {name: "".join(texts) for name, texts in self._texts.items()}
        message |= {name: parts for name, parts in self._lists.items() if parts}
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": self._reason}
        return msgspec.json.encode({**self._head, "choices": [choice]})


def _text_parts(content: list[Any]) -> Iterator[str]:
    for part in content:
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]


class _ResponseEvent(msgspec.Struct):
    type: str = ""
    delta: msgspec.Raw = msgspec.Raw()
    response: msgspec.Raw = msgspec.Raw()


class _ResponseParts:
    """The parts of a reply of the Responses API: its last event has all of it."""

    def __init__(self) -> None:
        self.size = 0
        self.is_whole = self.is_over = False
        self._body = b""

    def take(self, data: bytes, is_error: bool) -> str:
        """Take an event, and return the text that it adds. ``is_error``: its name says that it is one."""
        event = decode_json(data, _ResponseEvent)
        if event is None:
            self.is_over = True
            return ""
        delta = decode_json(event.delta, str) or "" if event.type == "response.output_text.delta" else ""
        if is_error or event.type == "error":
            self._body = msgspec.json.encode({"error": msgspec.Raw(data)})
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            self._body = bytes(event.response)
        self.is_whole = self.is_over = bool(self._body)
        return delta

    def body(self) -> bytes:
        return self._body
