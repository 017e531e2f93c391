"""One Java process with ScienceWorld's engine. It plays one game at a time, and ends when this process does."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import tempfile
import time
from typing import IO

from codeplan.envs.scienceworld.java_files import JAVA_ADVICE, find_archives, find_java, require_java
from codeplan.envs.scienceworld.py4j_connection import EngineError, EngineLost, JavaReference, JavaValue, Py4JConnection
from codeplan.errors import EnvironmentFailure
from codeplan.types import Value
from codeplan.untrusted.terminal import MAX_REASON_CHARS, one_line

MAX_START_SECONDS = 120.0
"""Time limit for Java to start; it takes about a second."""

MAX_ANSWER_SECONDS = 60.0
"""Time limit for an action or a reset; most take some milliseconds."""

MAX_GOLD_SECONDS = 600.0
"""Time limit for the search of a gold path; those of genetics take up to half a minute."""

_OPTIONS = (
    # The engine keeps objects in sets whose order follows Java's arbitrary hash of each object. Its texts and some
    # events would therefore differ from episode to episode. With equal hashes the order is that of insertion.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    "-XX:+IgnoreUnrecognizedVMOptions",
    # A game needs 100 MB. One collector's thread is enough, and several engines may run at once.
    "-Xmx1g",
    "-Xss16m",
    "-XX:+UseSerialGC",
)

_INTERFACE = "scienceworld.runtime.pythonapi.PythonInterface"
_MAX_LOG_BYTES = 4000


class EngineAnswer(Value, frozen=True):
    """The engine's answer: its text, the score (100 wins, below 0 is lost), and whether the game is over."""

    text: str
    score: int
    done: bool


class EngineProcess:
    """A running engine.

    Its methods raise EngineLost if the process ended, EngineHangs if it does not answer, EngineError if it fails.
    After EngineLost or EngineHangs the process is no longer usable.
    """

    def __init__(self) -> None:
        """Raises: UsageError if Java or the engine is missing; EnvironmentFailure if it does not start."""
        with tempfile.TemporaryFile() as log:
            self._process = _launch(log)
            try:
                port, token = _read_greeting(self._process)
                self._connection = Py4JConnection(port, token, MAX_START_SECONDS)
                self._game = self._open()
            except EnvironmentFailure:
                self.kill()
                require_java()
                raise EnvironmentFailure(f"ScienceWorld's engine does not start: {_last_line(log)}") from None
            except BaseException:
                self.kill()
                raise

    @property
    def pid(self) -> int:
        """The id of the Java process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def load(self, kind: str, variation: int, simplifications: str) -> tuple[str, EngineAnswer]:
        """Begin a variation of a task, and look around. Returns the task's description and the answer."""
        self._load(kind, variation, simplifications, gold=False)
        goal = self._text("getTaskDescription")
        return goal, self.step("look around")

    def step(self, action: str) -> EngineAnswer:
        """Do one action."""
        text = self._text("step", action)
        score, done = self._call("getScore"), self._call("getCompleted")
        assert isinstance(score, float)
        percent = round(100 * score)  # the package's own rounding
        return EngineAnswer(text, percent, bool(done) or percent < 0)

    def gold_path(self, kind: str, variation: int, simplifications: str) -> tuple[str, ...]:
        """Actions that win a variation. This ends the game that is being played."""
        self._load(kind, variation, simplifications, gold=True)
        actions = self._call("getGoldActionSequence")
        joined = self._connection.call("java.lang.String", "join", "\n", actions, seconds=MAX_ANSWER_SECONDS)
        assert isinstance(joined, str)
        assert isinstance(actions, JavaReference)
        self._connection.forget(actions, MAX_ANSWER_SECONDS)
        return tuple(joined.split("\n")) if joined else ()

    def kill(self) -> None:
        """End the process. Safe to call twice."""
        if hasattr(self, "_connection"):
            self._connection.close()
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def detach(self) -> None:
        """In a forked process, release the parent's engine: its pipe must not stay open here."""
        if hasattr(self, "_connection"):
            self._connection.close()
        self._close_pipes()
        self._process.returncode = 0

    def _open(self) -> JavaReference:
        """The engine's interface. Java discards the engine's output."""
        calls = self._connection
        nothing = calls.call("java.io.OutputStream", "nullOutputStream", seconds=MAX_START_SECONDS)
        printer = calls.construct("java.io.PrintStream", nothing, seconds=MAX_START_SECONDS)
        calls.call("java.lang.System", "setOut", printer, seconds=MAX_START_SECONDS)
        calls.call("java.lang.System", "setErr", printer, seconds=MAX_START_SECONDS)
        game = calls.construct(_INTERFACE, seconds=MAX_START_SECONDS)
        assert isinstance(game, JavaReference)
        return game

    def _load(self, kind: str, variation: int, simplifications: str, *, gold: bool) -> None:
        seconds = MAX_GOLD_SECONDS if gold else MAX_ANSWER_SECONDS
        fault = self._connection.call(self._game, "load", kind, variation, simplifications, gold, seconds=seconds)
        if fault:
            raise EngineError(f"ScienceWorld's engine cannot begin {kind}/{variation}: {one_line(str(fault), 200)}")

    def _text(self, method: str, *arguments: JavaValue) -> str:
        answer = self._call(method, *arguments)
        assert isinstance(answer, str)
        return answer

    def _call(self, method: str, *arguments: JavaValue) -> JavaValue:
        return self._connection.call(self._game, method, *arguments, seconds=MAX_ANSWER_SECONDS)

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _launch(log: IO[bytes]) -> subprocess.Popen[bytes]:
    """The Java process. It writes its first errors to ``log``.

    Java exits when its standard input closes, which happens in whatever way this process ends.
    """
    java, archives = find_java(), os.pathsep.join(map(str, find_archives()))
    server = ("py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0")
    try:
        return subprocess.Popen(
            [java, *_OPTIONS, "-cp", archives, *server],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},  # this process's own may hold keys
            start_new_session=True,
        )
    except OSError as e:
        raise EnvironmentFailure(f"{java} cannot be started: {e.strerror}; {JAVA_ADVICE}") from None


def _read_greeting(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """The port and the password that a Py4J server prints. Raises: EngineLost if it does not."""
    assert process.stdout is not None
    deadline = time.monotonic() + MAX_START_SECONDS
    said = b""
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        while said.count(b"\n") < 2:
            if not waiting.select(max(0.0, deadline - time.monotonic())):
                raise EngineLost("it prints no port")
            part = os.read(process.stdout.fileno(), 4096)
            said += part
            if not part or len(said) > 4096:
                raise EngineLost("it prints no port")
    port, token, *_ = said.decode("ascii", "replace").split("\n")
    if not port.isdigit() or len(port) > 5:
        raise EngineLost("it prints no port")
    return int(port), token


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read(1 << 20)[-_MAX_LOG_BYTES:].decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1], MAX_REASON_CHARS) if lines else "it says nothing"
