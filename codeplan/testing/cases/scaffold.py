"""Writes a first test from a recorded episode: its plan, a manifest of what it did, and a tape of its answers."""

from __future__ import annotations

import json
import os
from pathlib import Path

from codeplan.errors import UsageError
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, ModelCalled, StepEntered
from codeplan.recording.tape import TapeRecorder
from codeplan.recording.trace import Trace
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.testing.cases.manifest import MANIFEST_SUFFIX
from codeplan.types import Result
from codeplan.untrusted import files

_MANIFEST = """\
# Written from a recorded episode. 'codeplan test' runs it.
plan = {plan}
env = {env}
faults = "none" # "all" also tests the plan under injected faults
{settings}{answers}
[expect]
success = {success}
{resumes}
[[tasks]]
id = {id}
expect = {{ {expect} }}

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


def new_test(run: Path, out: Path) -> list[Path]:
    """Write a plan, its manifest and, if it asked questions, a tape to ``out``; return their paths.

    ``run`` is an episode's folder. Raises: UsageError: the trace is unreadable or has no plan, a file exists already,
    or a file cannot be written. Existing files are never overwritten.
    """
    events = Trace.read(run / TRACE_NAME)
    header, result = _first_and_last(events, run)
    name = "".join(c if c.isalnum() else "_" for c in result.task.id)
    plan, manifest, tape = (out / f"{name}{ending}" for ending in (".py", MANIFEST_SUFFIX, ".tape.jsonl"))
    asked = any(isinstance(e, ModelCalled) and e.purpose == "ask" for e in events)
    for path in (plan, manifest, *([tape] if asked else [])):
        if os.path.lexists(path):
            raise UsageError(f"{path} exists already and is not overwritten; name another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        _write_new(plan, f"{(result.plan or '').rstrip()}\n")
        _write_new(manifest, _manifest(header, result, events, plan.name, tape.name if asked else None))
    except OSError as e:
        raise UsageError(f"the test cannot be written to {out}: {e.strerror}; name another folder") from None
    if not asked:
        return [plan, manifest]
    _record_tape(tape, events)
    return [plan, manifest, tape]


def _write_new(path: Path, text: str) -> None:
    with files.create_file(path) as file:
        files.write_all(file, text.encode())


def _first_and_last(events: list[Event], run: Path) -> tuple[EpisodeStarted, Result]:
    """Return the first event and the last event's result."""
    if not (events and isinstance(events[0], EpisodeStarted) and isinstance(events[-1], EpisodeEnded)):
        raise UsageError(f"the episode in {run} is incomplete; finish it first with: codeplan resume {run}")
    if events[-1].result.plan is None:
        raise UsageError(f"the episode in {run} wrote no plan (its method is {events[0].method})")
    return events[0], events[-1].result


def _manifest(header: EpisodeStarted, result: Result, events: list[Event], plan: str, tape: str | None) -> str:
    """Return the manifest's text. It limits actions and asks only if the plan succeeded without refinement."""
    straight = result.success and result.refinements == 0
    steps = list(dict.fromkeys(e.step for e in events if isinstance(e, StepEntered)))
    expect = f"steps = {steps}" + (f", actions = {result.actions}, asks = {result.asks}" if straight else "")
    settings = _settings(header)
    return _MANIFEST.format(
        plan=json.dumps(plan),
        env=json.dumps(header.env),
        settings=f"\n[settings]\n{settings}" if settings else "",
        answers=_ANSWERS.format(json.dumps(tape)) if tape else "",
        success=str(result.success).lower(),
        resumes='resumes = "all"\n' if straight else "",
        id=json.dumps(result.task.id),
        kind=json.dumps(result.task.kind),
        expect=expect,
    )


def _settings(header: EpisodeStarted) -> str:
    """Return the recorded settings of the environment as lines of TOML."""
    from codeplan import plugins

    accepted = plugins.setting_names(plugins.load_factory("codeplan.envs", header.env))
    kept = {n: v for n, v in header.settings.items() if n in accepted and isinstance(v, str | int | float | bool)}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in kept.items())


def _record_tape(path: Path, events: list[Event]) -> None:
    recorder = TapeRecorder(path)
    try:
        on_event = recorder.start_episode()
        for event in events:
            on_event(event)
    finally:
        recorder.close()
