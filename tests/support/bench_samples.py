"""Small benches, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from codeplan.bench.conduct import Conducted
from codeplan.bench.plan import Asked, Planned, planned
from codeplan.bench.store import Bench

Play = Callable[..., Conducted]


def plan(**asked: Any) -> Planned:
    """A small bench of the household: one task of each of two kinds, by default."""
    return planned(msgspec.convert({"suites": ["household"], "n": 1, "kind": "clean", **asked}, Asked))


def bare(bench: Bench) -> list[tuple[object, ...]]:
    """What must be the same however a bench came to its end: everything but seconds."""
    return [(e.cell, e.repeat, e.broken, msgspec.structs.replace(e.result, seconds=0.0)) for e in bench.ended]
