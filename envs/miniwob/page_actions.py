"""Performs the actions on a page of the browser, with its own mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import msgspec

from codeplan.envs.miniwob.actions import MAX_WAIT_MS, BrowserAction, Point, read_points, split_target
from codeplan.envs.miniwob.date_fields import keys_for_field
from codeplan.envs.miniwob.page import BrowserPage
from codeplan.types import Value

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
