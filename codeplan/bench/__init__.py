"""Benches: episodes of many tasks by cells of environment, method and model, on an engine of choice.

``bench_spec``       cells and tasks, from flags or a file         ``store``    the folder with the outcomes
``bench_runner``     runs the remaining episodes within a budget   ``engines``  threads, processes, Dask, Ray
``cell_comparison``  compares two cells task by task               ``papers``   published results
``figures``          rows for tables and data frames      ``training_examples``  chats, and pairs of plans
``trainings``        plans that are learnt first
"""

from __future__ import annotations

from codeplan.bench.bench_runner import BenchOutcome, abench, run, run_bench
from codeplan.bench.figures import frame
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.metrics import KindSummary, summarise_results
from codeplan.bench.store import BenchRecord, EpisodeOutcome, read_bench
from codeplan.budget import TotalBudget

__all__ = [
    "BenchCell",
    "BenchGrid",
    "BenchOutcome",
    "BenchRecord",
    "EpisodeOutcome",
    "KindSummary",
    "TotalBudget",
    "abench",
    "frame",
    "read_bench",
    "run",
    "run_bench",
    "summarise_results",
]
