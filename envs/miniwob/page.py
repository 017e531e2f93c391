"""A page of the browser, and episodes on it: the page's scripts, its mouse and keyboard, actions and states.

One browser serves all environments of a process: the first page starts it, and it exits soon after the last one. A
session survives a crash of its browser: it repeats the episode in a new one and compares the states.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import math
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec.structs import replace

from codeplan.envs.miniwob.actions import MAX_WAIT_MS, BrowserAction, Point, read_points, split_target
from codeplan.envs.miniwob.browser import (
    CALL_TIMEOUT,
    AnswerQueue,
    BrowserGone,
    BrowserProcess,
    DevToolsConnection,
    NoAnswer,
)
from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

_T = TypeVar("_T")

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

    def read_script(self, name: str, form: type[_T], *arguments: object) -> _T:
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


# ------------------------------------------------------------------ dates and times as keys of a field

_ISO_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})")
_US_DATE = re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})")
_TIME = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})? ?(?P<half>[AaPp]?)[Mm]?")


def keys_for_field(kind: str, text: str) -> str | None:
    """The keys that enter a whole date or time from a field's first part on; None for any other text or field.

    ``kind`` is the field's type in HTML: ``date``, ``time`` …
    """
    if kind == "date" and (date := _ISO_DATE.fullmatch(text) or _US_DATE.fullmatch(text)):
        return f"{int(date['month']):02}{int(date['day']):02}{date['year']}"
    if kind == "time" and (time := _TIME.fullmatch(text)):
        hour, half = int(time["hour"]), time["half"].upper()
        if not half:
            hour, half = (hour % 12 or 12), "P" if hour >= 12 else "A"
        return f"{hour:02}{time['minute']}{half}"
    return None


# ------------------------------------------------------------------ actions

_MAX_LOOKS = 20
"""How often to check an element that is not clickable yet; a fifth of it if an XPath matches several."""

_MAX_MOVES = 10
"""How often the mouse follows an element that moves away."""

_MAX_DATE_PARTS = 7
"""Parts of a field for dates and times: year, month, day, hour, minute, second, half of the day."""

_Text = Annotated[str, msgspec.Meta(max_length=1_100)]


class FoundElement(Value, frozen=True):
    """An element of a page as data.

    ``text`` is all text in it. ``attributes`` are its own, with its live value, checked, selected and focused. ``box``
    is its left, top, width and height in pixels of the window.
    """

    tag: _Text
    text: _Text
    attributes: dict[_Text, _Text]
    visible: bool
    box: tuple[float, float, float, float]


class BrowserActionResult(Value, frozen=True):
    """The result of an action: why it was not possible (empty if it was), and the elements that ``find`` found."""

    fault: str = ""
    found: tuple[FoundElement, ...] | None = None


class _FindReply(msgspec.Struct):
    fault: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    elements: Annotated[tuple[FoundElement, ...], msgspec.Meta(max_length=200)] = ()


def perform(page: BrowserPage, action: BrowserAction) -> BrowserActionResult:
    """Perform an action. Raises: EnvironmentFailure if the page fails."""
    if action.name == "find":
        return _find(page, action.argument)
    return BrowserActionResult(_ACTIONS[action.name](page, action.argument))


def _find(page: BrowserPage, xpath: str) -> BrowserActionResult:
    reply = page.read_script("describe", _FindReply, xpath)
    return BrowserActionResult(f"{xpath} {reply.fault}.") if reply.fault else BrowserActionResult(found=reply.elements)


# ------------------------------------------------------------------ keyboard and clock: each returns its fault, or ""


def _type(page: BrowserPage, characters: str) -> str:
    keys = keys_for_field(str(page.call_script("focusedDateField")), characters)
    page.press_keys(characters if keys is None else ["arrow_left"] * _MAX_DATE_PARTS + list(keys))
    return ""


def _press_key(page: BrowserPage, key: str) -> str:
    page.press_keys([key])
    return ""


def _clear(page: BrowserPage, xpath: str) -> str:
    fault = _point_at_all(page, xpath, click=True)
    if not fault and not page.call_script("clearDateField"):
        page.press_keys(["select_all", "backspace"])
    return fault


def _wait(page: BrowserPage, ms: str) -> str:
    page.call_script("pass", min(int(ms), MAX_WAIT_MS))
    return ""


# ------------------------------------------------------------------ mouse


def _point_at_all(page: BrowserPage, xpath: str, *, click: bool) -> str:
    """Click, or hover over, every matching element, as AdaPlanner's own agent does. One success is enough."""
    found = page.call_script("find", xpath)
    if "fault" in found:
        return f"{xpath} {found['fault']}."
    count = int(found["count"])
    looks = _MAX_LOOKS if count == 1 else _MAX_LOOKS // 5
    faults = [_point_at(page, i, looks, click) for i in range(count)]
    return f"{xpath} {faults[0]}." if all(faults) else ""


