"""ALFWorld's own engine, TextWorld, as a cross-check of ours: a process of its own plays the game.

It needs the extra ``textworld``. Where this Python cannot have it, CODEPLAN_TEXTWORLD_PYTHON names one that has.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from codeplan.envs.household.session import observation_after_end
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.types.task import Observation
from codeplan.types.value import Value

MAX_ANSWER_SECONDS = 120.0
"""Seconds that the engine may take to answer; a start takes about two."""

_WORKER = Path(__file__).with_name("textworld_worker.py")


def textworld_python() -> str:
    """The Python that the engine runs in."""
    return os.environ.get("CODEPLAN_TEXTWORLD_PYTHON") or sys.executable


class TextWorldAnswer(Value, frozen=True):
    """What TextWorld says after a start or an action, and how things stand then."""

    text: str
    won: bool
    commands: list[str]


class TextWorldProcess:
    """TextWorld in a process of its own, which ``close`` ends. It plays on after the game is won."""

    def __init__(self) -> None:
        """Raises EnvironmentFailure where the Python that it is to run in cannot be started."""
        command = [textworld_python(), "-I", str(_WORKER)]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as e:
            raise _failed(f"it cannot be started: {e.strerror}") from None

    def load(self, file: Path) -> TextWorldAnswer:
        """Begin the game of a file. Raises EnvironmentFailure where TextWorld is not there, or refuses the file."""
        return self._ask({"load": str(file.resolve())})

    def step(self, action: str) -> TextWorldAnswer:
        """Do one action. Raises EnvironmentFailure where TextWorld broke."""
        return self._ask({"step": action})

    def close(self) -> None:
        """End the process. Safe to call twice."""
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what was not sent when it ended cannot be sent now
                assert stream is not None
                stream.close()
        self._process.kill()
        self._process.wait()

    def _ask(self, request: dict[str, str]) -> TextWorldAnswer:
        line = self._answered(json.dumps(request).encode() + b"\n")
        answer = msgspec.json.decode(line)
        if "error" in answer:
            raise _failed(answer["error"])
        return msgspec.convert(answer, TextWorldAnswer)

    def _answered(self, request: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except OSError:
            raise _failed("its process ended") from None
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            if not waiting.select(MAX_ANSWER_SECONDS):
                raise _failed(f"it did not answer within {MAX_ANSWER_SECONDS:g} seconds")
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise _failed("its process ended")
        return line


def _failed(why: str) -> EnvironmentFailure:
    return EnvironmentFailure(f"the engine textworld failed in {textworld_python()}: {why}")


class TextWorldSession:
    """Plays a game file in TextWorld as ``Play`` does in our engine: until it is won or ``actions`` are spent."""

    def __init__(self, file: Path, actions: int) -> None:
        """Raises EnvironmentFailure as ``TextWorld.load`` does."""
        self._limit, self._actions, self._done = actions, 0, False
        self._engine = TextWorldProcess()
        try:
            self._last = self._start = self._engine.load(file)
        except BaseException:
            self._engine.close()
            raise

    @property
    def snapshot(self) -> Any:
        """TextWorld cannot be asked where it stands: raises UsageError."""
        raise UsageError("the engine textworld has no snapshots; codeplan's own has")

    @snapshot.setter
    def snapshot(self, moment: Any) -> None:
        raise UsageError("the engine textworld has no snapshots; codeplan's own has")

    def begin(self) -> Observation:
        """The sentence about the room and the task."""
        return Observation(self._start.text)

    def step(self, action: str) -> Observation:
        """Do one action. Raises EnvironmentFailure where the engine broke."""
        if self._done:
            return observation_after_end(self._last.won)
        self._last = self._engine.step(action)
        self._actions += 1
        self._done = self._last.won or self._actions >= self._limit
        return Observation(self._last.text, float(self._last.won), self._done, self._last.won)

    def admissible(self) -> tuple[str, ...]:
        """Every action that could be done now, sorted; none once the game is over."""
        return () if self._done else tuple(self._last.commands)

    def close(self) -> None:
        """End the engine's process."""
        self._engine.close()
