"""ScienceWorld's engine: its Java processes, calls to them over Py4J's socket, and games that survive the end of one.

An engine plays one game at a time, serves many games in turn, and ends when this process does. A game whose engine
ended is repeated in a new one, and every answer is compared. Py4J's own client repeats a call after a lost connection,
prints a traceback, and reads answers of any length; here a call has a time limit and a bounded answer.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import selectors
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO, TypeVar

from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.types import Value
from codeplan.untrusted.texts import MAX_REASON_CHARS, escape_surrogates, one_line

# ------------------------------------------------------------------ calls of Java objects

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


# ------------------------------------------------------------------ Java and the engine's archives

JAVA_ADVICE = (
    "ScienceWorld needs Java 11 or newer: install one, such as Debian's with: apt-get install -y default-jre-headless; "
    "codeplan takes the one in $JAVA_HOME, otherwise the one on the PATH"
)

PACKAGE_ADVICE = "ScienceWorld's engine is not installed; run: pip install 'codeplan[scienceworld]'"

_OLDEST = 11
_VERSION = re.compile(r'version "(?:1\.)?(\d{1,4})')
_MAX_VERSION_SECONDS = 30.0


def find_java() -> str:
    """The Java program of $JAVA_HOME, or the one on the PATH. Raises: UsageError if there is none."""
    home = os.environ.get("JAVA_HOME")
    named = Path(home, "bin", "java") if home else None
    found = str(named) if named and named.is_file() else shutil.which("java")
    if not found:
        raise UsageError(f"there is no Java here; {JAVA_ADVICE}")
    return os.path.abspath(found)


def java_version(java: str) -> int:
    """The major version of a Java program; 0 if it does not report one."""
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, timeout=_MAX_VERSION_SECONDS, check=False, env={}
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _VERSION.search(told[:4000].decode("utf-8", "replace"))
    return int(found[1]) if found else 0


def require_java() -> str:
    """A Java program that is new enough. Raises: UsageError if there is none."""
    java = find_java()
    version = java_version(java)
    if version < _OLDEST:
        told = f"is Java {version}" if version else "does not tell its version"
        raise UsageError(f"{java} {told}; {JAVA_ADVICE}")
    return java


def find_archives() -> tuple[Path, Path]:
    """The archives of Py4J, which offers the engine's methods on a socket, and of the engine. Py4J's comes first:
    the engine's archive holds an older one, which cannot ask for a password.

    They are looked up among the files that pip installed, because Py4J's own function could take one from the current
    folder.
    Raises: UsageError if one is missing.
    """
    py4j = _archive("py4j", ".jar", "share/py4j/py4j")
    return py4j, _archive("scienceworld", "scienceworld/scienceworld.jar", "")


def _archive(package: str, ending: str, part: str) -> Path:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        raise UsageError(PACKAGE_ADVICE) from None
    for file in files:
        if file.as_posix().endswith(ending) and part in file.as_posix():
            path = Path(os.path.abspath(os.fspath(file.locate())))
            if path.is_file():
                return path
    raise UsageError(f"the package {package} lacks its archive of Java classes; install it again")


# ------------------------------------------------------------------ a process

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


# ------------------------------------------------------------------ the engines of this process

MAX_IDLE_SECONDS = 30.0
"""Seconds that an engine without a game keeps running."""

_lock = threading.Lock()
_engines: set[EngineProcess] = set()
_idle: list[EngineProcess] = []
_timer: threading.Timer | None = None


def acquire() -> EngineProcess:
    """An engine for the caller's exclusive use, until the caller passes it to ``release``. Starts one if none is idle.

    Safe to call from any thread. Raises what EngineProcess raises.
    """
    with _lock:
        while _idle:
            engine = _idle.pop()
            if engine.is_alive:
                return engine
            _end(engine)
    engine = EngineProcess()
    with _lock:
        _engines.add(engine)
    return engine


def release(engine: EngineProcess) -> None:
    """Return an engine, which can then play another game."""
    with _lock:
        if engine not in _engines:
            return
        if not engine.is_alive:
            _end(engine)
            return
        _idle.append(engine)
        _start_timer()


def discard(engine: EngineProcess) -> None:
    """End an engine that is no longer usable."""
    with _lock:
        _end(engine)


def close_all_engines() -> None:
    """End all engines, even those with a game."""
    with _lock:
        _cancel_timer()
        for engine in list(_engines):
            _end(engine)
        _idle.clear()


def _end(engine: EngineProcess) -> None:
    _engines.discard(engine)
    engine.kill()


def _close_idle_engines() -> None:
    with _lock:
        while _idle:
            _end(_idle.pop())


def _start_timer() -> None:
    """Restart the idle time. One timer serves all engines, so that a busy bench starts few threads."""
    global _timer
    _cancel_timer()
    _timer = threading.Timer(MAX_IDLE_SECONDS, _close_idle_engines)
    _timer.daemon = True
    _timer.start()


def _cancel_timer() -> None:
    global _timer
    if _timer is not None:
        _timer.cancel()
        _timer = None


def _reset_after_fork() -> None:
    """In a forked process, detach from the parent's engines."""
    global _lock, _timer
    _lock, _timer = threading.Lock(), None
    for engine in _engines:
        engine.detach()
    _engines.clear()
    _idle.clear()


