"""Episodes on a page of the browser: a setup, actions, and the page's states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from codeplan.envs.miniwob.actions import BrowserAction
from codeplan.envs.miniwob.browser import SharedBrowser
from codeplan.envs.miniwob.page import BrowserPage
from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

SETTLE_MS = 500
"""Milliseconds by which each action advances the page's clock, so that menus open and suggestions appear."""

_MAX_LOOKS = 20
"""How often to check an element that is not clickable yet; a fifth of it if an XPath matches several."""

_MAX_MOVES = 10
"""How often the mouse follows an element that moves away."""


class PageSetup(Value, frozen=True):
    """The start of an episode. A ``reusable`` page is not loaded again if it is already open."""

    url: str
    seed: int
    mode: str
    reusable: bool = False


class PageState(Value, frozen=True):
    """A page's state. ``html`` is empty once ``done``; ``reward`` is the raw reward, without the time discount.

    ``fault`` is why the action was not possible; empty if it was.
    """

    html: str
    done: bool
    reward: float
    fault: str = ""


class PageSession:
    """Runs episodes on one page, one after the other."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        self._browser: SharedBrowser | None = None
        self._page: BrowserPage | None = None

    def begin(self, setup: PageSetup) -> tuple[str, PageState]:
        """Begin an episode. Returns its goal and the page's first state.

        Raises: EnvironmentFailure if the page fails, and its subclass BrowserGone if page or browser crashes.
        """
        reply = self._open_page(setup).call_script("begin", setup.seed, setup.mode)
        if not reply["ready"]:
            raise EnvironmentFailure(f"the page {setup.url} is not ready for an episode")
        return str(reply["goal"]), _parse_state(reply)

    def act(self, action: BrowserAction) -> PageState:
        """Take an action. Raises what ``begin`` raises."""
        assert self._page is not None, "an episode has begun"
        fault = _ACTIONS[action.name](self._page, action.argument)
        return _parse_state(self._page.call_script("state", SETTLE_MS), fault)

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
            self._browser, self._page = SharedBrowser.open_page(self._program, self._folder)
        self._page.park_mouse()
        if self._page.url != setup.url or not setup.reusable:
            self._page.open(setup.url)
        return self._page


def _parse_state(reply: Mapping[str, Any], fault: str = "") -> PageState:
    return PageState(str(reply["html"]), bool(reply["done"]), float(reply["reward"] or 0), fault)


# ------------------------------------------------------------------ actions: each returns its fault, or an empty text


def _type(page: BrowserPage, characters: str) -> str:
    page.press_keys(characters)
    return ""


def _press_key(page: BrowserPage, key: str) -> str:
    page.press_keys([key])
    return ""


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


_ACTIONS: dict[str, Callable[[BrowserPage, str], str]] = {
    "type": _type,
    "press_key": _press_key,
    "click_xpath": partial(_point_at_all, click=True),
    "click_option": partial(_point_at_all, click=True),
    "move_mouse_on": partial(_point_at_all, click=False),
}
