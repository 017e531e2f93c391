"""A page session that survives a crash of its browser: it repeats the episode in a new one and compares the states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from codeplan.envs.miniwob.actions import BrowserAction
from codeplan.envs.miniwob.devtools import CALL_TIMEOUT, BrowserGone, NoAnswer
from codeplan.envs.miniwob.page_session import PageSession, PageSetup, PageState
from codeplan.errors import EnvironmentFailure

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
