"""Traces, tapes and benches from strangers, with every command that reads them."""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from confinement import Watch, judge_error
from mutation import as_json, mutate_bytes, mutate_tree

import codeplan
from codeplan.cli.app import main
from codeplan.errors import CodeplanError
from codeplan.recording.events import EpisodeStarted
from codeplan.recording.tape import Tape, _digest
from codeplan.testing.answers import taped_llm

Lines = list[Any]


@cache
def recorded() -> tuple[Lines, ...]:
    """The events of some real episodes, as plain data."""
    runs = [
        {"env": "household", "task": "clean/22", "mistakes": "forgotten_walk"},
        {"env": "household", "task": "heat/3", "method": "react"},
        {"env": "textcraft", "method": "adapt"},
        {"env": "household", "task": "examine/1", "method": "reflexion"},
    ]
    with tempfile.TemporaryDirectory() as folder:
        return tuple(_record(Path(folder) / str(number), dict(run)) for number, run in enumerate(runs))


def _record(folder: Path, settings: dict[str, Any]) -> Lines:
    codeplan.run(**settings, out=folder)
    return [msgspec.json.decode(line) for line in (folder / "trace.jsonl").read_bytes().splitlines()]


def make_events(pick: random.Random) -> Lines:
    """The events of an episode with a few changes, numbered in order most of the time."""
    events: Lines = list(pick.choice(recorded()))
    for _ in range(pick.choice([1, 1, 2, 4])):
        if not events:
            break
        at = pick.choice([0, len(events) - 1, pick.randrange(len(events))])
        match pick.randrange(6):
            case 0:
                del events[at : at + pick.choice([1, 5])]
            case 1:
                events.insert(at, pick.choice(pick.choice(recorded())))
            case 2:
                events = events[: at + 1]
            case _:
                events[at] = mutate_tree(pick, events[at], recorded())
    if pick.random() < 0.8:
        events = [{**event, "seq": seq} if isinstance(event, dict) else event for seq, event in enumerate(events)]
    return events


def make_trace(pick: random.Random) -> bytes:
    """A trace file."""
    data = b"".join(as_json(event) + b"\n" for event in make_events(pick))
    return mutate_bytes(pick, data) if pick.random() < 0.15 else data


_COMMANDS = (
    ("replay", "run"),
    ("replay", "run", "--json"),
    ("resume", "run", "-q"),
    ("resume", "run", "--json", "--max-actions", "30"),
    ("fork", "run", "--at", "5", "--out", "branch", "-q"),
    ("fork", "run", "--at", "9", "--answer", "```python\npass\n```", "--out", "branch", "--json"),
    ("new-test", "run", "-o", "tests"),
    ("report", "run", "-o", "page.html"),
)


def judge_trace(pick: random.Random, watch: Watch) -> None:
    """A stranger's run folder, opened with one of the commands that read traces."""
    with watch.example():
        path = watch.write("run/trace.jsonl", make_trace(pick))
        if pick.random() < 0.1:
            path.rename(path.with_name("other"))
            path.symlink_to(pick.choice([path.with_name("other"), watch.canary / "secret", path]))
        watch.run_command(*pick.choice(_COMMANDS))


def judge_tape(pick: random.Random, watch: Watch) -> None:
    """A tape, played by episodes and as answers to questions."""
    with watch.example():
        path = watch.write("tape.jsonl", make_tape(pick))
        header = msgspec.convert(pick.choice(recorded())[0], EpisodeStarted)
        with watch.watched():
            try:
                Tape(path).take_episode(header)
                taped_llm(path).complete([{"role": "user", "content": "where?"}], purpose="ask")
            except CodeplanError as error:
                judge_error(error)


def make_tape(pick: random.Random) -> bytes:
    """A tape of one to three episodes, with right digests most of the time."""
    lines = []
    for number in range(pick.choice([1, 1, 2, 3])):
        honest = pick.random() < 0.8
        for event in make_events(pick):
            packed = as_json(event)
            line = {"episode": number, "digest": _digest(number, packed) if honest else "0" * 16, "event": event}
            lines.append(as_json(line if pick.random() < 0.98 else mutate_tree(pick, line)))
    data = b"".join(line + b"\n" for line in lines)
    return mutate_bytes(pick, data) if pick.random() < 0.15 else data


@cache
def _bench_files() -> dict[str, bytes]:
    """The files of a small bench."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        main(["bench", "household", "--kind", "heat", "-n", "2", "--method", "react", "--out", f"{folder}/bench"])
        return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


_BENCH_COMMANDS = (
    ("report", "bench", "-o", "page.html"),
    ("compare", "bench", "--json"),
    ("compare", "bench", "bench"),
    ("bench", "household", "--kind", "heat", "-n", "2", "--method", "react", "--out", "bench", "-j", "1"),
)


def judge_bench(pick: random.Random, watch: Watch) -> None:
    """A stranger's bench: shown, compared, continued."""
    with watch.example():
        files = _bench_files()
        changed = pick.choice([name for name in files if name.count("/") == 1])
        for name, data in files.items():
            watch.write(name, _changed_lines(pick, data) if name == changed else data)
        watch.run_command(*pick.choice(_BENCH_COMMANDS))


def _changed_lines(pick: random.Random, data: bytes) -> bytes:
    if pick.random() < 0.15:
        return mutate_bytes(pick, data)
    lines = data.splitlines() if data.count(b"\n{") else [data]  # the grid is one value on many lines
    trees = [msgspec.json.decode(line) for line in lines]
    at = pick.randrange(len(trees))
    trees[at] = mutate_tree(pick, trees[at], trees)
    return b"".join(as_json(tree) + b"\n" for tree in trees)
