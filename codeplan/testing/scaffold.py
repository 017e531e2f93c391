"""Writes a first test from a recorded episode: its plan, a manifest of its behaviour, and a tape of its answers."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.recording.events import EpisodeStarted, Event, ModelCalled, PlanStarted, StepEntered
from codeplan.recording.tape import TapeRecorder
from codeplan.recording.trace import Trace, find_end
from codeplan.runner.environment_files import require_recorded
from codeplan.runner.episodes import find_trace
from codeplan.runner.recorded_calls import is_accepted
from codeplan.testing.manifest import MANIFEST_SUFFIX, MAX_MANIFEST_FILE_BYTES, PLAN_SUFFIX
from codeplan.tools.environment import ToolEnvironment
from codeplan.types import Result
from codeplan.untrusted import files
from codeplan.untrusted.texts import one_line, shell_word
from codeplan.untrusted.toml import parse_toml

_MANIFEST = """\
# Written from a recorded episode. 'codeplan test' runs it.
{plan}
env = {env}
{calls}faults = {faults}
{settings}{answers}
[expect]
success = {success}
{resumes}
[[tasks]]
id = {id}
expect = {{ {expect} }}
{more}"""

_CALLS = """\
calls = {} # this tape answers in place of the tools: no tool is called
"""

_NO_FAULTS = '"none" # "all" also tests the plan under injected faults'

_MORE = """
# More tasks of the same kind, to try the plan on:
# [[tasks]]
# kind = {kind}
# seeds = "0-4"
"""

_ANSWERS = """
[answers]
tape = {}
# model = "scripted" # answers what the tape does not; a real model needs --live-llm
"""


def new_test(run: Path, out: Path, on_left_out: Callable[[list[str]], None] | None = None) -> list[Path]:
    """Write a plan, its manifest and, if it asked questions or called tools, a tape to ``out``; return their paths.

    ``run`` is an episode's folder, or the trace in it. A test of an episode with tools is named after the folder,
    other tests after their tasks.
    ``on_left_out`` gets the names of recorded settings that a manifest cannot set, if there are any.

    Raises: UsageError: the trace is unreadable, no plan of it ran, a file exists already, or a file cannot be written.
        Existing files are never overwritten.
    """
    path = find_trace(run)
    events, run = Trace.read(path), path.parent
    header, result = _first_and_last(events, run)
    calls = _has_own_tools(header)
    if calls and any(isinstance(e, PlanStarted) and e.checkpoint for e in events):
        raise UsageError(
            f"the plan in {run} went on with variables of an earlier run, and a test runs it from its first step; make "
            "the test from an episode that has all its calls"
        )
    name = _file_name(run.resolve().name if calls else result.task.id)
    plan, manifest, tape = (out / f"{name}{ending}" for ending in (PLAN_SUFFIX, MANIFEST_SUFFIX, ".tape.jsonl"))
    asked = any(isinstance(e, ModelCalled) and e.purpose == "ask" for e in events)
    written = [plan, manifest, *([tape] if asked or calls else [])]
    for path in written:
        if os.path.lexists(path):
            raise UsageError(f"{path} exists already and is not overwritten; name another folder")
    settings, left_out = ("", []) if calls else _settings(header)
    parts = {"answers": _ANSWERS.format(json.dumps(tape.name)) if asked else ""}
    parts["calls"] = _CALLS.format(json.dumps(tape.name)) if calls else ""
    parts["more"] = "" if calls else _MORE.format(kind=json.dumps(result.task.kind))
    parts |= {"plan": f"plan = {json.dumps(plan.name)}", "faults": _NO_FAULTS}
    text = _manifest(header, settings, result, events, parts)
    _check_toml(text, run)
    try:
        out.mkdir(parents=True, exist_ok=True)
        _write_new(plan, f"{(result.plan or '').rstrip()}\n")
        _write_new(manifest, text)
    except OSError as e:
        raise UsageError(f"the test cannot be written to {out}: {e.strerror}; name another folder") from None
    if tape in written:
        _record_tape(tape, events)
    if left_out and on_left_out:
        on_left_out(left_out)
    return written


SKILL_TEST = f"recorded{MANIFEST_SUFFIX}"
"""The manifest in the folder of a skill over tools: its plan must do again what its recorded success did."""

_SKILL_TAPE = "recorded.tape.jsonl"


def tests_own_plan(manifest: Path) -> bool:
    """Whether the manifest in a skill's folder, which a stranger may have written, wants its plan to succeed."""
    try:
        found = parse_toml(files.read_text(manifest, MAX_MANIFEST_FILE_BYTES, manifest.parent))
    except (OSError, UsageError, tomllib.TOMLDecodeError):
        return False
    expected = found.get("expect")
    return found.get("skill") == "." and isinstance(expected, dict) and expected.get("success") is True


