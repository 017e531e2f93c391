"""Episodes on a page of the browser: a setup, actions, and the page's states.

One browser serves all environments of a process: the first page starts it, and it exits soon after the last one. A
session survives a crash of its browser: it repeats the episode in a new one and compares the states.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec.structs import replace

from codeplan.envs.miniwob import page
from codeplan.envs.miniwob.actions import BrowserAction
from codeplan.envs.miniwob.browser import CALL_TIMEOUT, BrowserGone, BrowserProcess, NoAnswer
from codeplan.envs.miniwob.page import BrowserPage, FoundElement
from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

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
        result = page.perform(self._page, action)
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


T = TypeVar("T")


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

    def _retry(self, call: Callable[[], T]) -> T:
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
