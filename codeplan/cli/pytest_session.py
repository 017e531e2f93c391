"""Watches the session of pytest that ``codeplan test`` starts: its paths, and what interrupts it."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from typing import Any

import pytest

from codeplan.errors import UsageError
from codeplan.testing.manifest import MANIFEST_SUFFIX
from codeplan.testing.only_plans import SKIPPED, SKIPPED_OUTPUT
from codeplan.testing.plugin import OUT_OF_TIME
from codeplan.untrusted.values import in_quotes


class SessionWatch:
    """A plugin for one session. ``interrupted`` says that the user pressed Ctrl-C, ``deselected`` how many tests
    options such as -k left out, ``skipped`` what is named as a manifest and is none.

    ``exit_code`` is that of a session which pytest itself broke off: 3 if its time was over, 2 for all else, such as
    manifests that cannot be read.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self.exit_code = 2
        self.deselected = 0
        self.skipped: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Refuse paths before pytest starts. Raises: UsageError: one does not exist, or is a file but no manifest."""
        if config.getoption("pyargs"):
            return
        for given in config.args:
            path = given.partition("::")[0]
            place, what = config.invocation_params.dir / path, in_quotes(path, 400)
            if not os.path.lexists(place):
                raise UsageError(f"there is no file or folder {what}; name manifests (*.plan.toml), or their folder")
            if not os.path.isdir(place) and not path.endswith(MANIFEST_SUFFIX):
                raise UsageError(f"{what} is no manifest (*.plan.toml); to run tests in Python, use pytest itself")

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the tests that options leave out."""
        self.deselected += len(items)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        """End the session without a test if the user interrupts the collection."""
        try:
            return (yield)
        except KeyboardInterrupt as interrupt:
            self._take(interrupt)
            session.items = []
            return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """End the session as if it had no more tests if the user interrupts one; pytest reports those that ended."""
        try:
            return (yield)
        except KeyboardInterrupt as interrupt:
            self._take(interrupt)
            return True

    def _take(self, interrupt: KeyboardInterrupt) -> None:
        if isinstance(interrupt, pytest.Session.Interrupted):  # by pytest itself
            raise interrupt
        self.interrupted = True

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep that the user pressed Ctrl-C while the session began or ended."""
        self.interrupted = self.interrupted or not isinstance(excinfo.value, pytest.Session.Interrupted)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep whether the time was over, and what was skipped."""
        found: set[str] = session.config.stash.get(SKIPPED, set())
        self.skipped |= found
        if session.config.stash.get(OUT_OF_TIME, False):
            self.exit_code = 3

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Keep what a worker of pytest-xdist skipped."""
        self.skipped.update(getattr(node, "workeroutput", {}).get(SKIPPED_OUTPUT, ()))
