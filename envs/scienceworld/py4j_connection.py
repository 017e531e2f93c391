"""Calls methods of Java objects over Py4J's socket: one call at a time, with a time limit and a bounded answer.

Py4J's own client repeats a call after a lost connection, prints a traceback, and reads answers of any length.
"""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Callable

from codeplan.errors import EnvironmentFailure
from codeplan.types import Value
from codeplan.untrusted.surrogates import escape_surrogates

MAX_ANSWER_BYTES = 16 << 20
"""Maximum length of an answer; a longer one ends the connection."""

_CHUNK_BYTES = 1 << 16
_ESCAPED = re.compile(r"\\([\\rn])")
_PLAIN = {"\\": "\\", "r": "\r", "n": "\n"}


class EngineLost(EnvironmentFailure):
    """The engine's process ended. The episode can be repeated in a new one."""


class EngineHangs(EnvironmentFailure):
    """The engine does not answer in time. It would not in a new process either."""


class EngineError(EnvironmentFailure):
    """The engine answered a call with an exception of its own."""


class JavaReference(Value, frozen=True):
    """An object on the Java side, by its id."""

    id: str


JavaValue = str | int | float | bool | JavaReference | None
"""The types of a call's arguments and result."""


class Py4JConnection:
    """An authenticated connection to a Py4J server on this machine. Not safe to use from two threads at once."""

    def __init__(self, port: int, token: str, seconds: float) -> None:
        """Raises: EngineLost, EngineHangs."""
        self._buffer = b""
        self._lost = False
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            raise EngineLost("ScienceWorld's engine does not take calls") from None
        try:
            self._request(f"A\n{token}\n", seconds)
        except BaseException:
            self.close()
            raise

    def construct(self, name: str, *arguments: JavaValue, seconds: float) -> JavaValue:
        """A new object of a class. Raises: EngineLost, EngineHangs, EngineError."""
        return self._request(f"i\n{name}\n{_parts(arguments)}e\n", seconds)

    def call(self, target: JavaReference | str, method: str, *arguments: JavaValue, seconds: float) -> JavaValue:
        """Call a method of an object, or a static one of the class of this name.

        Raises: EngineLost, EngineHangs, EngineError.
        """
        owner = target.id if isinstance(target, JavaReference) else f"z:{target}"
        return self._request(f"c\n{owner}\n{method}\n{_parts(arguments)}e\n", seconds)

    def forget(self, reference: JavaReference, seconds: float) -> None:
        """Let Java free an object. Raises: EngineLost, EngineHangs."""
        self._request(f"m\nd\n{reference.id}\ne\n", seconds)

    def close(self) -> None:
        """Close the connection. Safe to call twice."""
        self._lost = True
        with contextlib.suppress(OSError):
            self._socket.close()

    def _request(self, command: str, seconds: float) -> JavaValue:
        """Send a command and decode its answer. After a failed one, every further one fails at once."""
        if self._lost:
            raise EngineLost("ScienceWorld's engine ended")
        deadline = time.monotonic() + seconds
        self._lost = True
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(command.encode())
            answer = self._read_line(deadline)
        except TimeoutError:
            raise EngineHangs(f"ScienceWorld's engine did not answer within {seconds:g} seconds") from None
        except OSError:
            raise EngineLost("ScienceWorld's engine ended") from None
        self._lost = False
        return self._decode(answer.removeprefix("!"))

    def _read_line(self, deadline: float) -> str:
        parts: list[bytes] = []
        size = 0
        while b"\n" not in self._buffer:
            parts.append(self._buffer)
            size += len(self._buffer)
            if size > MAX_ANSWER_BYTES:
                raise EngineLost(f"ScienceWorld's engine answered more than {MAX_ANSWER_BYTES:,} bytes")
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            self._buffer = self._socket.recv(_CHUNK_BYTES)
            if not self._buffer:
                raise EngineLost("ScienceWorld's engine ended")
        last, _, self._buffer = self._buffer.partition(b"\n")
        return b"".join([*parts, last]).decode("utf-8", "replace")

    def _decode(self, answer: str) -> JavaValue:
        """The value of an answer. Raises: EngineError if it is an exception, EngineLost if it is not a Py4J answer."""
        if answer.startswith("x"):
            raise EngineError("ScienceWorld's engine failed at a call")
        try:
            if not answer.startswith("y"):
                raise ValueError("neither a value nor an exception")
            return _DECODERS[answer[1:2]](answer[2:])
        except (KeyError, ValueError):
            self._lost = True
            raise EngineLost("ScienceWorld's engine answers in an unknown form") from None


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: _PLAIN[found[1]], text)


_DECODERS: dict[str, Callable[[str], JavaValue]] = {
    "s": _unescape,
    "i": int,
    "L": int,
    "d": float,
    "b": lambda text: text.lower() == "true",
    "n": lambda text: None,
    "v": lambda text: None,
    "": lambda text: None,
    "r": JavaReference,
    "l": JavaReference,
}
"""The decoders of values, by the letter of their type. ``l`` is a list, which stays on the Java side."""


def _parts(arguments: tuple[JavaValue, ...]) -> str:
    return "".join(_part(argument) + "\n" for argument in arguments)


def _part(argument: JavaValue) -> str:
    match argument:
        case None:
            return "n"
        case bool():
            return f"b{argument}".lower()
        case int():
            return f"i{argument}"
        case float():
            return f"d{argument}"
        case str():
            escaped = escape_surrogates(argument).replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n")
            return f"s{escaped}"
        case JavaReference():
            return f"r{argument.id}"
