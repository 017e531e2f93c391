"""A limit for the time of all tests together: those that have not begun when it is over do not run."""

from __future__ import annotations

import argparse
import math
import time
from typing import Final

import pytest

OUT_OF_TIME: Final = pytest.StashKey[bool]()
"""In a configuration's stash: the session ended because of its time."""


class TimeLimit:
    """Ends a session of pytest once its seconds are over, before the next manifest or test. A running test ends."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._session: pytest.Session | None = None
        self._finished = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep the session, which the other hooks end."""
        self._session = session

    def pytest_collectreport(self) -> None:
        """Called after each manifest and each folder."""
        self._check()

    def pytest_runtest_logfinish(self) -> None:
        """Called after each test."""
        self._finished += 1
        if self._session and self._finished != self._session.testscollected:
            self._check()

    def _check(self) -> None:
        if self._session and time.monotonic() > self._end:
            self._session.config.stash[OUT_OF_TIME] = True
            self._session.shouldstop = f"the time of --plan-max-seconds {self._seconds:g} is over; not all tests ran"


def parse_seconds(text: str) -> float:
    """The seconds that an option gives. Raises: argparse.ArgumentTypeError: it is not a finite number above zero."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError("give a number of seconds above 0")
    return seconds
