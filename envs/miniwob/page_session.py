"""Episodes on a page of the browser: a setup, actions, and the page's states."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from codeplan.envs.miniwob import page_actions
from codeplan.envs.miniwob.actions import BrowserAction
from codeplan.envs.miniwob.browser import SharedBrowser
from codeplan.envs.miniwob.devtools import CALL_TIMEOUT
from codeplan.envs.miniwob.page import BrowserPage
from codeplan.envs.miniwob.page_actions import FoundElement
from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

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
        result = page_actions.perform(self._page, action)
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
