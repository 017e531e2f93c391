"""Chrome's DevTools protocol over a pipe: calls from any thread, and events.

The pipe (``--remote-debugging-pipe``) opens no port, and the browser exits when this process does.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import IO, Any

import msgspec

from codeplan.errors import EnvironmentFailure

CALL_TIMEOUT = 30.0
"""Seconds per call. A page that takes longer is in an endless loop."""

_MAX_MESSAGE_BYTES = 64 << 20
"""A longer message ends the connection."""

_CHUNK_BYTES = 1 << 16


class BrowserGone(EnvironmentFailure):
    """The browser or the page crashed or does not answer. The episode can be repeated in a new one."""


class NoAnswer(BrowserGone):
    """The page does not answer in time. It would not in a repeated episode either."""


class DevToolsError(EnvironmentFailure):
    """The browser answered a call with an error."""


class DevToolsMessage(msgspec.Struct):
    """A message of the browser: an answer has an ``id``, an event a ``method``; ``sessionId`` names the page."""

    id: int | None = None
    method: str | None = None
    sessionId: str | None = None
    params: dict[str, Any] = {}
    result: dict[str, Any] = {}
    error: dict[str, Any] | None = None


AnswerQueue = SimpleQueue[DevToolsMessage | None]
EventHandler = Callable[[str, Mapping[str, Any]], None]


class DevToolsConnection:
    """A connection to a browser.

    ``event_handlers`` maps session ids to the handlers of their events. They run in the reading thread, so they must
    not wait for answers.
    """

    def __init__(self, to_browser: IO[bytes], from_browser: IO[bytes]) -> None:
        self.event_handlers: dict[str, EventHandler] = {}
        self._to_browser, self._from_browser = to_browser, from_browser
        self._ids = itertools.count(1)
        self._pending: dict[int, tuple[str | None, AnswerQueue]] = {}
        self._lock = threading.Lock()
        self._open = True
        self._decode = msgspec.json.Decoder(DevToolsMessage).decode
        self._reader = threading.Thread(target=self._read, name="codeplan-browser", daemon=True)
        self._reader.start()

    @property
    def is_open(self) -> bool:
        """Whether the connection is open, according to the last known state."""
        return self._open

    def call(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        """Send a call and wait for its answer. Raises: BrowserGone if none arrives, DevToolsError if it is an error."""
        return self.wait_for_answer(self.send(method, session, **params), method)

    def send(self, method: str, session: str | None = None, **params: object) -> AnswerQueue:
        """Send a call. Returns the queue that will hold its answer. Raises: BrowserGone if the connection is closed."""
        number = next(self._ids)
        message: dict[str, object] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        answers: AnswerQueue = SimpleQueue()
        with self._lock:
            if not self._open:
                raise BrowserGone("the browser has exited")
            self._pending[number] = session, answers
            self._write(msgspec.json.encode(message) + b"\0")
        return answers

    def wait_for_answer(self, answers: AnswerQueue, method: str, timeout: float = CALL_TIMEOUT) -> dict[str, Any]:
        """Wait for the answer to a call of ``send``. Raises what ``call`` raises."""
        try:
            message = answers.get(timeout=timeout)
        except Empty:
            raise NoAnswer(
                f"the page did not answer {method} within {timeout:g} s; it may be in an endless loop"
            ) from None
        if message is None:
            raise BrowserGone(f"the browser or the page crashed before it answered {method}")
        if message.error is not None:
            raise DevToolsError(f"the browser refused {method}: {message.error.get('message', '')}")
        return message.result

    def fail_session(self, session: str) -> None:
        """Fail all pending calls of a session whose page has crashed."""
        with self._lock:
            self._fail([n for n, (of, _) in self._pending.items() if of == session])

    def close(self) -> None:
        """Close the pipe, which makes the browser exit, and wait for the reading thread."""
        with self._lock, contextlib.suppress(OSError):
            self._to_browser.close()
        self._reader.join(CALL_TIMEOUT)
        self._from_browser.close()

    def _write(self, data: bytes) -> None:
        try:
            self._to_browser.write(data)
            self._to_browser.flush()
        except (OSError, ValueError):
            self._open = False
            raise BrowserGone("the browser has exited") from None

    def _read(self) -> None:
        """Dispatch messages until the browser exits."""
        rest = bytearray()
        with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
            while len(rest) < _MAX_MESSAGE_BYTES and (data := os.read(self._from_browser.fileno(), _CHUNK_BYTES)):
                rest += data
                if b"\0" in data:
                    *complete, last = rest.split(b"\0")
                    rest = bytearray(last)
                    for message in complete:
                        self._dispatch(self._decode(bytes(message)))
        with self._lock:
            self._open = False
            self._fail(list(self._pending))

    def _dispatch(self, message: DevToolsMessage) -> None:
        if message.id is not None:
            with self._lock:
                _, answers = self._pending.pop(message.id, (None, None))
            if answers is not None:
                answers.put(message)
        elif message.method and (listener := self.event_handlers.get(message.sessionId or "")):
            with contextlib.suppress(BrowserGone):
                listener(message.method, message.params)

    def _fail(self, numbers: list[int]) -> None:
        for number in numbers:
            self._pending.pop(number)[1].put(None)
