"""One browser for all environments of a process: the first page starts it, and it exits soon after the last one."""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path

from codeplan.envs.miniwob.browser_process import BrowserProcess
from codeplan.envs.miniwob.devtools import CALL_TIMEOUT
from codeplan.envs.miniwob.page import BrowserPage

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