def _point_at(page: BrowserPage, i: int, looks: int, click: bool) -> str:
    """Wait until the element is visible and uncovered, move the mouse there, and check that it has not moved."""
    fault = ""
    for _ in range(_MAX_MOVES):
        target = page.call_script("placeSoon", i, not click, looks)
        if "x" not in target:
            return "" if target.get("chosen") else str(target["fault"])
        page.move_mouse(target["x"], target["y"])
        now = page.call_script("place", i, not click)
        if now.get("box") == target["box"]:
            if click:
                page.click_mouse(now["x"], now["y"])
            return ""
        fault = str(now.get("fault", "does not hold still"))
    return fault


def _scroll(page: BrowserPage, argument: str) -> str:
    xpath, rest = split_target(argument)
    fault = _point_at_first(page, xpath)
    if not fault:
        page.call_script("scrollFirst", *read_points(rest)[0])
    return fault


def _click_point(page: BrowserPage, argument: str) -> str:
    xpath, rest = split_target(argument)
    points, fault = _points_in(page, xpath, read_points(rest))
    if not fault:
        page.move_mouse(*points[0])
        page.click_mouse(*points[0])
    return fault


def _draw(page: BrowserPage, argument: str) -> str:
    xpath, rest = split_target(argument)
    points, fault = _points_in(page, xpath, read_points(rest))
    if not fault:
        page.drag_mouse(points)
    return fault


def _drag_by(page: BrowserPage, argument: str) -> str:
    xpath, rest = split_target(argument)
    (right, down), *_ = read_points(rest)
    start, fault = _spot(page, xpath)
    if not fault:
        page.drag_mouse([start, (start[0] + right, start[1] + down)])
    return fault


def _drag(page: BrowserPage, argument: str) -> str:
    xpath, other = split_target(argument)
    end, fault = _spot(page, other)
    if fault:
        return fault
    start, fault = _spot(page, xpath)
    if not fault:
        page.drag_mouse([start, end])
    return fault


def _spot(page: BrowserPage, xpath: str) -> tuple[Point, str]:
    """Where to press on the first matching element: its middle, or a part that is not covered; or the fault."""
    if fault := _point_at_first(page, xpath):
        return (0.0, 0.0), fault
    place = page.call_script("place", 0, True)
    if "x" not in place:
        return (0.0, 0.0), f"{xpath} {place['fault']}."
    return (float(place["x"]), float(place["y"])), ""


def _points_in(page: BrowserPage, xpath: str, points: list[Point]) -> tuple[list[Point], str]:
    """Points of the first matching element, counted from its left top corner, as points of the window; or the fault."""
    if fault := _point_at_first(page, xpath):
        return [], fault
    corner: dict[str, Any] = page.call_script("corner", 0)
    return [(float(corner["x"]) + x, float(corner["y"]) + y) for x, y in points], ""


def _point_at_first(page: BrowserPage, xpath: str) -> str:
    """Move the mouse onto the first matching element, once it is visible and holds still."""
    found = page.call_script("find", xpath)
    if "fault" in found:
        return f"{xpath} {found['fault']}."
    fault = _point_at(page, 0, _MAX_LOOKS, click=False)
    return f"{xpath} {fault}." if fault else ""


_ACTIONS: dict[str, Callable[[BrowserPage, str], str]] = {
    "type": _type,
    "press_key": _press_key,
    "click_xpath": partial(_point_at_all, click=True),
    "click_option": partial(_point_at_all, click=True),
    "move_mouse_on": partial(_point_at_all, click=False),
    "clear": _clear,
    "wait": _wait,
    "scroll": _scroll,
    "click_point": _click_point,
    "drag": _drag,
    "drag_by": _drag_by,
    "draw": _draw,
}


