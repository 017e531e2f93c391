"""Skill acquisition: a candidate from an episode's success (Sun et al., NeurIPS 2023, section 3.3).

The plan that won is made whole, so that it runs from step 1, and general; and it must then win its own task again.
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
    PlanStarted,
    PlanStopped,
    StepEntered,
)
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.skills.binding import read_parameters
from codeplan.skills.library import SkillLibrary
from codeplan.skills.manifest import require_valid_name
from codeplan.skills.skill import EvidenceRecord, Skill, SkillOrigin
from codeplan.types.agent import AgentApi
from codeplan.types.plan import Plan, Rejected
from codeplan.types.task import Task

_MAX_OBSERVATION_CHARACTERS = 200_000
_MAX_MERGED_RUNS = 12
MAX_ORIGINS = 50
"""So many of the episodes that a skill came from are kept."""


class _PlanRun(msgspec.Struct):
    """One run of a plan in an episode: where it started, and which steps it entered; the last may have failed."""

    source: str
    start: int
    entered: list[int]
    failed: bool = False

    @property
    def completed(self) -> list[int]:
        """The steps that it did to their ends."""
        return self.entered[:-1] if self.failed else list(self.entered)


def acquire_skill(
    runner: CurationRunner, library: SkillLibrary, episode: EpisodeRecord, sandbox: Sandbox | None = None
) -> Skill | None:
    """The candidate that a successful episode yields; it is in the library then. None where it yields none.

    A plan of the same shape as one that is there adds its origin to that. A retired one stays retired.
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
            trial = EvidenceRecord(task.id, task.seed, runner.model, True, True, kept.version, "acquire", again.run)
            library.record(kept, trial)
            return kept
    return None


# ------------------------------------------------------------------ whole


def _complete_plans(events: Sequence[Event], sandbox: Sandbox) -> Iterator[str]:
    """Plans that may do all that the episode did from step 1 on: the last, or what ran of all.

    Merged by number, a plan's steps take the place of earlier ones from where it was resumed; merged in time, every
    step counts that was done.
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
            merged = sandbox.analyse(
                "merge", runs[-1].source, {"before": before, "steps": list(range(last, last + 100))}
            )
            if isinstance(merged, str):
                yield merged


def _step_numbers(run: _PlanRun) -> list[int]:
    """The steps of a run's plan up to the last that it did."""
    return list(range(run.start, max(run.entered, default=0) + 1))


def _plan_runs(events: Sequence[Event]) -> list[_PlanRun]:
    """The runs since the world was last begun."""
    sources: dict[int, str] = {}
    runs: list[_PlanRun] = []
    for event in events:
        match event:
            case EnvironmentReset():
                runs = []
            case PlanDrafted(number=number, source=source):
                sources[number] = source
            case PlanStarted(number=number, start_from=start):
                runs.append(_PlanRun(sources[number], start, []))
            case StepEntered(step=step) if runs:
                runs[-1].entered.append(step)
            case PlanFailed() | PlanStopped(limit="wall" | "cpu" | "turns" | "memory") if runs:
                runs[-1].failed = True
    return runs


# ------------------------------------------------------------------ general


def _generalise(source: str, events: Sequence[Event], task: Task, sandbox: Sandbox, api: AgentApi) -> Plan | None:
    """The plan with parameters in place of what belongs to this episode; None where it cannot be had."""
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
    checked = sandbox.check(found["source"], api)
    return checked if isinstance(checked, Plan) else None


def _build_skill(plan: Plan, task: Task, ran: EpisodeRecord, lab: CurationRunner, sandbox: Sandbox) -> Skill:
    shape = sandbox.analyse("shape", plan.source)
    kind = re.sub(r"[^a-z0-9_-]", "-", task.kind.lower()) or "skill"
    return Skill(
        name=require_valid_name(f"{kind[:40]}-{str(shape)[:8]}".lstrip("-_")),
        env=lab.env,
        plan=plan.source,
        kind=task.kind,
        description=_description(plan),
        parameters=tuple(p.name for p in read_parameters(plan.source).parameters),
        origins=(SkillOrigin(task.id, task.goal, lab.model, ran.run),),
    )


def _description(plan: Plan) -> str:
    """The plan in a line: its own, in a comment, or else the titles of its steps."""
    own = re.search(r"^ *# *General plan: *(.+)$", plan.source, re.MULTILINE)
    return (own[1] if own else "; ".join(s.title for s in plan.steps if s.title))[:500]


def _add_or_merge(library: SkillLibrary, skill: Skill, sandbox: Sandbox) -> Skill:
    """The skill in the library: the one of its shape that was there, with one more origin, or this one, new.

    A name whose skill is of another kind or shape by now, or damaged, is left to that.
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
    """The skill of this name in the library; None where it is of another kind or shape, or cannot be read."""
    with contextlib.suppress(UsageError):
        there = library.get(skill.env, skill.name)
        if there.kind == skill.kind and sandbox.analyse("shape", there.plan) == sandbox.analyse("shape", skill.plan):
            return there
    return None
