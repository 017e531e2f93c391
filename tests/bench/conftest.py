"""What the tests of a bench share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.bench_samples import Play

from codeplan.bench import conduct, engines
from codeplan.bench.conduct import Conducted
from codeplan.bench.plan import Planned


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Plays a bench in a folder of the test's, in two threads unless told otherwise."""

    def played(asked: Planned, engine: str = "threads", workers: int = 2, **settings: Any) -> Conducted:
        settings = {"pause": 0.0, "folder": tmp_path / "out", **settings}
        return conduct(asked, engines.make(engine, workers), settings.pop("folder"), **settings)

    return played
