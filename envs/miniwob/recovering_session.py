"""An episode that outlives its browser: where that crashes, the episode is done again in a new one, and compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from codeplan.envs.miniwob.actions import BrowserAction
from codeplan.envs.miniwob.devtools import BrowserGone
from codeplan.envs.miniwob.page_session import PageSession, PageSetup, PageState
from codeplan.errors import EnvironmentFailure

T = TypeVar("T")


class RecoveringPageSession:
    """A Play with a memory: what was done since ``begin``, and what the page was then.

    Raises EnvironmentFailure where a second browser crashes at the same point, or comes to another state.
    """

    def __init__(self, program: Path, folder: Path) -> None:
        self._play = PageSession(program, folder)
        self._start: PageSetup | None = None
        self._first: tuple[str, PageState] | None = None
        self._done: list[tuple[BrowserAction, PageState]] = []

    def begin(self, start: PageSetup) -> tuple[str, PageState]:
        """Begin an episode: its goal, and the page's first state."""
        self._start, self._first, self._done = start, None, []
        self._first = self._repeated(lambda: self._play.begin(start))
        return self._first

    def act(self, action: BrowserAction) -> PageState:
        """Do one action."""
        state = self._repeated(lambda: self._play.act(action))
        self._done.append((action, state))
        return state

    def reject(self, fault: str) -> PageState:
        """The state as it was, with the fault of an action that is none: no time passes on the page."""
        assert self._first is not None, "an episode has begun"
        last = self._done[-1][1] if self._done else self._first[1]
        return replace(last, fault=fault)

    def picture(self) -> bytes:
        """The task's area as it looks now, as a PNG."""
        return self._repeated(self._play.picture)

    def close(self) -> None:
        """Give the page back. Safe to call twice."""
        self._play.close()

    def _repeated(self, do: Callable[[], T]) -> T:
        """What ``do`` returns; where the browser ends meanwhile, what it returns in a new one."""
        try:
            return do()
        except BrowserGone:
            self._bring_back()
            return do()

    def _bring_back(self) -> None:
        self._play.close()
        if self._start is None or self._first is None:
            return
        self._expect(self._first, self._play.begin(self._start), "its first state")
        for action, state in self._done:
            self._expect(state, self._play.act(action), f"the state after {action}")

    @staticmethod
    def _expect(before: object, now: object, what: str) -> None:
        if before != now:
            raise EnvironmentFailure(f"the browser ended, and in a new one {what} was another: {now}, not {before}")