# ------------------------------------------------------------------ the shared browser

MAX_IDLE_SECONDS = 5.0
"""Seconds that a browser without pages keeps running."""

_lock = threading.Lock()
_shared: dict[Path, SharedBrowser] = {}


class SharedBrowser:
    """A browser that several environments share. Safe to use from any thread."""

    def __init__(self, program: Path) -> None:
        self.process = BrowserProcess(program)
        self._program = program
        self._users = 0
        self._idle_timer: threading.Timer | None = None

    @classmethod
    def open_page(cls, program: Path, folder: Path, timeout: float = CALL_TIMEOUT) -> tuple[SharedBrowser, BrowserPage]:
        """Open a page that may load the files of ``folder``, and start the browser if it does not run.

        ``timeout`` is how long the page may take for an answer, in seconds.

        Raises: EnvironmentFailure if the browser does not start.
        """
        browser = cls._acquire(program)
        try:
            return browser, BrowserPage(browser.process.connection, folder, timeout)
        except BaseException:
            browser._release()
            raise

    def return_page(self, page: BrowserPage) -> None:
        """Close a page of this browser. Call it once per page."""
        page.close()
        self._release()

    @classmethod
    def _acquire(cls, program: Path) -> SharedBrowser:
        with _lock:
            browser = _shared.get(program)
            if browser is None or not browser.process.is_alive:
                browser = _shared[program] = cls(program)
            browser._cancel_timer()
            browser._users += 1
            return browser

    def _release(self) -> None:
        with _lock:
            self._users -= 1
            if self._users:
                return
            if self.process.is_alive:
                self._idle_timer = threading.Timer(MAX_IDLE_SECONDS, self._close_if_idle)
                self._idle_timer.daemon = True
                self._idle_timer.start()
            else:
                self._close()

    def _close_if_idle(self) -> None:
        with _lock:
            if not self._users:
                self._close()

    def _cancel_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _close(self) -> None:
        if _shared.get(self._program) is self:
            del _shared[self._program]
        self.process.close()


def close_all_browsers() -> None:
    """Close all browsers, even if their pages are in use."""
    with _lock:
        for browser in list(_shared.values()):
            browser._cancel_timer()
            browser._close()


def _reset_after_fork() -> None:
    """In a forked process, detach from the parent's browsers."""
    global _lock
    _lock = threading.Lock()
    for browser in _shared.values():
        browser.process.detach()
    _shared.clear()


atexit.register(close_all_browsers)
os.register_at_fork(after_in_child=_reset_after_fork)


# ------------------------------------------------------------------ episodes

SETTLE_MS = 500
"""Milliseconds by which each action advances the page's clock, so that menus open and suggestions appear.

``find`` does not advance it; ``wait`` advances it by the requested time.
"""

_MAX_STATE_CHARACTERS = 110_000
"""Characters of a state and of a goal. ``page.js`` cuts them off earlier, unless a page interferes."""


class PageSetup(Value, frozen=True):
    """The start of an episode. A ``reusable`` page is not loaded again if it is already open."""

    url: str
    seed: int
    mode: str
    reusable: bool = False


class PageState(Value, frozen=True):
    """A page's state. ``html`` is empty once ``done``; ``reward`` is the raw reward, without the time discount.

    ``fault`` is why the action was not possible; empty if it was. ``found`` are the elements that ``find`` found; None
    after other actions.
    """

    html: str
    done: bool
    reward: float
    fault: str = ""
    found: tuple[FoundElement, ...] | None = None


class _StateReply(msgspec.Struct):
    """The report of ``page.js`` on a page. JSON has no NaN, so a reward that is not a number is None."""

    html: Annotated[str, msgspec.Meta(max_length=_MAX_STATE_CHARACTERS)]
    done: bool
    reward: float | None = None


class _FirstReply(_StateReply, kw_only=True):
    """The report of ``page.js`` at the start of an episode."""

    goal: Annotated[str, msgspec.Meta(max_length=_MAX_STATE_CHARACTERS)]
    ready: bool


