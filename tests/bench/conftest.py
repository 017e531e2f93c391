"""What the tests of a bench share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.bench_samples import Play

from codeplan.bench import engines
from codeplan.bench.bench_runner import BenchOutcome, run_bench
from codeplan.bench.spec import ResolvedBench


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Plays a bench in a folder of the test's, in two threads unless told otherwise."""

    def played(asked: ResolvedBench, engine: str = "threads", workers: int = 2, **settings: Any) -> BenchOutcome:
        settings = {"pause": 0.0, "folder": tmp_path / "out", **settings}
        return run_bench(asked, engines.make_engine(engine, workers), settings.pop("folder"), **settings)

    return played
