"""Where episodes run: in threads, in processes, on Dask, on Ray. Scheduling and retries are the engine's own."""

from __future__ import annotations

from codeplan.bench.engines.engine import ENGINE_NAMES, MAX_RESTARTS, Engine, JobHandler, make_engine

__all__ = ["ENGINE_NAMES", "MAX_RESTARTS", "Engine", "JobHandler", "make_engine"]