class PageSession:
    """Runs episodes on one page, one after the other."""

    def __init__(self, program: Path, folder: Path, timeout: float = CALL_TIMEOUT) -> None:
        self._program, self._folder, self._timeout = program, folder, timeout
        self._browser: SharedBrowser | None = None
        self._page: BrowserPage | None = None

    def begin(self, setup: PageSetup) -> tuple[str, PageState]:
        """Begin an episode. Returns its goal and the page's first state.

        Raises: EnvironmentFailure if the page fails, and its subclass BrowserGone if page or browser crashes.
        """
        page = self._open_page(setup)
        reply = page.read_script("begin", _FirstReply, setup.seed, setup.mode)
        if not reply.ready:
            raise EnvironmentFailure(f"the page {setup.url} is not ready for an episode")
        return reply.goal, _state(reply)

    def act(self, action: BrowserAction) -> PageState:
        """Take an action. Raises what ``begin`` raises."""
        assert self._page is not None, "an episode has begun"
        result = perform(self._page, action)
        settle = {"find": 0, "wait": 0}.get(action.name, SETTLE_MS)
        reply = self._page.read_script("state", _StateReply, settle)
        return _state(reply, result.fault, result.found)

    def picture(self) -> bytes:
        """The task's area as a PNG."""
        assert self._page is not None, "an episode has begun"
        return self._page.screenshot(self._page.call_script("area"))

    def close(self) -> None:
        """Return the page to the browser. Safe to call twice."""
        if self._browser is not None and self._page is not None:
            self._browser.return_page(self._page)
        self._browser = self._page = None

    def _open_page(self, setup: PageSetup) -> BrowserPage:
        if self._page is None:
            self._browser, self._page = SharedBrowser.open_page(self._program, self._folder, self._timeout)
        self._page.park_mouse()
        if self._page.url != setup.url or not setup.reusable:
            self._page.open(setup.url)
        return self._page


def _state(reply: _StateReply, fault: str = "", found: tuple[FoundElement, ...] | None = None) -> PageState:
    return PageState(reply.html, reply.done, reply.reward or 0.0, fault, found)


class RecoveringPageSession:
    """A PageSession that remembers the actions and states of the current episode.

    Methods raise EnvironmentFailure if a second browser crashes at the same point, or reaches a different state, and at
    once if a page takes longer than ``timeout`` seconds for an answer.
    """

    def __init__(self, program: Path, folder: Path, timeout: float = CALL_TIMEOUT) -> None:
        self._session = PageSession(program, folder, timeout)
        self._setup: PageSetup | None = None
        self._first: tuple[str, PageState] | None = None
        self._history: list[tuple[BrowserAction, PageState]] = []

    def begin(self, setup: PageSetup) -> tuple[str, PageState]:
        """Begin an episode. Returns its goal and the page's first state."""
        self._setup, self._first, self._history = setup, None, []
        self._first = self._retry(lambda: self._session.begin(setup))
        return self._first

    def act(self, action: BrowserAction) -> PageState:
        """Take an action."""
        state = self._retry(lambda: self._session.act(action))
        self._history.append((action, state))
        return state

    def reject(self, fault: str) -> PageState:
        """The last state, with the fault of an invalid action. The page's clock does not advance."""
        assert self._first is not None, "an episode has begun"
        last = self._history[-1][1] if self._history else self._first[1]
        return replace(last, fault=fault)

    def picture(self) -> bytes:
        """The task's area as a PNG."""
        return self._retry(self._session.picture)

    def close(self) -> None:
        """Return the page. Safe to call twice."""
        self._session.close()

    def _retry(self, call: Callable[[], _T]) -> _T:
        """The result of a call; if the browser crashes, of the same call in a new browser."""
        try:
            return call()
        except NoAnswer:
            self._session.close()  # the next episode gets a new page
            raise
        except BrowserGone:
            self._replay()
            return call()

    def _replay(self) -> None:
        self._session.close()
        if self._setup is None or self._first is None:
            return
        self._compare(self._first, self._session.begin(self._setup), "its first state")
        for action, state in self._history:
            self._compare(state, self._session.act(action), f"the state after {action}")

    @staticmethod
    def _compare(before: object, now: object, what: str) -> None:
        if before != now:
            raise EnvironmentFailure(f"the browser crashed, and in a new one {what} differs: {now}, not {before}")
