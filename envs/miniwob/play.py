"""One episode in a browser's page: a seed, actions, and what the page says to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from codeplan.envs.miniwob.actions import Action
from codeplan.envs.miniwob.browser import Browser
from codeplan.envs.miniwob.page import Page
from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

SETTLE = 500
"""Page milliseconds that pass with each action: menus open, sections unfold, lists of suggestions come up."""

_LOOKS = 20
"""How often an element that cannot be clicked yet is looked at; of several, each a fifth as often."""

_MOVES = 10
"""How often the mouse follows an element that does not hold still under it."""


class Start(Value, frozen=True):
    """What an episode begins with."""

    url: str
    seed: int
    mode: str
    again: bool = False
    """Whether the page draws all of it anew, and need not be loaded again where it is open already."""


class State(Value, frozen=True):
    """What a page shows: its HTML, empty once ``done``. ``reward`` is the raw one, without the discount for time.

    ``fault`` is why the action could not be done, empty where it was.
    """

    html: str
    done: bool
    reward: float
    fault: str = ""


class Play:
    """Episodes on one page, one after the other: ``begin``, then ``do``. Closing it gives the page back."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        self._browser: Browser | None = None
        self._page: Page | None = None

    def begin(self, start: Start) -> tuple[str, State]:
        """Begin an episode: its goal, and the page's first state. Raises EnvironmentFailure as ``do`` does."""
        told = self._opened(start).ask("begin", start.seed, start.mode)
        if not told["ready"]:
            raise EnvironmentFailure(f"the page {start.url} is not ready for an episode")
        return str(told["goal"]), _state(told)

    def do(self, action: Action) -> State:
        """Do one action; see ``State.fault``. Raises BrowserGone where the page or the browser has ended."""
        assert self._page is not None, "an episode has begun"
        fault = _DOES[action.name](self._page, action.what)
        return _state(self._page.ask("state", SETTLE), fault)

    def picture(self) -> bytes:
        """The task's area as it looks now, as a PNG."""
        assert self._page is not None, "an episode has begun"
        return self._page.picture(self._page.ask("area"))

    def close(self) -> None:
        """Give the page back. Safe to call twice."""
        if self._browser is not None and self._page is not None:
            self._browser.give_back(self._page)
        self._browser = self._page = None

    def _opened(self, start: Start) -> Page:
        """The page as new, the mouse where nothing is."""
        if self._page is None:
            self._browser, self._page = Browser.page(self._program, self._folder)
        self._page.rest()
        if self._page.url != start.url or not start.again:
            self._page.open(start.url)
        return self._page


def _state(told: Mapping[str, Any], fault: str = "") -> State:
    return State(str(told["html"]), bool(told["done"]), float(told["reward"] or 0), fault)


# ------------------------------------------------------------------ actions: each returns why it could not be done


def _type(page: Page, characters: str) -> str:
    page.type(characters)
    return ""


def _press_key(page: Page, key: str) -> str:
    page.type([key])
    return ""


def _click(page: Page, xpath: str) -> str:
    return _point(page, xpath, press=True)


def _hover(page: Page, xpath: str) -> str:
    return _point(page, xpath, press=False)


_DOES: dict[str, Callable[[Page, str], str]] = {
    "type": _type,
    "press_key": _press_key,
    "click_xpath": _click,
    "click_option": _click,
    "move_mouse_on": _hover,
}


def _point(page: Page, xpath: str, *, press: bool) -> str:
    """Click, or hover over, every element that matches, as AdaPlanner's own agent does. One that works is enough."""
    found = page.ask("find", xpath)
    if "fault" in found:
        return f"{xpath} {found['fault']}."
    count = int(found["count"])
    looks = _LOOKS if count == 1 else _LOOKS // 5
    faults = [_point_at(page, i, looks, press) for i in range(count)]
    return f"{xpath} {faults[0]}." if all(faults) else ""


def _point_at(page: Page, i: int, looks: int, press: bool) -> str:
    """Wait until the element can be seen and is not covered; then point at it, and see that it stays where it is."""
    fault = ""
    for _ in range(_MOVES):
        there = page.ask("placeSoon", i, not press, looks)
        if "x" not in there:
            return "" if there.get("chosen") else str(there["fault"])
        page.move(there["x"], there["y"])
        now = page.ask("place", i, not press)
        if now.get("box") == there["box"]:
            if press:
                page.press(now["x"], now["y"])
            return ""
        fault = str(now.get("fault", "does not hold still"))
    return fault
