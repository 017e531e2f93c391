"""ALFWorld's own engine, TextWorld, in a process of its own: a cross-check of codeplan's engine.

It needs the extra ``textworld``. If the extra cannot be installed for this Python, set CODEPLAN_TEXTWORLD_PYTHON to a
Python that has it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
from pathlib import Path

import msgspec

from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

MAX_ANSWER_SECONDS = 120.0
"""How long the engine may take to answer; a start takes about two seconds."""

_WORKER = Path(__file__).with_name("textworld_worker.py")


def textworld_python() -> str:
    """Return the Python program that runs the engine."""
    return os.environ.get("CODEPLAN_TEXTWORLD_PYTHON") or sys.executable


class TextWorldAnswer(Value, frozen=True):
    """TextWorld's answer to a start or an action; ``commands`` are the admissible actions after it."""

    text: str
    won: bool
    commands: list[str]


class TextWorldProcess:
    """TextWorld in a process of its own, until ``close``. A game that is won can be played on."""

    def __init__(self) -> None:
        """Raises: EnvironmentFailure if ``textworld_python()`` cannot be started."""
        command = [textworld_python(), "-I", str(_WORKER)]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as e:
            raise _failure(f"it cannot be started: {e.strerror}") from None

    def load(self, file: Path) -> TextWorldAnswer:
        """Begin the game of a file. Raises: EnvironmentFailure if TextWorld is missing or rejects the file."""
        return self._request({"load": str(file.resolve())})

    def step(self, action: str) -> TextWorldAnswer:
        """Do one action. Raises: EnvironmentFailure if TextWorld fails."""
        return self._request({"step": action})

    def close(self) -> None:
        """End the process. Safe to call twice."""
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # an unsent request fails to flush after the process ended
                assert stream is not None
                stream.close()
        self._process.kill()
        self._process.wait()

    def _request(self, request: dict[str, str]) -> TextWorldAnswer:
        line = self._exchange(json.dumps(request).encode() + b"\n")
        answer = msgspec.json.decode(line)
        if "error" in answer:
            raise _failure(answer["error"])
        return msgspec.convert(answer, TextWorldAnswer)

    def _exchange(self, request: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except OSError:
            raise _failure("its process ended") from None
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            if not waiting.select(MAX_ANSWER_SECONDS):
                raise _failure(f"it did not answer within {MAX_ANSWER_SECONDS:g} seconds")
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise _failure("its process ended")
        return line


def _failure(why: str) -> EnvironmentFailure:
    return EnvironmentFailure(f"the engine textworld failed in {textworld_python()}: {why}")


class TextWorldEngine:
    """Plays a game file in TextWorld. Its state is the last answer: the process cannot go back to an earlier one."""

    def __init__(self, file: Path) -> None:
        """Raises: EnvironmentFailure as ``TextWorldProcess.load`` does."""
        self._process = TextWorldProcess()
        try:
            self._first = self._process.load(file)
        except BaseException:
            self._process.close()
            raise

    def start(self) -> tuple[TextWorldAnswer, str]:
        """Return the first answer and its text."""
        return self._first, self._first.text

    def apply(self, state: TextWorldAnswer, action: str) -> tuple[TextWorldAnswer, str, bool]:
        """Do one action in the process. Raises: EnvironmentFailure if TextWorld fails."""
        answer = self._process.step(action)
        return answer, answer.text, answer.won

    def admissible(self, state: TextWorldAnswer) -> tuple[str, ...]:
        """Return every action that can be done now, sorted."""
        return tuple(state.commands)

    def close(self) -> None:
        """End the process."""
        self._process.close()
