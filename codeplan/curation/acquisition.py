"""Skill acquisition: makes a candidate from an episode's success (Sun et al., NeurIPS 2023, section 3.3).

The successful plan is completed, so that it runs from step 1, and generalised; then it must solve its own task again.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Sequence

import msgspec

from codeplan.curation.curation_runner import CurationRunner, EpisodeRecord
from codeplan.errors import SandboxError, UsageError
from codeplan.recording.events import (
    ActionTaken,
    EnvironmentReset,
    Event,
    PlanDrafted,
    PlanFailed,
    PlanFixed,
    PlanStarted,
    PlanStopped,
    StepEntered,
)
from codeplan.sandbox import Sandbox
from codeplan.skills.library import SkillLibrary
from codeplan.skills.manifest import require_valid_name
from codeplan.skills.parameter_binding import read_parameters
from codeplan.skills.skill import Skill, SkillOrigin
from codeplan.types import AgentApi, Plan, Rejected, Task, refuse_warnings

_MAX_OBSERVATION_CHARACTERS = 200_000
_MAX_MERGED_RUNS = 12
MAX_ORIGINS = 50
"""A skill keeps at most this many origins."""


class _PlanRun(msgspec.Struct):
    """One run of a plan: where it started, and the steps it entered; the last one may have failed."""

    source: str
    start: int
    entered: list[int]
    failed: bool = False

    @property
    def completed(self) -> list[int]:
        """The steps that ran to their end."""
        return self.entered[:-1] if self.failed else list(self.entered)


def acquire_skill(
    runner: CurationRunner, library: SkillLibrary, episode: EpisodeRecord, sandbox: Sandbox | None = None
) -> Skill | None:
    """Add the candidate that a successful episode yields to the library and return it; None if it yields none.

    If the library has a skill of the same shape, that one gets a further origin instead; a retired one stays retired.
    """
    task = episode.result.task
    if not episode.result.success:
        return None
    sandbox, api = sandbox or Sandbox(), runner.api()
    for source in _complete_plans(episode.events, sandbox):
        plan = _generalise(source, episode.events, task, sandbox, api)
        again = runner.run_plan(plan.source, task, "again") if plan else None
        if plan and again and again.result.success:
            skill = _build_skill(plan, task, episode, runner, sandbox)
            kept = _add_or_merge(library, skill, sandbox)
            runner.record_evidence(library, kept, again, "acquire")
            return kept
    return None


def _complete_plans(events: Sequence[Event], sandbox: Sandbox) -> Iterator[str]:
    """Plans that may do all that the episode did, from step 1: the last plan, or merges of all plans that ran.

    One merge replaces earlier steps by number from each resume point on; the other keeps every completed step, in
    order.
    """
    runs = _plan_runs(events)[-_MAX_MERGED_RUNS:]
    if not runs:
        return
    yield runs[-1].source
    if len(runs) > 1:
        last = runs[-1].start
        ends = [min(r.start for r in runs[i + 1 :]) for i in range(len(runs) - 1)]
        by_number = [[n for n in _step_numbers(r) if n < end] for r, end in zip(runs, ends, strict=False)]
        for taken in (by_number, [r.completed for r in runs[:-1]]):
            before = [{"source": r.source, "steps": steps} for r, steps in zip(runs, taken, strict=False) if steps]
            parts = {"before": before, "steps": list(range(last, last + 100))}
            merged = sandbox.analyse("merge", runs[-1].source, parts)
            if isinstance(merged, str):
                yield merged


def _step_numbers(run: _PlanRun) -> list[int]:
    """The plan's steps up to the last one that the run entered."""
    return list(range(run.start, max(run.entered, default=0) + 1))


def _plan_runs(events: Sequence[Event]) -> list[_PlanRun]:
    """The runs since the environment was last reset."""
    sources: dict[int, str] = {}
    runs: list[_PlanRun] = []
    for event in events:
        match event:
            case EnvironmentReset():
                runs = []
            case PlanDrafted(number=number, source=source) | PlanFixed(number=number, source=source):
                sources[number] = source
            case PlanStarted(number=number, start_from=start):
                runs.append(_PlanRun(sources[number], start, []))
            case StepEntered(step=step) if runs:
                runs[-1].entered.append(step)
            case PlanFailed() | PlanStopped(limit="wall" | "cpu" | "turns" | "memory") if runs:
                runs[-1].failed = True
    return runs


def _generalise(source: str, events: Sequence[Event], task: Task, sandbox: Sandbox, api: AgentApi) -> Plan | None:
    """The plan with parameters in place of this episode's values; None if that fails."""
    if isinstance(sandbox.check(source, api), Rejected):
        return None
    first = next(e.observation.text for e in events if isinstance(e, EnvironmentReset))
    later = "\n".join(e.observation.text for e in events if isinstance(e, ActionTaken))[:_MAX_OBSERVATION_CHARACTERS]
    goal = task.goal or first
    try:
        found = sandbox.analyse("generalise", source, {"goal": goal, "first": first, "later": later})
    except SandboxError:
        return None
    if isinstance(found, Rejected):
        return None
    checked = refuse_warnings(sandbox.check(found["source"], api))
    return checked if isinstance(checked, Plan) else None


def _build_skill(plan: Plan, task: Task, ran: EpisodeRecord, runner: CurationRunner, sandbox: Sandbox) -> Skill:
    shape = sandbox.analyse("shape", plan.source)
    kind = re.sub(r"[^a-z0-9_-]", "-", task.kind.lower()) or "skill"
    return Skill(
        name=require_valid_name(f"{kind[:40]}-{str(shape)[:8]}".lstrip("-_")),
        env=runner.env,
        plan=plan.source,
        kind=task.kind,
        description=_description(plan),
        parameters=tuple(p.name for p in read_parameters(plan.source).parameters),
        origins=(SkillOrigin(task.id, task.goal, runner.model, ran.run),),
    )


def _description(plan: Plan) -> str:
    """The plan in one line: its own comment, or the titles of its steps."""
    own = re.search(r"^ *# *General plan: *(.+)$", plan.source, re.MULTILINE)
    return (own[1] if own else "; ".join(s.title for s in plan.steps if s.title))[:500]


def _add_or_merge(library: SkillLibrary, skill: Skill, sandbox: Sandbox) -> Skill:
    """Add the skill, or its origin to the library's skill of the same shape.

    If a skill of another kind or shape, or a damaged one, has the name, the new one gets another name.
    """
    named = skill
    for number in itertools.count(2):
        try:
            return library.add(named)
        except UsageError:
            if not (library.path / named.env / named.name).exists():
                raise
        if there := _same_shape(library, named, sandbox):
            origins = tuple(dict.fromkeys([*there.origins, *skill.origins]))[:MAX_ORIGINS]
            return library.change(there, origins=origins) if origins != there.origins else there
        named = msgspec.structs.replace(skill, name=f"{skill.name}-{number}")
    raise AssertionError("counting has no end")


def _same_shape(library: SkillLibrary, skill: Skill, sandbox: Sandbox) -> Skill | None:
    """The library's skill of this name; None if its kind or shape differs, or if it cannot be read."""
    with contextlib.suppress(UsageError):
        there = library.get(skill.env, skill.name)
        if there.kind == skill.kind and sandbox.analyse("shape", there.plan) == sandbox.analyse("shape", skill.plan):
            return there
    return None