def write_skill_test(skill: Path, run: Path) -> None:
    """Write the manifest and the tape of a skill's plan into its folder, in place of those of an earlier version.

    ``run`` is the folder of the episode that proved the plan, whose tools' answers are on the tape. The plan is also
    tested with each tool's error. Raises: UsageError: the trace cannot be used, or the files cannot be written.
    """
    path = find_trace(run)
    events = Trace.read(path)
    header, result = _first_and_last(events, path.parent)
    asked = any(isinstance(e, ModelCalled) and e.purpose == "ask" for e in events)
    parts = {
        "plan": 'skill = "."',
        "calls": _CALLS.format(json.dumps(_SKILL_TAPE)),
        "faults": '["tool-error"]',
        "answers": _ANSWERS.format(json.dumps(_SKILL_TAPE)) if asked else "",
        "more": "",
    }
    text = _manifest(header, "", result, events, parts)
    _check_toml(text, path.parent)
    try:
        for name in (SKILL_TEST, _SKILL_TAPE):
            (skill / name).unlink(missing_ok=True)
        _record_tape(skill / _SKILL_TAPE, events)
        _write_new(skill / SKILL_TEST, text)
    except OSError as e:
        raise UsageError(f"the skill's test cannot be written to {skill}: {e.strerror}") from None


def _file_name(name: str) -> str:
    """A file name made of a task's id or a folder's name. pytest takes files for tests whose names begin with test."""
    kept = "".join(c if c.isalnum() else "_" for c in name) or "task"
    return f"plan_{kept}" if kept.lower().startswith("test") else kept


def _check_toml(text: str, run: Path) -> None:
    try:
        parse_toml(text)
    except tomllib.TOMLDecodeError as e:
        raise UsageError(f"the trace in {run} has names that a manifest cannot hold: {one_line(str(e))}") from None


def _write_new(path: Path, text: str) -> None:
    with files.create_file(path) as file:
        files.write_all(file, text.encode())


def _first_and_last(events: Sequence[Event], run: Path) -> tuple[EpisodeStarted, Result]:
    """Return the first event and the last event's result."""
    end = find_end(events)
    if end is None or not isinstance(events[0], EpisodeStarted):
        raise UsageError(f"the episode in {run} is incomplete; finish it first with: codeplan resume {shell_word(run)}")
    if end.result.plan is None:
        raise UsageError(f"the episode in {run} wrote no plan (its method is {events[0].method})")
    if not any(isinstance(e, PlanStarted) for e in events):
        raise UsageError(f"no plan of the episode in {run} was ever run, so a test of it cannot pass; take another run")
    return events[0], end.result


def _has_own_tools(header: EpisodeStarted) -> bool:
    """Whether the episode called the user's own tools, and not an environment with another name in their place."""
    return bool(header.tools) and header.env == ToolEnvironment.name


def _manifest(
    header: EpisodeStarted, settings: str, result: Result, events: Sequence[Event], parts: Mapping[str, str]
) -> str:
    """Return the manifest's text. It limits actions and asks only if the plan succeeded without refinement."""
    success = is_accepted(result) if parts["calls"] else result.success
    straight = success and result.refinements == 0
    steps = list(dict.fromkeys(e.step for e in events if isinstance(e, StepEntered)))
    expect = f"steps = {steps}" + (f", actions = {result.actions}, asks = {result.asks}" if straight else "")
    return _MANIFEST.format(
        env=json.dumps(header.env),
        settings=f"\n[settings]\n{settings}" if settings else "",
        success=str(success).lower(),
        resumes='resumes = "all"\n' if straight else "",
        id=json.dumps(result.task.id),
        expect=expect,
        **parts,
    )


def _settings(header: EpisodeStarted) -> tuple[str, list[str]]:
    """Return the environment's recorded settings that a manifest can set, as lines of TOML, and the other names."""
    require_recorded(header.env)
    specs = {spec.name: spec for spec in plugins.setting_specs(plugins.load_factory("codeplan.envs", header.env))}
    recorded = {n: v for n, v in header.settings.items() if n in specs and v is not None}
    kept = {n: v for n, v in recorded.items() if specs[n].allows_foreign(v) and isinstance(v, str | int | float)}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in kept.items()), [
        n for n in recorded if n not in kept
    ]


def _record_tape(path: Path, events: Sequence[Event]) -> None:
    recorder = TapeRecorder(path)
    try:
        on_event = recorder.start_episode()
        for event in events:
            on_event(event)
    finally:
        recorder.close()
