"""What the tests of a bench share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.bench_samples import Play
from support.endpoint import serve

from codeplan.bench import engines
from codeplan.bench.bench_runner import BenchOutcome, run_bench
from codeplan.bench.bench_spec import ResolvedBench

__all__ = ["play", "serve"]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Runs a bench in the test's folder, in two threads by default."""

    def run(asked: ResolvedBench, engine: str = "threads", workers: int = 2, **settings: Any) -> BenchOutcome:
        settings = {"pause": 0.0, "folder": tmp_path / "out", **settings}
        return run_bench(asked, engines.make_engine(engine, workers), settings.pop("folder"), **settings)

    return run
