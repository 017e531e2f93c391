"""One page of the browser: loads URLs, calls the page's scripts, and sends mouse and keyboard input."""

from __future__ import annotations

import base64
import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

from codeplan.envs.miniwob.devtools import CALL_TIMEOUT, AnswerQueue, BrowserGone, DevToolsConnection, NoAnswer
from codeplan.errors import EnvironmentFailure

T = TypeVar("T")

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
    "tab": ("Tab", 9, ""),
    "delete": ("Delete", 46, ""),
    "escape": ("Escape", 27, ""),
    "home": ("Home", 36, ""),
    "end": ("End", 35, ""),
    "page_up": ("PageUp", 33, ""),
    "page_down": ("PageDown", 34, ""),
    "select_all": ("a", 65, ""),
    "shift_arrow_left": ("ArrowLeft", 37, ""),
    "shift_arrow_right": ("ArrowRight", 39, ""),
    "\n": ("Enter", 13, "\r"),
    "\t": ("Tab", 9, ""),
}
"""Named keys: their JavaScript name, legacy key code, and the text they type."""

_CONTROL, _SHIFT = 2, 8
_MODIFIERS: dict[str, dict[str, object]] = {
    "select_all": {"modifiers": _CONTROL, "commands": ["selectAll"]},
    "shift_arrow_left": {"modifiers": _SHIFT},
    "shift_arrow_right": {"modifiers": _SHIFT},
}
"""Additional fields in the events of some named keys."""

_LEFT_BUTTON = {"button": "left", "clickCount": 1}
_HELD_BUTTON = {"button": "left", "buttons": 1}

_DRAG_PIXELS, _MAX_DRAG_MOVES = 4.0, 300
"""Pixels of each mouse move of a drag, and the maximum number of moves."""

_DRAG_MOVE_MS = 16
"""Milliseconds by which each of these moves advances the page's clock: pages that animate a drag need time for it."""


class BrowserPage:
    """A page that may load only files of ``folder`` and whose clock advances only on request.

    All methods raise BrowserGone if the page or the browser crashes, and its subclass NoAnswer if a call takes longer
    than ``timeout`` seconds.
    """

    def __init__(self, wire: DevToolsConnection, folder: Path, timeout: float = CALL_TIMEOUT) -> None:
        self.url = ""
        """The loaded URL; empty before the first."""
        self._expected = ""
        self._crashed = self._moved = False
        self._wire, self._folder, self._timeout = wire, folder, timeout
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
            self._loaded.get(timeout=self._timeout)
        except Empty:
            raise NoAnswer(f"the page {url} did not load within {self._timeout:g} s") from None
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

    def read_script(self, name: str, form: type[T], *arguments: object) -> T:
        """Call a function of ``page.js`` and convert its result, which the page may have tampered with.

        Raises: EnvironmentFailure if it throws, or its result has another form.
        """
        try:
            return msgspec.convert(self.call_script(name, *arguments), form)
        except msgspec.ValidationError:
            raise EnvironmentFailure(f"the page {self._expected} answered {name} in no valid form") from None

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

    def drag_mouse(self, points: Sequence[tuple[float, float]]) -> None:
        """Press the left button at the first point, move through the others, and release it at the last."""
        first, last = points[0], points[-1]
        self.move_mouse(*first)
        self._mouse("mousePressed", first, _LEFT_BUTTON)
        for point in _points_between(points):
            self._mouse("mouseMoved", point, _HELD_BUTTON)
            self.call_script("pass", _DRAG_MOVE_MS)
        self._mouse("mouseReleased", last, _LEFT_BUTTON)

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

    def _mouse(self, event: str, at: tuple[float, float], button: Mapping[str, object]) -> None:
        self._call("Input.dispatchMouseEvent", type=event, x=at[0], y=at[1], **button)

    def _call(self, method: str, **params: object) -> dict[str, Any]:
        return self._wire.wait_for_answer(self._send(method, params), method, self._timeout)

    def _call_all(self, *calls: tuple[str, Mapping[str, object]]) -> None:
        """Send all calls before waiting for the first answer. The browser handles them in order."""
        sent = [(self._send(method, params), method) for method, params in calls]
        for answers, method in sent:
            self._wire.wait_for_answer(answers, method, self._timeout)

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
    return [{**down, **common, **_MODIFIERS.get(key, {})}, {"type": "keyUp", **common}]


def _points_between(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points of a path after its first, with others between them so that no move is long."""
    length = sum(math.dist(a, b) for a, b in pairwise(points))
    pixels = max(_DRAG_PIXELS, length / _MAX_DRAG_MOVES)
    path: list[tuple[float, float]] = []
    for (x0, y0), (x1, y1) in pairwise(points):
        count = max(1, math.ceil(math.dist((x0, y0), (x1, y1)) / pixels))
        path += [(x0 + (x1 - x0) * i / count, y0 + (y1 - y0) * i / count) for i in range(1, count + 1)]
    return path


def _key_code(character: str) -> int:
    """The legacy key code of a letter or digit. Other characters have none that all keyboards share."""
    return ord(character.upper()) if character.isascii() and character.isalnum() else 0
