"""One page of the browser: loads URLs, calls the page's scripts, and sends mouse and keyboard input."""

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
"""The window's size in pixels. A task uses 160 by 210 of it."""

_WINDOW = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}

_NAMED_KEYS = {
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
"""Named keys: their JavaScript name, legacy key code, and the text they type."""

_LEFT_BUTTON = {"button": "left", "clickCount": 1}


class BrowserPage:
    """A page that may load only files of ``folder`` and whose clock advances only on request.

    All methods raise BrowserGone if the page or the browser crashes.
    """

    def __init__(self, wire: DevToolsConnection, folder: Path) -> None:
        self.url = ""
        """The loaded URL; empty before the first."""
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
        self._call_all(
            ("Emulation.setDeviceMetricsOverride", _WINDOW),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Emulation.setTimezoneOverride", {"timezoneId": "UTC"}),
            ("Page.enable", {}),
            ("Inspector.enable", {}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _script()}),
            ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
        )

    # -------------------------------------------------------------- use

    def open(self, url: str) -> None:
        """Load a URL, including the images that it may show later. Raises: EnvironmentFailure if that fails."""
        self.url, self._expected = "", url
        self._loaded = SimpleQueue()  # ignore load events of earlier pages
        answer = self._call("Page.navigate", url=url)
        if error := answer.get("errorText"):
            raise EnvironmentFailure(f"the page {url} cannot be loaded: {error}")
        try:
            self._loaded.get(timeout=CALL_TIMEOUT)
        except Empty:
            raise BrowserGone(f"the page {url} did not load within {CALL_TIMEOUT:g} s") from None
        self.call_script("preload")
        self.url = url

    def call_script(self, name: str, *arguments: object) -> Any:
        """Call a function of ``page.js``. Raises: EnvironmentFailure if it throws."""
        expression = f"codeplan.{name}({', '.join(json.dumps(a) for a in arguments)})"
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if fault := answer.get("exceptionDetails"):
            error = str(fault.get("exception", {}).get("description", fault.get("text", ""))).partition("\n")[0]
            raise EnvironmentFailure(f"the page {self._expected} failed in {name}: {error[:300]}")
        return answer["result"].get("value")

    def park_mouse(self) -> None:
        """Move the mouse to an empty corner, unless it has never moved."""
        if self._moved:
            self.move_mouse(WIDTH - 1, HEIGHT - 1)
            self._moved = False

    def move_mouse(self, x: float, y: float) -> None:
        """Move the mouse."""
        self._moved = True
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click_mouse(self, x: float, y: float) -> None:
        """Press and release the left button; the mouse must already be there."""
        at = {"x": x, "y": y, **_LEFT_BUTTON}
        self._call_all(
            *(("Input.dispatchMouseEvent", {"type": f"mouse{how}", **at}) for how in ("Pressed", "Released"))
        )

    def press_keys(self, keys: Sequence[str]) -> None:
        """Press and release keys, one after the other: characters or names of keys."""
        self._call_all(*(("Input.dispatchKeyEvent", event) for key in keys for event in _key_events(key)))

    def screenshot(self, area: Mapping[str, float]) -> bytes:
        """A part of the page as a PNG."""
        shot = self._call("Page.captureScreenshot", format="png", clip={**area, "scale": 1})
        return base64.b64decode(shot["data"], validate=True)

    def close(self) -> None:
        """Close the page. Safe to call twice, and after the browser has exited."""
        self._wire.event_handlers.pop(self._session, None)
        with contextlib.suppress(EnvironmentFailure):
            self._wire.call("Target.disposeBrowserContext", browserContextId=self._context)

    # -------------------------------------------------------------- the protocol

    def _call(self, method: str, **params: object) -> dict[str, Any]:
        return self._wire.wait_for_answer(self._send(method, params), method)

    def _call_all(self, *calls: tuple[str, Mapping[str, object]]) -> None:
        """Send all calls before waiting for the first answer. The browser handles them in order."""
        sent = [(self._send(method, params), method) for method, params in calls]
        for answers, method in sent:
            self._wire.wait_for_answer(answers, method)

    def _send(self, method: str, params: Mapping[str, object]) -> AnswerQueue:
        if self._crashed:
            raise BrowserGone("the page has crashed")
        return self._wire.send(method, self._session, **params)

    def _on_event(self, event: str, params: Mapping[str, Any]) -> None:
        match event:
            case "Page.loadEventFired":
                self._loaded.put(None)
            case "Fetch.requestPaused":
                self._filter_request(params)
            case "Page.javascriptDialogOpening":
                self._wire.send("Page.handleJavaScriptDialog", self._session, accept=True)
            case "Inspector.targetCrashed" | "Inspector.detached":
                self._crashed = True
                self._wire.fail_session(self._session)
                self._loaded.put(None)

    def _filter_request(self, params: Mapping[str, Any]) -> None:
        """Allow only files of the folder, and no navigation to another page."""
        url, request = str(params["request"]["url"]), params["requestId"]
        leaves = params.get("resourceType") == "Document" and url != self._expected
        if _is_within(url, self._folder) and not leaves:
            self._wire.send("Fetch.continueRequest", self._session, requestId=request)
        else:
            reason = "Aborted" if leaves else "BlockedByClient"  # an aborted navigation leaves the page as it is
            self._wire.send("Fetch.failRequest", self._session, requestId=request, errorReason=reason)


def _is_within(url: str, folder: Path) -> bool:
    """Whether a URL is a file in the folder after links are resolved, or holds its own data (data:, blob:)."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        return parts.scheme in ("data", "blob")
    return not parts.netloc and Path(unquote(parts.path)).resolve().is_relative_to(folder)


@cache
def _script() -> str:
    here = Path(__file__).parent
    return "".join((here / name).read_text("utf-8") for name in ("clock.js", "page.js"))


def _key_events(key: str) -> list[dict[str, object]]:
    """The events of pressing and releasing a key."""
    name, number, text = _NAMED_KEYS[key] if key in _NAMED_KEYS else (key, _key_code(key), key)
    common: dict[str, object] = {"key": name, "windowsVirtualKeyCode": number, "nativeVirtualKeyCode": number}
    down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
    return [{**down, **common}, {"type": "keyUp", **common}]


def _key_code(character: str) -> int:
    """The legacy key code of a letter or digit. Other characters have none that all keyboards share."""
    return ord(character.upper()) if character.isascii() and character.isalnum() else 0
