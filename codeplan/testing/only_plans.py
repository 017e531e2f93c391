"""A pytest plugin for ``codeplan test``: it collects manifests, and runs no Python code of the tests' folder.

``ARGUMENTS`` keep pytest from reading the folder's configuration and its conftest files. A manifest that the user names
is collected even if it is a link; another file is not collected even if the user names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from codeplan.errors import UsageError
from codeplan.testing.manifest import MANIFEST_SUFFIX
from codeplan.testing.plugin import OUT_OF_TIME
from codeplan.untrusted.files import describe_mode
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes

ARGUMENTS = ("-p", __name__, "-c", os.devnull, "--rootdir=.", "--noconftest")
"""Arguments for pytest; later ones override them."""


_CONFIGURATION = re.compile(r"(^|, )configfile: [^,]*")


@pytest.hookimpl(wrapper=True)
def pytest_report_header(config: pytest.Config) -> Generator[None, list[str | list[str]], list[str | list[str]]]:
    """Leave the configuration file out of the header if it is the empty one of ARGUMENTS."""
    parts = yield
    if str(config.inipath) != os.devnull:
        return parts
    lines = ([part] if isinstance(part, str) else part for part in parts)
    return [[shown for line in part if (shown := _CONFIGURATION.sub("", line))] for part in lines]


MAX_DEPTH = 50
"""Deeper folders are left out: pytest descends by recursion."""


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out links, files that are no manifests, and what is nested too deeply."""
    if collection_path.is_symlink():
        return True
    if collection_path.is_dir():
        return _is_too_deep(collection_path, config) or None
    return None if collection_path.name.endswith(MANIFEST_SUFFIX) else True


def _is_too_deep(folder: Path, config: pytest.Config) -> bool:
    return len(folder.parts) - len(config.invocation_params.dir.parts) > MAX_DEPTH


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Leave out named files that are no manifests, too: pytest would run a plan, or the examples in a text."""
    found = yield
    return found if file_path.name.endswith(MANIFEST_SUFFIX) else []


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector:
    """Collect a folder as a plain one: pytest would import the ``__init__.py`` of a package."""
    return pytest.Dir.from_parent(parent, path=path)


SKIPPED = pytest.StashKey[set[str]]()
"""Lines about what pytest leaves out of a folder: the path and the reason."""

SKIPPED_OUTPUT = "codeplan_skipped"
"""The key of these lines in what a worker of pytest-xdist sends to the session that the user started."""


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Keep what pytest leaves out of a folder, unless the user named only other files in it."""
    if not isinstance(collector, pytest.Dir):
        return
    if any(collector.session.isinitpath(path) for path in (collector.path, *collector.path.parents)):
        collector.config.stash.setdefault(SKIPPED, set()).update(_skipped(collector))


def _skipped(folder: pytest.Dir) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder.path) as entries:
        for entry in entries:
            if problem := _find_problem(entry, folder.config):
                yield f"{one_line(os.path.relpath(entry.path, folder.config.rootpath))}: {problem}"


def _find_problem(entry: os.DirEntry[str], config: pytest.Config) -> str | None:
    """Why pytest leaves out an entry that is named as a manifest, or that may hold manifests."""
    if entry.name.endswith(MANIFEST_SUFFIX):
        wrong = not entry.is_file(follow_symlinks=False)
    else:
        wrong = entry.is_symlink() and entry.is_dir()
    if wrong:
        return describe_mode(entry.stat(follow_symlinks=False).st_mode)
    if entry.is_dir(follow_symlinks=False) and _is_too_deep(Path(entry.path), config):
        return f"it is more than {MAX_DEPTH} folders deep"
    return None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the lines about what was left out to the session that the user started."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output[SKIPPED_OUTPUT] = sorted(session.config.stash.get(SKIPPED, ()))


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
