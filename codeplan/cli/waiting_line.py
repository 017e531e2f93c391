"""A moving line on a terminal's standard error while an episode makes no event: what it waits for, and how long.

Nothing is shown where standard error is no terminal, and nothing in the first half second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from codeplan.recording.events import Event

DELAY_SECONDS: Final = 0.5
"""How long nothing may happen before the line appears."""

_FRAME_SECONDS: Final = 0.25
_WITHOUT_PLAN: Final = "The environment works"
_WITH_PLAN: Final = "The plan or its environment works"


class WaitingLine:
    """The line. It is gone while ``hidden`` prints something, or asks the user.

    ``working`` is what it says while no model is called.
    """

    def __init__(self, console: Console, working: str) -> None:
        self._console, self._working = console, working
        self._lock = threading.RLock()
        self._began = self._since = time.monotonic()
        self._purpose = ""
        self._status: Status | None = None
        self._hidden = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._move, name="codeplan-waiting-line", daemon=True)
        self._thread.start()

    def tell(self, purpose: str) -> None:
        """A model is being called for this purpose; an empty text: no longer."""
        with self._lock:
            self._purpose = purpose
            self._restart()

    def tell_plan(self) -> None:
        """A plan runs from now on: the line says that the plan or its environment works."""
        with self._lock:
            if self._working == _WITHOUT_PLAN:
                self._working = _WITH_PLAN

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Inside this context there is no line."""
        with self._lock:
            self._hidden += 1
            self._restart()
        try:
            yield
        finally:
            with self._lock:
                self._hidden -= 1
                self._since = time.monotonic()

    def close(self) -> None:
        """Remove the line for good."""
        self._ended.set()
        self._thread.join()
        with self._lock:
            self._restart()

    def _restart(self) -> None:
        self._since = time.monotonic()
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _move(self) -> None:
        while not self._ended.wait(_FRAME_SECONDS):
            with self._lock:
                if self._hidden or time.monotonic() - self._since < DELAY_SECONDS:
                    continue
                if self._status is None:
                    self._status = self._console.status("", spinner_style="dim", refresh_per_second=8)
                    self._status.start()
                self._status.update(self._text())

    def _text(self) -> str:
        from codeplan.report.event_view import describe_purpose

        now = time.monotonic()
        doing = f"The model is called to {describe_purpose(self._purpose)}" if self._purpose else self._working
        return f"{doing}: {now - self._since:.0f} s, {now - self._began:.0f} s in all"


_current: WaitingLine | None = None


@contextmanager
def waiting_line(working: str = _WITHOUT_PLAN) -> Iterator[None]:
    """Show the line while the command runs, unless standard error is no terminal.

    Unless ``working`` says otherwise, the environment works until the first plan runs.
    """
    global _current
    from codeplan.recording.activity import observe_activity
    from codeplan.untrusted.console import CleanConsole

    console = CleanConsole(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal or _current is not None:
        yield
        return
    line = _current = WaitingLine(console, working)
    try:
        with observe_activity(line.tell):
            yield
    finally:
        _current = None
        line.close()


@contextmanager
def without_line() -> Iterator[None]:
    """Print or ask inside this context: the line is gone meanwhile."""
    if _current is None:
        yield
        return
    with _current.hidden():
        yield


def above_line(show: Callable[[Event], Any]) -> Callable[[Event], None]:
    """The handler, with the line gone while it prints. The line learns from the events whether a plan runs."""
    from codeplan.recording.events import PlanStarted

    def on_event(event: Event) -> None:
        if _current is not None and isinstance(event, PlanStarted):
            _current.tell_plan()
        with without_line():
            show(event)

    return on_event
