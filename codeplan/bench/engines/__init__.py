"""Engines that run episodes: in threads, in processes, on Dask, on Ray. Each does its own scheduling and retries."""

from __future__ import annotations

from codeplan.bench.engines.engine import ENGINE_NAMES, MAX_RESTARTS, Engine, JobHandler, make_engine

__all__ = ["ENGINE_NAMES", "MAX_RESTARTS", "Engine", "JobHandler", "make_engine"]
