"""Fuzzes whatever reads foreign data: ``python tests/fuzz --seconds 600``. Exits with 1 and a reproducer on a finding."""

from __future__ import annotations

import argparse
import itertools
import logging
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1]))  # for tests/support

import analyses
import checkpoint_tables
import checks
import folders
import frame_streams
import plan_texts
import programs
import recordings
import replies
import reply_caches
import tool_data
from confinement import Watch

Trial = Callable[[int, Watch], object]
"""Makes the example of a number and judges what codeplan does with it. Raises if that is wrong."""


def _drawn(judge: Callable[[random.Random, Watch], object]) -> Trial:
    return lambda seed, watch: judge(random.Random(seed), watch)


TARGETS: Final[dict[str, Trial]] = {
    "frames": lambda seed, watch: frame_streams.play(seed),
    "analyses": lambda seed, watch: analyses.play(seed),
    "checks": lambda seed, watch: checks.play(seed),
    "check": lambda seed, watch: plan_texts.judge_check(plan_texts.make_plan(random.Random(seed))),
    "cage": lambda seed, watch: plan_texts.judge_run(plan_texts.make_plan(random.Random(seed))),
    "programs": lambda seed, watch: programs.judge_program(programs.make_program(random.Random(seed))),
    "hostile": lambda seed, watch: programs.judge_hostile(programs.make_hostile(random.Random(seed))),
    "checkpoints": lambda seed, watch: checkpoint_tables.judge_table(checkpoint_tables.make_table(random.Random(seed))),
    "traces": _drawn(recordings.judge_trace),
    "tapes": _drawn(recordings.judge_tape),
    "benches": _drawn(recordings.judge_bench),
    "manifests": _drawn(folders.judge_manifest),
    "specs": _drawn(folders.judge_spec),
    "settings": _drawn(folders.judge_settings),
    "skills": _drawn(folders.judge_skill),
    "texts": _drawn(replies.judge_text),
    "episodes": _drawn(replies.judge_episode),
    "bodies": _drawn(replies.judge_body),
    "caches": _drawn(reply_caches.judge_cache),
    "tools": _drawn(tool_data.judge_tool_trace),
    "calls": _drawn(tool_data.judge_call),
    "servers": _drawn(tool_data.judge_server),
}


def fuzz(name: str, watch: Watch, first: int, seconds: float, examples: int | None) -> bool:
    """Try the examples from number ``first`` on, for a time or a count. Returns whether nothing was found."""
    end = time.monotonic() + seconds
    for seed in itertools.count(first):
        if time.monotonic() > end if examples is None else seed >= first + examples:
            print(f"{name}: {seed - first:,} examples, nothing found", flush=True)
            return True
        try:
            TARGETS[name](seed, watch)
        except Exception:
            traceback.print_exc()
            print(f"{name}: found by: python tests/fuzz --target {name} --seed {seed} --examples 1", flush=True)
            return False
    raise AssertionError  # counting does not end


def main(arguments: list[str]) -> int:
    """Fuzz one target or all, one after the other."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--target", choices=[*TARGETS], help="only this one")
    parser.add_argument("--seconds", type=float, default=600.0, help="seconds for each target")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first example")
    parser.add_argument("--examples", type=int, help="so many examples for each target, however long it takes")
    chosen = parser.parse_args(arguments)
    logging.disable()
    watch = Watch()
    try:
        names = [chosen.target] if chosen.target else [*TARGETS]
        clean = [fuzz(name, watch, chosen.seed, chosen.seconds, chosen.examples) for name in names]
    finally:
        watch.close()
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
