"""Small benches, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from codeplan.bench.bench_runner import BenchOutcome
from codeplan.bench.bench_spec import BenchSpec, ResolvedBench, resolve_bench
from codeplan.bench.store import BenchRecord

Play = Callable[..., BenchOutcome]


def plan(**asked: Any) -> ResolvedBench:
    """A small bench of the household: one task of each of two kinds, by default."""
    return resolve_bench(msgspec.convert({"suites": ["household"], "n": 1, "kind": "clean", **asked}, BenchSpec))


def bare(bench: BenchRecord) -> list[tuple[object, ...]]:
    """What must be the same however a bench came to its end: everything but seconds."""
    return [(e.cell, e.repeat, e.broken, msgspec.structs.replace(e.result, seconds=0.0)) for e in bench.outcomes]
