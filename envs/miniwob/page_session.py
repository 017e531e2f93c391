"""One episode in a browser's page: a seed, actions, and what the page says to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from codeplan.envs.miniwob.actions import BrowserAction
from codeplan.envs.miniwob.browser import SharedBrowser
from codeplan.envs.miniwob.page import BrowserPage
from codeplan.errors import EnvironmentFailure
from codeplan.types.value import Value

SETTLE_MS = 500
"""Page milliseconds that pass with each action: menus open, sections unfold, lists of suggestions come up."""

_LOOKS = 20
"""How often an element that cannot be clicked yet is looked at; of several, each a fifth as often."""

_MOVES = 10
"""How often the mouse follows an element that does not hold still under it."""


class PageSetup(Value, frozen=True):
    """What an episode begins with."""

    url: str
    seed: int
    mode: str
    reusable: bool = False
    """Whether the page draws all of it anew, and need not be loaded again where it is open already."""


class PageState(Value, frozen=True):
    """What a page shows: its HTML, empty once ``done``. ``reward`` is the raw one, without the discount for time.

    ``fault`` is why the action could not be done, empty where it was.
    """

    html: str
    done: bool
    reward: float
    fault: str = ""


class PageSession:
    """Episodes on one page, one after the other: ``begin``, then ``do``. Closing it gives the page back."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        self._browser: SharedBrowser | None = None
        self._page: BrowserPage | None = None

    def begin(self, start: PageSetup) -> tuple[str, PageState]:
        """Begin an episode: its goal, and the page's first state. Raises EnvironmentFailure as ``do`` does."""
        told = self._opened(start).call_script("begin", start.seed, start.mode)
        if not told["ready"]:
            raise EnvironmentFailure(f"the page {start.url} is not ready for an episode")
        return str(told["goal"]), _state(told)

    def act(self, action: BrowserAction) -> PageState:
        """Do one action; see ``State.fault``. Raises BrowserGone where the page or the browser has ended."""
        assert self._page is not None, "an episode has begun"
        fault = _DOES[action.name](self._page, action.argument)
        return _state(self._page.call_script("state", SETTLE_MS), fault)

    def picture(self) -> bytes:
        """The task's area as it looks now, as a PNG."""
        assert self._page is not None, "an episode has begun"
        return self._page.screenshot(self._page.call_script("area"))

    def close(self) -> None:
        """Give the page back. Safe to call twice."""
        if self._browser is not None and self._page is not None:
            self._browser.return_page(self._page)
        self._browser = self._page = None

    def _opened(self, start: PageSetup) -> BrowserPage:
        """The page as new, the mouse where nothing is."""
        if self._page is None:
            self._browser, self._page = SharedBrowser.open_page(self._program, self._folder)
        self._page.park_mouse()
        if self._page.url != start.url or not start.reusable:
            self._page.open(start.url)
        return self._page


def _state(told: Mapping[str, Any], fault: str = "") -> PageState:
    return PageState(str(told["html"]), bool(told["done"]), float(told["reward"] or 0), fault)


# ------------------------------------------------------------------ actions: each returns why it could not be done


def _type(page: BrowserPage, characters: str) -> str:
    page.press_keys(characters)
    return ""


def _press_key(page: BrowserPage, key: str) -> str:
    page.press_keys([key])
    return ""


def _click(page: BrowserPage, xpath: str) -> str:
    return _point(page, xpath, press=True)


def _hover(page: BrowserPage, xpath: str) -> str:
    return _point(page, xpath, press=False)


_DOES: dict[str, Callable[[BrowserPage, str], str]] = {
    "type": _type,
    "press_key": _press_key,
    "click_xpath": _click,
    "click_option": _click,
    "move_mouse_on": _hover,
}


def _point(page: BrowserPage, xpath: str, *, press: bool) -> str:
    """Click, or hover over, every element that matches, as AdaPlanner's own agent does. One that works is enough."""
    found = page.call_script("find", xpath)
    if "fault" in found:
        return f"{xpath} {found['fault']}."
    count = int(found["count"])
    looks = _LOOKS if count == 1 else _LOOKS // 5
    faults = [_point_at(page, i, looks, press) for i in range(count)]
    return f"{xpath} {faults[0]}." if all(faults) else ""


def _point_at(page: BrowserPage, i: int, looks: int, press: bool) -> str:
    """Wait until the element can be seen and is not covered; then point at it, and see that it stays where it is."""
    fault = ""
    for _ in range(_MOVES):
        there = page.call_script("placeSoon", i, not press, looks)
        if "x" not in there:
            return "" if there.get("chosen") else str(there["fault"])
        page.move_mouse(there["x"], there["y"])
        now = page.call_script("place", i, not press)
        if now.get("box") == there["box"]:
            if press:
                page.click_mouse(now["x"], now["y"])
            return ""
        fault = str(now.get("fault", "does not hold still"))
    return fault
