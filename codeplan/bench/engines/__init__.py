"""Where episodes run: in threads, in processes, on Dask, on Ray. Scheduling and retries are the engine's own."""

from __future__ import annotations

from codeplan.bench.engines.engine import LOSSES, NAMES, Engine, Work, make

__all__ = ["LOSSES", "NAMES", "Engine", "Work", "make"]
