"""Loads lazy modules before pytester runs: it drops modules that are imported meanwhile."""

from __future__ import annotations

import pytest
from support.plan_suites import MANIFEST, verdicts, write

from codeplan.testing import collection, coverage, fixtures, mutation

LOADED = (collection, coverage, fixtures, mutation)


@pytest.fixture(scope="session", autouse=True)
def everything_is_loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Run a plan that asks a question and fails."""
    text = MANIFEST.replace("418", "1835") + "names = { lettuce = 'cup' }\nexpect = { asks = 0 }\n"
    assert verdicts(write(tmp_path_factory.mktemp("first"), text))["clean/1835"].complaints
