"""Where episodes run: in threads, in processes, on Dask, on Ray. Scheduling and retries are the engine's own."""

from __future__ import annotations

from codeplan.bench.engines.engine import MAX_RESTARTS, ENGINE_NAMES, Engine, JobHandler, make_engine

__all__ = ["MAX_RESTARTS", "ENGINE_NAMES", "Engine", "JobHandler", "make_engine"]