atexit.register(close_all_engines)
os.register_at_fork(after_in_child=_reset_after_fork)


# ------------------------------------------------------------------ a game that survives the end of its engine

T = TypeVar("T")


class GameSetup(Value, frozen=True):
    """The start of a game."""

    kind: str
    variation: int
    simplifications: str


class RecoveringGame:
    """Plays one game after another with an engine of its own.

    Methods raise EnvironmentFailure if a second engine ends at the same point or answers differently, or if the engine
    does not answer in time; UsageError if Java or the engine is missing.
    """

    def __init__(self) -> None:
        self._engine: EngineProcess | None = None
        self._setup: GameSetup | None = None
        self._first: tuple[str, EngineAnswer] | None = None
        self._history: list[tuple[str, EngineAnswer]] = []

    def begin(self, setup: GameSetup) -> tuple[str, EngineAnswer]:
        """Begin a game. Returns the task's description and the first look around."""
        self._setup, self._first, self._history = setup, None, []
        self._first = self._with_engine(lambda engine: _load(engine, setup))
        return self._first

    def act(self, action: str) -> EngineAnswer:
        """Do one action."""
        answer = self._with_engine(lambda engine: engine.step(action))
        self._history.append((action, answer))
        return answer

    def close(self) -> None:
        """Return the engine. Safe to call twice."""
        if self._engine is not None:
            release(self._engine)
        self._engine = self._setup = self._first = None
        self._history = []

    def _with_engine(self, call: Callable[[EngineProcess], T]) -> T:
        """The result of a call; if the engine ends meanwhile, of the same call in a new one."""
        try:
            return self._try(call)
        except EngineLost:
            return self._try(call)

    def _try(self, call: Callable[[EngineProcess], T]) -> T:
        """The result of a call to the engine; a new one repeats the game first."""
        if self._engine is None:
            self._engine = acquire()
            self._guard(self._repeat)
        return self._guard(call)

    def _guard(self, call: Callable[[EngineProcess], T]) -> T:
        """The result of a call. An engine that gives no result is killed, unless it reports the failure itself."""
        assert self._engine is not None, "a call needs an engine"
        try:
            return call(self._engine)
        except EngineError:
            raise
        except BaseException:  # also after an interrupt: the answer would be taken for the next call's
            discard(self._engine)
            self._engine = None
            raise

    def _repeat(self, engine: EngineProcess) -> None:
        if self._setup is None or self._first is None:
            return
        self._compare(self._first, _load(engine, self._setup), "its first answer")
        for action, answer in self._history:
            self._compare(answer, engine.step(action), "a later answer")

    @staticmethod
    def _compare(before: object, now: object, what: str) -> None:
        if before != now:
            raise EnvironmentFailure(f"ScienceWorld's engine ended, and in a new one {what} differs; begin anew")


def find_gold_path(setup: GameSetup) -> tuple[str, ...]:
    """The engine's own actions that win a game. Raises as RecoveringGame's methods."""
    engine = acquire()
    try:
        path = engine.gold_path(setup.kind, setup.variation, setup.simplifications)
    except BaseException:
        discard(engine)
        raise
    release(engine)
    return path


def _load(engine: EngineProcess, setup: GameSetup) -> tuple[str, EngineAnswer]:
    return engine.load(setup.kind, setup.variation, setup.simplifications)
