"""Fuzzes the sandbox: ``python tests/fuzz --frames 100000 --seconds 600``. Exits with 1 and a traceback on a finding."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import analyses
import checkpoint_tables
import frame_streams
import plan_texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

_BATCH = 200


def repeat(seconds: float, strategy: st.SearchStrategy[Any], judge: Callable[[Any], None]) -> int:
    """Try examples for this many seconds; return their number."""
    tried = 0

    @settings(max_examples=_BATCH, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def batch(example: Any) -> None:
        nonlocal tried
        tried += 1
        judge(example)

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        batch()
    return tried


def main(arguments: list[str]) -> None:
    """Fuzz frames and replies to analyses by number, then check, cage and codec for a third of the time each."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000, help="frames for the host's side of a run")
    parser.add_argument("--seconds", type=float, default=600.0, help="seconds for the check, the cage and the codec")
    parser.add_argument("--seed", type=int, default=0, help="where the streams of frames begin")
    chosen = parser.parse_args(arguments)
    runs = frame_streams.fuzz_frames(chosen.frames, chosen.seed)
    print(f"frames: {chosen.frames:,} in {runs:,} runs, none misled the host", flush=True)
    analyses.fuzz_analyses(chosen.frames // 20, chosen.seed)
    print(f"analyses: {chosen.frames // 20:,} replies, none misled the host", flush=True)
    third = chosen.seconds / 3
    for name, strategy, judge in (
        ("check", plan_texts.PLANS, plan_texts.judge_check),
        ("cage", plan_texts.PLANS, plan_texts.judge_run),
        ("codec", checkpoint_tables.TABLES, checkpoint_tables.judge_table),
    ):
        print(f"{name}: {repeat(third, strategy, judge):,} examples in {third:.0f} s, nothing found", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
