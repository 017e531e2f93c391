"""Fixtures for the tests of pages: a real bench and a real browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.chromium import Chromium

from codeplan.cli.app import main
from codeplan.envs.miniwob.browser import find_browser as found_browser
from codeplan.errors import UsageError

REQUIRED = os.environ.get("CODEPLAN_BROWSER_REQUIRED") == "1"

GRID = """
suites = ["household"]
n = 2
methods = ["adaplanner", {name = "adaplanner", label = "first plan only", tries = 1}]
[common]
mistakes = "many"
"""


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bench of two columns, one that solves everything and one that solves little."""
    place = tmp_path_factory.mktemp("page")
    (place / "grid.toml").write_text(GRID)
    assert main(["bench", str(place / "grid.toml"), "--out", str(place / "bench")]) == 0
    return place / "bench"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """A browser; without one, the tests that need it are skipped, or fail where CODEPLAN_BROWSER_REQUIRED is 1."""
    try:
        found_browser()
    except UsageError as e:
        if REQUIRED:
            raise
        pytest.skip(str(e))
    with Chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, of the package axe-core-python or of the file that AXE names."""
    if named := os.environ.get("AXE"):
        return Path(named).read_text("utf-8")
    try:
        import axe_core_python
    except ImportError:
        if REQUIRED:
            raise
        pytest.skip("axe-core is missing: pip install axe-core-python, or set AXE to the path of axe.min.js")
    return Path(axe_core_python.__file__ or "").with_name("axe.min.js").read_text("utf-8")
