"""Chrome's DevTools protocol over a pipe: calls from any thread, and events.

The pipe (``--remote-debugging-pipe``) opens no port, and ends the browser when this process ends, however that ends.
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
"""Seconds that one call may take: what a page does in them is a loop without an end."""

_LONGEST = 64 << 20
"""Bytes of one message; a browser that says more at once is no longer listened to."""

_CHUNK = 1 << 16


class BrowserGone(EnvironmentFailure):
    """The browser, or the page, has ended or no longer answers. What was done in it can be done again in a new one."""


class DevToolsError(EnvironmentFailure):
    """The browser does not do what it is asked."""


class DevToolsMessage(msgspec.Struct):
    """What the browser says: an answer, by ``id``, or an event, by ``method``; of a page by ``sessionId``."""

    id: int | None = None
    method: str | None = None
    sessionId: str | None = None
    params: dict[str, Any] = {}
    result: dict[str, Any] = {}
    error: dict[str, Any] | None = None


AnswerQueue = SimpleQueue[DevToolsMessage | None]
EventHandler = Callable[[str, Mapping[str, Any]], None]


class DevToolsConnection:
    """One connection. ``call`` waits for the answer; ``send`` returns a queue that it will be in.

    ``listeners`` hear the events of a session, by its id, in the thread that reads: they must not wait for answers.
    """

    def __init__(self, to_browser: IO[bytes], from_browser: IO[bytes]) -> None:
        self.event_handlers: dict[str, EventHandler] = {}
        self._to, self._back = to_browser, from_browser
        self._ids = itertools.count(1)
        self._waiting: dict[int, tuple[str | None, AnswerQueue]] = {}
        self._lock = threading.Lock()
        self._open = True
        self._decode = msgspec.json.Decoder(DevToolsMessage).decode
        self._reader = threading.Thread(target=self._read, name="codeplan-browser", daemon=True)
        self._reader.start()

    @property
    def is_open(self) -> bool:
        """Whether the browser still is there, as far as is known."""
        return self._open

    def call(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        """Ask, and wait for the answer. Raises BrowserGone where none comes, and Refused where it is an error."""
        return self.wait_for_answer(self.send(method, session, **params), method)

    def send(self, method: str, session: str | None = None, **params: object) -> AnswerQueue:
        """Ask, without waiting. Raises BrowserGone."""
        number = next(self._ids)
        message: dict[str, object] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        answers: AnswerQueue = SimpleQueue()
        with self._lock:
            if not self._open:
                raise BrowserGone("the browser has ended")
            self._waiting[number] = session, answers
            self._write(msgspec.json.encode(message) + b"\0")
        return answers

    def wait_for_answer(self, answers: AnswerQueue, method: str) -> dict[str, Any]:
        """The answer to what was sent. Raises as ``call`` does."""
        try:
            message = answers.get(timeout=CALL_TIMEOUT)
        except Empty:
            raise BrowserGone(f"the page has not answered {method} for {CALL_TIMEOUT:g} s") from None
        if message is None:
            raise BrowserGone(f"the browser, or the page, has ended before it answered {method}")
        if message.error is not None:
            raise DevToolsError(f"the browser refuses {method}: {message.error.get('message', '')}")
        return message.result

    def fail_session(self, session: str) -> None:
        """The page of this session has ended: whoever waits for it is told."""
        with self._lock:
            self._give_up([n for n, (of, _) in self._waiting.items() if of == session])

    def close(self) -> None:
        """Close the pipe, which ends the browser, and wait for it to fall silent."""
        with self._lock, contextlib.suppress(OSError):
            self._to.close()
        self._reader.join(CALL_TIMEOUT)
        self._back.close()

    def _write(self, data: bytes) -> None:
        try:
            self._to.write(data)
            self._to.flush()
        except (OSError, ValueError):
            self._open = False
            raise BrowserGone("the browser has ended") from None

    def _read(self) -> None:
        """Until the browser ends: hand each message on."""
        rest = bytearray()
        with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
            while len(rest) < _LONGEST and (data := os.read(self._back.fileno(), _CHUNK)):
                rest += data
                if b"\0" in data:
                    *whole, last = rest.split(b"\0")
                    rest = bytearray(last)
                    for message in whole:
                        self._hand_on(self._decode(bytes(message)))
        with self._lock:
            self._open = False
            self._give_up(list(self._waiting))

    def _hand_on(self, message: DevToolsMessage) -> None:
        if message.id is not None:
            with self._lock:
                _, answers = self._waiting.pop(message.id, (None, None))
            if answers is not None:
                answers.put(message)
        elif message.method and (listener := self.event_handlers.get(message.sessionId or "")):
            with contextlib.suppress(BrowserGone):
                listener(message.method, message.params)

    def _give_up(self, numbers: list[int]) -> None:
        for number in numbers:
            self._waiting.pop(number)[1].put(None)
