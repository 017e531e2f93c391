"""Many episodes: cells of environment, method and model over lists of tasks, on the engine of one's choice.

``plan``      what is to be played, from flags or a file       ``store``     the folder: what has ended
``conduct``   playing what is left, within a budget            ``engines``   threads, processes, Dask, Ray
``compare``   two cells, task by task                          ``papers``    what others have published
"""

from __future__ import annotations

from codeplan.bench.bench_runner import BenchBudget, BenchOutcome, run_bench
from codeplan.bench.store import BenchCell, BenchGrid, BenchRecord, EpisodeOutcome, read_bench
from codeplan.bench.summary import KindSummary, summarise_results

__all__ = [
    "BenchBudget",
    "BenchCell",
    "BenchGrid",
    "BenchOutcome",
    "BenchRecord",
    "EpisodeOutcome",
    "KindSummary",
    "read_bench",
    "run_bench",
    "summarise_results",
]
