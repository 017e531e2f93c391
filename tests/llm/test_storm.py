"""A small storm: episodes at once against an endpoint that makes faults of all kinds. The large one is a benchmark."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "storm.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("storm", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_episodes_end_and_count_what_the_endpoint_counts(benchmark: ModuleType) -> None:
    done = benchmark.storm(12, latency=0.02, faults="all=0.25,seed=3,slow_by=0.2", mistakes="many")
    assert len(done.played) == 12
    assert done.counted == done.logged
    assert done.logged[0] > 10_000
    faults = {entry["fault"] for entry in done.log}
    assert len(faults) > 4, faults
    assert sum(p.result.success for p in done.played) >= 6
    lost = [p.error or p.result.reason for p in done.played if not p.result.success]
    assert all(any(cause in why for cause in ("cut off", "quota", "context is full")) for why in lost), lost
    assert done.chain <= done.wall
