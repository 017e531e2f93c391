"""A small grid of trainings, for tests."""

from __future__ import annotations

from typing import Any

import msgspec

from codeplan.bench.bench_spec import BenchSpec, ResolvedBench, resolve_bench

GRID = """
suites = ["textcraft"]
methods = [{name = "autoplan", label = "learner"}]
models = ["scripted"]
kind = "depth2"
n = 1
[common]
weakness = "forgetful"
[learn]
batches = [1, 2]
trainings = 2
iterations = 2
"""
LEARN = {"batches": (1, 2), "trainings": 2, "iterations": 2}


def plan(learn: dict[str, Any] | None = None, **more: Any) -> ResolvedBench:
    spec = {
        "suites": ["textcraft"],
        "methods": [{"name": "autoplan", "label": "learner"}],
        "kind": "depth2",
        "n": 1,
        "common": {"weakness": "forgetful"},
        "learn": LEARN | (learn or {}),
    }
    return resolve_bench(msgspec.convert(spec | more, BenchSpec))
