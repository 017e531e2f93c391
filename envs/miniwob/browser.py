"""The browser: its program, its process, and Chrome's DevTools protocol over a pipe.

The process cannot outlive this one, reach a network, or read this process's environment. The pipe
(``--remote-debugging-pipe``) opens no port, and the browser exits when this process does.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

import msgspec

from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.untrusted.values import in_quotes

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

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Send a call and wait for its answer. Raises: BrowserGone if none arrives, DevToolsError if it is an error."""
        return self.wait_for_answer(self.send(method, None, **params), method)

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


# ------------------------------------------------------------------ the process

_SCRIPT = 'folder=$1; shift; "$@" 3<&0 4>&1 </dev/null >/dev/null; rm -rf -- "$folder"'
"""The browser reads its pipe from descriptor 3 and writes to 4. The shell removes the profile when it exits."""

_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-dev-shm-usage",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,PaintHolding",
    "--hide-scrollbars",
    "--mute-audio",
    "--lang=en-US",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    # Draw frames at once instead of 60 per second: mouse moves wait for a frame.
    "--disable-gpu-vsync",
    "--disable-frame-rate-limit",
    # Block all network access, also on systems without network namespaces.
    "--block-new-web-contents",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_NO_NETWORK_COMMANDS = (("unshare", "--net"), ("unshare", "--user", "--map-current-user", "--net"))
"""Commands that start a program without a network."""

_EXIT_SECONDS = 20.0
"""Time limit for the browser to exit."""


class BrowserProcess:
    """A running browser, the connection to it, and its temporary profile folder.

    Raises: EnvironmentFailure if it does not start.
    """

    def __init__(self, program: Path) -> None:
        self.profile_folder = folder = tempfile.mkdtemp(prefix="codeplan-browser-")
        with tempfile.TemporaryFile() as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "sh", folder, *_without_network(), str(program), *_flags(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                env=_environment(folder),
                start_new_session=True,
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self.connection = DevToolsConnection(self._process.stdin, self._process.stdout)
            try:
                self.connection.call("Browser.getVersion")
            except EnvironmentFailure:
                self.close()
                raise EnvironmentFailure(f"the browser {program} does not start: {_last_line(log)}") from None

    @property
    def pid(self) -> int:
        """The id of the shell that started the browser and waits for it; also their process group."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the browser runs and its connection is open."""
        return self.connection.is_open and self._process.poll() is None

    def close(self) -> None:
        """Close the browser; kill it if it does not exit. Safe to call twice."""
        with contextlib.suppress(BrowserGone):
            self.connection.send("Browser.close")
        try:
            self._process.wait(_EXIT_SECONDS / 10)
        except subprocess.TimeoutExpired:
            self.kill()
        self.connection.close()

    def kill(self) -> None:
        """Kill the browser and the shell that waits for it, and remove the profile."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(_EXIT_SECONDS)
        shutil.rmtree(self.profile_folder, ignore_errors=True)

    def detach(self) -> None:
        """In a forked process, release the parent's browser, which must not wait for this process to exit."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.returncode = 0


def _flags(folder: str) -> list[str]:
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chrome's own sandbox refuses to run for root
    return [*_FLAGS, *root, f"--user-data-dir={folder}", "about:blank"]


def _environment(folder: str) -> dict[str, str]:
    """A minimal environment: this process's own may hold keys."""
    return {"HOME": folder, "TMPDIR": folder, "PATH": os.defpath, "LANG": "en_US.UTF-8", "TZ": "UTC"}


@cache
def _without_network() -> tuple[str, ...]:
    """The command prefix that removes the network; empty if this system does not permit it."""
    if not shutil.which("unshare"):
        return ()
    for prefix in _NO_NETWORK_COMMANDS:
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return ()


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it says nothing"


# ------------------------------------------------------------------ the program

INSTALL_HINT = (
    "install one, such as Debian's with: apt-get install -y chromium-headless-shell (or any Chrome or Chromium), "
    "or name its program by the setting browser"
)

_PATHS = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
"""The programs themselves. The commands that distributions put on the PATH are often scripts that start them."""

_NAMES = ("chrome-headless-shell", "headless_shell", "google-chrome", "google-chrome-stable", "chromium", "chrome")


def find_browser(named: str | None = None) -> Path:
    """The named browser's program, or an installed one, preferably a headless shell.

    Raises: UsageError with installation advice if there is none.
    """
    if named is not None:
        if not (given := shutil.which(named)):
            raise UsageError(f"the browser {in_quotes(named)} is not a program; {INSTALL_HINT}")
        return Path(given)
    known = next((Path(path) for path in _PATHS if Path(path).is_file()), None)
    program = known or next((Path(found) for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise UsageError(f"no Chrome or Chromium is installed; {INSTALL_HINT}")
    return program
