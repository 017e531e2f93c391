"""Errors about foreign files quote what was wrong, but stay one clean sentence however the value looks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplan.bench.bench_spec import read_spec
from codeplan.bench.store import read_bench
from codeplan.errors import UsageError
from codeplan.recording.tape import _digest, read_tape
from codeplan.recording.trace import Trace
from codeplan.runner.settings_files import read_settings_file
from codeplan.skills.skill_folder import DamagedSkill, parse_manifest, yaml_text
from codeplan.testing.manifest import read_manifest

HOSTILE = {
    "long": "a" * 100_000,
    "lines": "first\nsecond\r\nthird",
    "escape": "\x1b[2J\x1b]0;title\x07",
    "bidirectional": "\u202egnp.exe\u2066",
}


def _trace(folder: Path, value: str) -> object:
    (folder / "trace.jsonl").write_text(json.dumps({"event": value}) + "\n")
    return Trace.read(folder / "trace.jsonl")


def _tape(folder: Path, value: str) -> object:
    event = json.dumps({"event": value}).encode()
    line = {"episode": 0, "digest": _digest(0, event), "event": {"event": value}}
    (folder / "tape.jsonl").write_text(json.dumps(line) + "\n")
    return read_tape(folder / "tape.jsonl")


def _manifest(folder: Path, value: str) -> object:
    text = f'env = "household"\nplan = "a.py"\n{json.dumps(value)} = 1\n'
    return read_manifest(folder / "a.plan.toml", text)


def _expectation(folder: Path, value: str) -> object:
    text = f'env = "household"\nplan = "a.py"\ntasks = [{{id = "x"}}]\ncaught = {json.dumps(value)}\n'
    return read_manifest(folder / "a.plan.toml", text)


def _spec(folder: Path, value: str) -> object:
    (folder / "spec.toml").write_text(f"suites = [{json.dumps(value)}]\nn = {json.dumps(value)}\n")
    return read_spec(folder / "spec.toml")


def _skill(folder: Path, value: str) -> object:
    own = f"  codeplan-status: {yaml_text(value)}\n  {yaml_text(f'codeplan-{value}')}: 1\n"
    return parse_manifest(f"---\nname: a\nmetadata:\n{own}---\n")


def _grid(folder: Path, value: str) -> object:
    (folder / "bench.json").write_text(json.dumps({"cells": [{"name": value, value: value}]}))
    return read_bench(folder)


def _cell(folder: Path, value: str) -> object:
    cell = {"name": value, "suite": "s", "env": "e", "method": "m", "model": "m"}
    (folder / "bench.json").write_text(json.dumps({"cells": [cell], "tasks": {}}))
    return read_bench(folder)


def _results(folder: Path, value: str) -> object:
    (folder / "bench.json").write_text(json.dumps({"cells": [], "tasks": {}}))
    (folder / "results.jsonl").write_text(json.dumps({"cell": value, "result": {"ending": {"type": value}}}) + "\n")
    return read_bench(folder)


def _settings(folder: Path, value: str) -> object:
    (folder / "codeplan.toml").write_text(f"{json.dumps(value)} = 1\n")
    return read_settings_file(folder)


def _setting(folder: Path, value: str) -> object:
    (folder / "codeplan.toml").write_text(f"temperature = {json.dumps(value)}\n")
    return read_settings_file(folder)


READERS = [_trace, _tape, _manifest, _expectation, _spec, _skill, _grid, _cell, _results, _settings, _setting]


@pytest.mark.parametrize("value", HOSTILE.values(), ids=list(HOSTILE))
@pytest.mark.parametrize("read", READERS, ids=lambda reader: reader.__name__.strip("_"))
def test_an_error_about_a_foreign_file_is_one_clean_sentence(
    read: Callable[[Path, str], object], value: str, tmp_path: Path
) -> None:
    with pytest.raises((UsageError, DamagedSkill)) as raised:
        read(tmp_path, value)
    told = str(raised.value)
    assert len(told.replace(str(tmp_path), "")) < 900
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told)
