"""One page of the browser: it is opened, asked, pointed at, typed into."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import unquote, urlsplit

from codeplan.envs.miniwob.devtools import CALL_TIMEOUT, AnswerQueue, BrowserGone, DevToolsConnection
from codeplan.errors import EnvironmentFailure

WIDTH, HEIGHT = 500, 320
"""Of the window, in pixels. A task takes 160 by 210 of it."""

_WINDOW = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}

_CODES = {
    "enter": ("Enter", 13, "\r"),
    "space": (" ", 32, " "),
    "arrow_left": ("ArrowLeft", 37, ""),
    "arrow_up": ("ArrowUp", 38, ""),
    "arrow_right": ("ArrowRight", 39, ""),
    "arrow_down": ("ArrowDown", 40, ""),
    "backspace": ("Backspace", 8, ""),
    "\n": ("Enter", 13, "\r"),
    "\t": ("Tab", 9, ""),
}
"""Keys that are no characters: what JavaScript calls them, their old number, the text that they make."""

_PRESS = {"button": "left", "clickCount": 1}


class BrowserPage:
    """A page with a clock of its own, frozen but when it is told to go on, and nothing to load but files of ``folder``.

    All methods raise BrowserGone where the page, or the browser, has ended.
    """

    def __init__(self, wire: DevToolsConnection, folder: Path) -> None:
        self.url = ""
        """What is loaded; empty before anything is."""
        self._expected = ""
        self._crashed = self._moved = False
        self._wire, self._folder = wire, folder
        self._loaded: SimpleQueue[None] = SimpleQueue()
        self._context: str = wire.call("Target.createBrowserContext")["browserContextId"]
        target = wire.call("Target.createTarget", url="about:blank", browserContextId=self._context)
        self._target: str = target["targetId"]
        attached = wire.call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session: str = attached["sessionId"]
        wire.event_handlers[self._session] = self._on_event
        self._set_up()

    def _set_up(self) -> None:
        self._all(
            ("Emulation.setDeviceMetricsOverride", _WINDOW),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Emulation.setTimezoneOverride", {"timezoneId": "UTC"}),
            ("Page.enable", {}),
            ("Inspector.enable", {}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _script()}),
            ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
        )

    # -------------------------------------------------------------- what codeplan does with it

    def open(self, url: str) -> None:
        """Load a page, with the images that it may show later."""
        self.url, self._expected = "", url
        self._loaded = SimpleQueue()  # what was loaded before does not count
        answer = self._call("Page.navigate", url=url)
        if error := answer.get("errorText"):
            raise EnvironmentFailure(f"the page {url} cannot be loaded: {error}")
        try:
            self._loaded.get(timeout=CALL_TIMEOUT)
        except Empty:
            raise BrowserGone(f"the page {url} has not been loaded within {CALL_TIMEOUT:g} s") from None
        self.call_script("preload")
        self.url = url

    def call_script(self, name: str, *arguments: object) -> Any:
        """Call a function of ``page.js``. Raises EnvironmentFailure where it throws."""
        expression = f"codeplan.{name}({', '.join(json.dumps(a) for a in arguments)})"
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if fault := answer.get("exceptionDetails"):
            said = str(fault.get("exception", {}).get("description", fault.get("text", "")))
            raise EnvironmentFailure(f"the page {self._expected} broke in {name}: {said.partition(chr(10))[0][:300]}")
        return answer["result"].get("value")

    def park_mouse(self) -> None:
        """Move the mouse to where nothing is, if it ever was elsewhere."""
        if self._moved:
            self.move_mouse(WIDTH - 1, HEIGHT - 1)
            self._moved = False

    def move_mouse(self, x: float, y: float) -> None:
        """Move the mouse."""
        self._moved = True
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click_mouse(self, x: float, y: float) -> None:
        """Press and release the left button of the mouse, where it is."""
        at = {"x": x, "y": y, **_PRESS}
        self._all(*(("Input.dispatchMouseEvent", {"type": f"mouse{how}", **at}) for how in ("Pressed", "Released")))

    def press_keys(self, keys: Sequence[str]) -> None:
        """Press and release keys, one after the other: characters, or names of other keys."""
        self._all(*(("Input.dispatchKeyEvent", event) for key in keys for event in _strokes(key)))

    def screenshot(self, area: Mapping[str, float]) -> bytes:
        """A part of the page as a PNG."""
        shot = self._call("Page.captureScreenshot", format="png", clip={**area, "scale": 1})
        return base64.b64decode(shot["data"], validate=True)

    def close(self) -> None:
        """Close it. Safe to call when the browser is gone, and twice."""
        self._wire.event_handlers.pop(self._session, None)
        with contextlib.suppress(EnvironmentFailure):
            self._wire.call("Target.disposeBrowserContext", browserContextId=self._context)

    # -------------------------------------------------------------- the wire

    def _call(self, method: str, **params: object) -> dict[str, Any]:
        return self._wire.wait_for_answer(self._send(method, params), method)

    def _all(self, *calls: tuple[str, Mapping[str, object]]) -> None:
        """Ask for all before waiting for any; the browser does them in order."""
        sent = [(self._send(method, params), method) for method, params in calls]
        for answers, method in sent:
            self._wire.wait_for_answer(answers, method)

    def _send(self, method: str, params: Mapping[str, object]) -> AnswerQueue:
        if self._crashed:
            raise BrowserGone("the page has crashed")
        return self._wire.send(method, self._session, **params)

    def _on_event(self, event: str, told: Mapping[str, Any]) -> None:
        match event:
            case "Page.loadEventFired":
                self._loaded.put(None)
            case "Fetch.requestPaused":
                self._let_through(told)
            case "Page.javascriptDialogOpening":
                self._wire.send("Page.handleJavaScriptDialog", self._session, accept=True)
            case "Inspector.targetCrashed" | "Inspector.detached":
                self._crashed = True
                self._wire.fail_session(self._session)
                self._loaded.put(None)

    def _let_through(self, told: Mapping[str, Any]) -> None:
        """Files of the folder are loaded, nothing else is; and the page itself does not go elsewhere."""
        url, request = str(told["request"]["url"]), told["requestId"]
        leaves = told.get("resourceType") == "Document" and url != self._expected
        if _is_within(url, self._folder) and not leaves:
            self._wire.send("Fetch.continueRequest", self._session, requestId=request)
        else:
            reason = "Aborted" if leaves else "BlockedByClient"  # what is aborted leaves the page as it was
            self._wire.send("Fetch.failRequest", self._session, requestId=request, errorReason=reason)


def _is_within(url: str, folder: Path) -> bool:
    """Whether a URL names a file of the folder, links followed; data: and blob: hold their own data."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        return parts.scheme in ("data", "blob")
    return not parts.netloc and Path(unquote(parts.path)).resolve().is_relative_to(folder)


@cache
def _script() -> str:
    here = Path(__file__).parent
    return "".join((here / name).read_text("utf-8") for name in ("clock.js", "page.js"))


def _strokes(key: str) -> list[dict[str, object]]:
    """The two events of one key."""
    name, number, text = _CODES[key] if key in _CODES else (key, _number(key), key)
    common: dict[str, object] = {"key": name, "windowsVirtualKeyCode": number, "nativeVirtualKeyCode": number}
    down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
    return [{**down, **common}, {"type": "keyUp", **common}]


def _number(character: str) -> int:
    """The old number of a letter's or digit's key; other characters have none that is the same on every keyboard."""
    return ord(character.upper()) if character.isascii() and character.isalnum() else 0
