"""Traces for the tests of pages: as events, in files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    ChosenSkill,
    EnvironmentReset,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    ModelCalled,
    ModelCallFailed,
    PictureSaved,
    PlanDrafted,
    PlanEnded,
    PlanFixed,
    PlanRejected,
    PlanStarted,
    PlanWarned,
    SkillsChosen,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TextPrinted,
    TextsEmbedded,
    WarningIssued,
)
from codeplan.recording.trace import write_trace
from codeplan.sandbox import encode
from codeplan.types import (
    Answer,
    Call,
    Checkpoint,
    Completion,
    Diagnostic,
    Failed,
    Fix,
    NotSolved,
    Observation,
    Outcome,
    Result,
    Stopped,
    Success,
    Task,
)

_Outcome = TypeVar("_Outcome", bound=Outcome)

PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.look()
    if start_from <= 2:
        agent.take(seen)
"""
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
)
HOSTILE = (
    "</script><script>window.harmed=1</script><img src=x onerror='window.harmed=2'>"
    "<!--<script>\u202egnp.exe\u2066 \x1b[31mred\x1b[0m \u200bhidden \ud800 &lt; {policy} {title} {style} {script} {blocks} {overview}"
)


def started(task: str = "clean/1", **about: str) -> EpisodeStarted:
    return EpisodeStarted(
        task=Task(task, env="household", kind=about.get("kind", "clean"), goal=about.get("goal", "put it away")),
        env="household",
        method=about.get("method", "adaplanner"),
        model=about.get("model", "scripted"),
        codeplan_version="0",
    )


def ended(head: EpisodeStarted, success: bool = True, **counts: int) -> EpisodeEnded:
    return EpisodeEnded(
        result=Result(head.task, Success() if success else NotSolved("no success"), head.method, head.model, **counts)
    )


def acted(action: str = "look", text: str = "A desk.", success: bool = False) -> tuple[CallBegun, CallAnswered]:
    """One action and its observation; ``flat`` gives them their ``id``."""
    seen = Observation(text, success=success, done=success)
    return CallBegun(id=1, call=Call(action)), CallAnswered(id=1, answer=Answer(observation=seen), seconds=0.1)


def flat(*events: Event | tuple[CallBegun, CallAnswered]) -> list[Event]:
    """The events, with a tuple's in its place. The calls in tuples are numbered from 1."""
    found: list[Event] = []
    number = 0
    for event in events:
        if isinstance(event, tuple):
            number += 1
            found += [msgspec.structs.replace(e, id=number) for e in event]
        else:
            found.append(event)
    return found


def outcomes_of(events: Iterable[Event], kind: type[_Outcome]) -> list[_Outcome]:
    """The outcomes of this kind of the plans of a trace."""
    return [e.outcome for e in events if isinstance(e, PlanEnded) and isinstance(e.outcome, kind)]


def state(**variables: object) -> Checkpoint:
    return encode(variables, 1 << 18)


def write(folder: Path, *events: Event | tuple[CallBegun, CallAnswered]) -> Path:
    """A trace of these events, numbered, in a new folder; its path. Events without a time get one."""
    path = folder / "trace.jsonl"
    numbered = [msgspec.structs.replace(e, seq=n, at=e.at or 1_700_000_000.0 + n) for n, e in enumerate(flat(*events))]
    write_trace(path, numbered)
    return path


def hostile(folder: Path) -> Path:
    """A trace in which every text tries to break out of the page, and a picture out of the folder."""
    text = HOSTILE.replace("\ud800", "")  # JSON cannot say a lone surrogate here; ``visible`` has a test of its own
    head = EpisodeStarted(
        task=Task(text, env=text, kind=text, goal=text),
        env=text,
        method=text,
        model=text,
        codeplan_version=text,
        settings={text: text, "list": [text]},
        model_settings={text: text},
    )
    asked = ModelCalled(
        purpose="ask",
        messages=[{"role": "user", "content": text}],
        completion=Completion(text, finish_reason=text, model=text),
        seconds=1.0,
        prompt=text,
    )
    return write(
        folder,
        head,
        EnvironmentReset(observation=Observation(text)),
        SpanOpened(id=1, kind=text, name=text),
        asked,
        ModelCallFailed(purpose="plan", messages=[{"role": "user", "content": text}], error=text, seconds=0.1),
        PlanDrafted(number=1, origin="plan", source=text),
        PlanRejected(number=1, diagnostics=(Diagnostic(1, 1, text, text),)),
        PlanDrafted(number=2, origin="check", source=f"{text}\n{PLAN}"),
        PlanStarted(number=2, start_from=2, restored=(text,), dropped={text: text}),
        StepEntered(step=2, title=text, checkpoint=state(**{text: text, "deep": [{text: (text,)}]})),
        TextPrinted(text=text),
        acted(text, text),
        PictureSaved(file=f"../{text}.png"),
        PictureSaved(file="../../secret.png"),
        PlanEnded(outcome=Failed(step=2, line=1, error=text, message=text, checkpoint=state(a=text))),
        PlanEnded(outcome=Stopped(limit=text, value=1.0, allowed=1.0, step=2, line=1, message=text)),
        TextsEmbedded(model=text, texts=2, digest=text, seconds=0.1),
        SkillsChosen(purpose="plan", chosen=(ChosenSkill(text, 1, 1.0, text),)),
        PlanFixed(number=2, fixes=(Fix(text, 1, text, text),), source=f"{text}\n{PLAN}"),
        PlanWarned(number=2, warnings=(Diagnostic(1, 1, text, text),)),
        SpanClosed(id=1),
        WarningIssued(message=text),
        EpisodeEnded(result=Result(head.task, NotSolved(text), text, text)),
    )
