"""One browser for all environments of this process: started when the first needs it, ended soon after the last."""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path

from codeplan.envs.miniwob.browser_process import BrowserProcess
from codeplan.envs.miniwob.page import BrowserPage

MAX_IDLE_SECONDS = 5.0
"""Seconds that a browser without pages waits for the next one before it ends."""

_lock = threading.Lock()
_shared: dict[Path, SharedBrowser] = {}


class SharedBrowser:
    """A browser, shared: ``page`` gives a page of it, ``give_back`` takes it again. Any thread may use it."""

    def __init__(self, program: Path) -> None:
        self.process = BrowserProcess(program)
        self._program = program
        self._users = 0
        self._end: threading.Timer | None = None

    @classmethod
    def open_page(cls, program: Path, folder: Path) -> tuple[SharedBrowser, BrowserPage]:
        """A new page, which may load the files of ``folder``; the browser is started where none runs.

        Raises EnvironmentFailure where the browser does not start.
        """
        browser = cls._borrow(program)
        try:
            return browser, BrowserPage(browser.process.connection, folder)
        except BaseException:
            browser._release()
            raise

    def return_page(self, page: BrowserPage) -> None:
        """Close a page that this browser gave, once."""
        page.close()
        self._release()

    @classmethod
    def _borrow(cls, program: Path) -> SharedBrowser:
        with _lock:
            browser = _shared.get(program)
            if browser is None or not browser.process.is_alive:
                browser = _shared[program] = cls(program)
            if browser._end is not None:
                browser._end.cancel()
                browser._end = None
            browser._users += 1
            return browser

    def _release(self) -> None:
        with _lock:
            self._users -= 1
            if self._users:
                return
            if self.process.is_alive:
                self._end = threading.Timer(MAX_IDLE_SECONDS, self._close_if_idle)
                self._end.daemon = True
                self._end.start()
            else:
                self._close()

    def _close_if_idle(self) -> None:
        with _lock:
            if not self._users:
                self._close()

    def _close(self) -> None:
        if _shared.get(self._program) is self:
            del _shared[self._program]
        self.process.close()


def close_all_browsers() -> None:
    """End all browsers now, whoever uses them."""
    with _lock:
        for browser in list(_shared.values()):
            if browser._end is not None:
                browser._end.cancel()
            browser._close()


def _forget() -> None:
    """In a forked process: those browsers are its parent's."""
    global _lock
    _lock = threading.Lock()
    for browser in _shared.values():
        browser.process.detach()
    _shared.clear()


atexit.register(close_all_browsers)
os.register_at_fork(after_in_child=_forget)
