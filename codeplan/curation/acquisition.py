"""Skill acquisition: makes a candidate from an episode's success (Sun et al., NeurIPS 2023, section 3.3).

codeplan completes the successful plan, so that it runs from step 1, and generalises it. The plan must then solve its
own task again.

An episode with the user's own tools is proven on its recorded answers: no tool is called for a trial.

The trace in an episode's folder may come from a stranger. It says which plans ran and what was observed. Nothing else
in it is trusted: the task must be the environment's own, and the generalised plan must solve it here.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.curation.curation_runner import PLAN_SETTINGS, CurationRunner, EpisodeRecord
from codeplan.curation.goal_wording import (
    UNPLACED,
    ask_wording,
    day_of,
    find_said,
    identity,
    names_in_reply,
    open_constants,
    read_said,
    restate_forms,
    with_forms,
    without_overlaps,
)
from codeplan.errors import ModelError, SandboxError, UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.plain_data import NotPlainData, unpack
from codeplan.protocols import LLM
from codeplan.recording.event_log import standing_events
from codeplan.recording.events import (
    EnvironmentReset,
    EpisodeStarted,
    Event,
    PlanDrafted,
    PlanEnded,
    PlanFixed,
    PlanStarted,
    SkillsChosen,
    StepEntered,
    answered_calls,
)
from codeplan.recording.trace import Trace, find_end
from codeplan.runner.episodes import find_trace
from codeplan.runner.recorded_calls import RecordedCalls, is_accepted
from codeplan.runner.recorded_episodes import choose_settings, main_model_name
from codeplan.runner.setup import accepted_settings
from codeplan.sandbox import Sandbox
from codeplan.sandbox.protocol.limits import MAX_STEPS
from codeplan.skills.answer_shapes import merge_answers, shapes_of
from codeplan.skills.library import SkillLibrary
from codeplan.skills.parameter_binding import bind_parameters, read_parameters
from codeplan.skills.phrases import asked_phrase, bind_by_rule, parse_phrases
from codeplan.skills.skill import Skill, SkillOrigin
from codeplan.skills.skill_folder import TOOLS, DamagedSkill, format_manifest, parse_manifest, standard_name
from codeplan.skills.tool_names import find_sources
from codeplan.skills.value_forms import SaidValue, restate
from codeplan.types import (
    AgentApi,
    Finished,
    Outcome,
    Plan,
    Rejected,
    Replan,
    Stopped,
    Task,
    Usage,
    Value,
    refuse_warnings,
)
from codeplan.untrusted.values import in_quotes, shown_answer

_MAX_OBSERVATION_CHARACTERS = 200_000
_MAX_MERGED_RUNS = 12
MAX_ORIGINS = 50
"""A skill keeps at most this many origins."""


class AcquiredSkill(Value, frozen=True):
    """The skill acquired from a success. If not ``is_new``, the library already had it and recorded a further
    origin; if ``was_known``, it had this very episode as an origin, and recorded nothing. ``mends`` is the version that
    failed, if the skill has a new one now. ``usage`` is that of the call that asked how else its goal is said; None
    without such a call, and then ``unsaid`` is why, as a clause. ``proof`` is the folder of the episode in which the
    skill's plan ran again; empty without a trace.
    """

    skill: Skill
    is_new: bool
    was_known: bool = False
    mends: int = 0
    usage: Usage | None = None
    unsaid: str = ""
    proof: str = ""


class NothingAcquired(Value, frozen=True):
    """Why an episode yields no skill, as a clause. ``broken_off``: the infrastructure failed; another try may help."""

    reason: str
    broken_off: bool = False


class _PlanRun(msgspec.Struct):
    """One run of a plan: where it started, and the steps it entered; the last one may not have run to its end."""

    source: str
    start: int
    entered: list[int]
    failed: bool = False
    replanned: bool = False

    @property
    def completed(self) -> list[int]:
        """The steps that ran to their end."""
        return self.entered[:-1] if self.failed else list(self.entered)


def acquire_skill(
    runner: CurationRunner, library: SkillLibrary, episode: EpisodeRecord, sandbox: Sandbox | None = None
) -> Skill | None:
    """Like ``try_to_acquire``, but returns the skill alone; None if the episode yields none."""
    found = try_to_acquire(runner, library, episode, sandbox)
    return found.skill if isinstance(found, AcquiredSkill) else None


def try_to_acquire(
    runner: CurationRunner,
    library: SkillLibrary,
    episode: EpisodeRecord,
    sandbox: Sandbox | None = None,
    *,
    mends: bool = False,
) -> AcquiredSkill | NothingAcquired:
    """Add the candidate that a successful episode yields to the library, or say why it yields none.

    If the library has a skill of the same shape, that one gets a further origin instead; a retired one stays retired.
    With ``mends``, for an episode of the user's own, the skill over tools whose plan it reused gets its plan as a new
    version, a candidate. A stranger's episode must not: it would put an active skill out of use.

    Raises: UsageError: the events contradict one another, or the library cannot be written.
    """
    if refusal := find_refusal(episode):
        return refusal
    sandbox, api = sandbox or Sandbox(), runner.api()
    refusals: list[NothingAcquired] = []
    for source in _complete_plans(episode.events, sandbox):
        proven = _prove(source, episode, runner, sandbox, api)
        if isinstance(proven, _Proof):
            reused = _reused_skill(library, episode, proven.skill) if mends else None
            learner = _Learner(library, episode, runner, sandbox, api)
            return learner.mend(reused, proven) if reused else learner.learn(source, proven)
        refusals.append(proven)
    return next((r for r in refusals if r.broken_off), refusals[0])


def find_refusal(episode: EpisodeRecord) -> NothingAcquired | None:
    """Why an episode cannot yield a skill, according to its record; None if it may."""
    if not _is_solved(episode):
        return NothingAcquired("the task was not solved")
    if not _plan_runs(episode.events):
        return NothingAcquired("no plan solved the task; methods such as react run none")
    return None


def _is_solved(episode: EpisodeRecord) -> bool:
    """Whether the episode succeeded, or, with tools and without a verifier, its plan ran to its end."""
    return is_accepted(episode.result) if _has_tools(episode) else episode.result.success


def _has_tools(episode: EpisodeRecord) -> bool:
    return _is_of_tools(episode.events[0] if episode.events else None)


def _is_of_tools(header: Event | None) -> bool:
    """Whether the user's own tools were called, and not an environment with another name in their place."""
    return isinstance(header, EpisodeStarted) and bool(header.tools) and header.env == TOOLS


class _Proof(Value, frozen=True):
    """A skill that solved its own task again, and the episode in which it did."""

    skill: Skill
    again: EpisodeRecord


def _prove(
    source: str,
    episode: EpisodeRecord,
    runner: CurationRunner,
    sandbox: Sandbox,
    api: AgentApi,
    claimed: Sequence[SaidValue] = (),
) -> _Proof | NothingAcquired:
    """Generalise a plan, and run it on its own task again, from step 1.

    What the goal says in other words than the plan is a value, too, by rule or as ``claimed``.
    """
    task = episode.result.task
    said: list[SaidValue] = []
    if _has_tools(episode):
        said = without_overlaps([*claimed, *find_said(source, task.goal, day_of(episode.events), sandbox)])
    skill = _generalise_skill(source, episode, runner, sandbox, api, said)
    if said and (isinstance(skill, NothingAcquired) or not _knows_own_goal(skill, day_of(episode.events))):
        skill = _generalise_skill(source, episode, runner, sandbox, api, [])
    if isinstance(skill, NothingAcquired):
        return skill
    try:
        parse_manifest(format_manifest(skill))
    except DamagedSkill as e:
        return NothingAcquired(f"the library could not read it again: {e}")
    return _run_again(skill, episode, runner)


def _knows_own_goal(skill: Skill, day: date | None) -> bool:
    """Whether the skill's rule makes the plan's own values of its own goal."""
    block = read_parameters(skill.plan)
    return bind_by_rule(skill, block.goal, day) == {p.name: p.value for p in block.parameters}


def _run_again(skill: Skill, episode: EpisodeRecord, runner: CurationRunner) -> _Proof | NothingAcquired:
    task = episode.result.task
    again = runner.run_plan(skill.plan, task, "again")
    if again is None:
        reason = runner.spending.stopped_by or runner.failures[-1]
        return NothingAcquired(f"its proof was broken off: {reason}", broken_off=not runner.made_new_call)
    if not again.result.success:
        return NothingAcquired(f"the generalised plan did not solve the task again, from step 1: {again.result.reason}")
    if skill.tools:
        answers = shapes_of(skill.plan, answered_calls(again.events))
        texts = {p.name: p.value for p in read_parameters(skill.plan).parameters if isinstance(p.value, str)}
        sources = find_sources(texts, list(answered_calls(again.events)), skill.plan)
        skill = msgspec.structs.replace(skill, answers=answers, sources=sources)
    return _Proof(skill, again)


def _complete_plans(events: Sequence[Event], sandbox: Sandbox) -> Iterator[str]:
    """Plans that may repeat the whole episode from step 1: the last plan, and merges of all plans that ran.

    One merge replaces earlier steps by number from each resume point on; the other keeps every completed step, in
    order.
    """
    runs = _plan_runs(events)[-_MAX_MERGED_RUNS:]
    if not runs:
        return
    replanned = any(r.replanned for r in runs)
    yield (_merge(runs[-1], [], range(1, MAX_STEPS + 1), sandbox) if replanned else None) or runs[-1].source
    if len(runs) > 1:
        last = runs[-1].start
        ends = [min(r.start for r in runs[i + 1 :]) for i in range(len(runs) - 1)]
        by_number = [[n for n in _step_numbers(r) if n < end] for r, end in zip(runs, ends, strict=False)]
        for taken in (by_number, [r.completed for r in runs[:-1]]):
            before = [{"source": r.source, "steps": steps} for r, steps in zip(runs, taken, strict=False) if steps]
            if merged := _merge(runs[-1], before, range(last, last + 100), sandbox):
                yield merged


def _merge(run: _PlanRun, before: list[dict[str, Any]], steps: range, sandbox: Sandbox) -> str | None:
    """The plan of the last run merged with those before it; None if they cannot be merged."""
    with contextlib.suppress(SandboxError, UsageError):
        merged = sandbox.analyse("merge", run.source, {"before": before, "steps": list(steps)})
        return merged if isinstance(merged, str) else None
    return None


def _step_numbers(run: _PlanRun) -> list[int]:
    """The plan's steps up to the last one that the run entered."""
    return list(range(run.start, max(run.entered, default=0) + 1))


def _plan_runs(events: Sequence[Event]) -> list[_PlanRun]:
    """The runs since the environment was last reset that its present state comes from.

    Raises: UsageError: a run's plan or start is impossible.
    """
    sources: dict[int, str] = {}
    runs: list[_PlanRun] = []
    for event in standing_events(events):
        match event:
            case EnvironmentReset():
                runs = []
            case PlanDrafted(number=number, source=source) | PlanFixed(number=number, source=source):
                sources[number] = source
            case PlanStarted(number=number, start_from=start):
                if number not in sources or not 1 <= start <= MAX_STEPS:
                    raise UsageError(f"the trace is damaged: its event {event.seq} starts a plan that cannot have run")
                runs.append(_PlanRun(sources[number], start, []))
            case StepEntered(step=step) if runs:
                if not 1 <= step <= MAX_STEPS or len(runs[-1].entered) >= MAX_STEPS:
                    raise UsageError(f"the trace is damaged: its event {event.seq} enters a step that cannot be")
                runs[-1].entered.append(step)
            case PlanEnded(outcome=outcome) if runs:
                _note_end(runs[-1], outcome)
    return runs


def _note_end(run: _PlanRun, outcome: Outcome) -> None:
    """Note how a plan ended. What it did counts if it ran to its end, or up to a replan or a limit of its calls."""
    run.replanned = isinstance(outcome, Replan)
    whole = isinstance(outcome, Finished) or (isinstance(outcome, Replan) and outcome.step_done)
    run.failed = not whole and not (isinstance(outcome, Stopped) and outcome.limit not in _LOST_LIMITS)


_LOST_LIMITS = frozenset({"wall", "cpu", "turns", "memory"})
"""Limits that end a plan anywhere, also within a statement that has done half of its work."""


def _generalise_skill(
    source: str,
    episode: EpisodeRecord,
    runner: CurationRunner,
    sandbox: Sandbox,
    api: AgentApi,
    said: Sequence[SaidValue],
) -> Skill | NothingAcquired:
    """The skill of a plan, with parameters also for what the goal says in other words."""
    plan = _generalise(source, episode, sandbox, api, said)
    if isinstance(plan, NothingAcquired):
        return plan
    return with_forms(_build_skill(plan, episode.result.task, episode, runner, sandbox), said)


def _generalise(
    source: str, episode: EpisodeRecord, sandbox: Sandbox, api: AgentApi, said: Sequence[SaidValue]
) -> Plan | NothingAcquired:
    """The plan with parameters in place of this episode's values.

    One that a verifier judged may have a step without an assertion: the verifier sees what such a step has missed.
    """
    events, task = episode.events, episode.result.task
    is_verified = _has_tools(episode) and episode.result.success
    checked = sandbox.check(source, api)
    if isinstance(checked, Rejected):
        return NothingAcquired(f"the check refuses its plan: {checked.diagnostics[0]}")
    first = next((e.observation.text for e in events if isinstance(e, EnvironmentReset)), "")
    later = "\n".join(shown_answer(made.answer) for made in answered_calls(events))[:_MAX_OBSERVATION_CHARACTERS]
    try:
        texts = {"goal": restate(task.goal, said) or first, "first": first, "later": later}
        found = sandbox.analyse("generalise", source, {**texts, "numbers": _is_of_tools(events[0])})
    except (SandboxError, UsageError) as e:
        return NothingAcquired(f"its plan cannot be generalised: {e}")
    if isinstance(found, Rejected):
        return NothingAcquired(f"its plan cannot be generalised: {found.diagnostics[0]}")
    # a plan that was a skill's before has that one's goal in the comment
    stated = bind_parameters(found["source"], task.goal, {}) if _is_of_tools(events[0]) else found["source"]
    checked = sandbox.check(stated, api)
    strictly = checked if is_verified else refuse_warnings(checked)
    if isinstance(strictly, Rejected):
        return NothingAcquired(f"the strict check refuses the generalised plan: {strictly.diagnostics[0]}")
    return strictly


def _build_skill(plan: Plan, task: Task, ran: EpisodeRecord, runner: CurationRunner, sandbox: Sandbox) -> Skill:
    shape = sandbox.analyse("shape", plan.source)
    header, has_tools = ran.events[0], _has_tools(ran)
    called = header.tools if has_tools and isinstance(header, EpisodeStarted) else ()
    words = frozenset(re.findall(r"\w+", plan.source))
    return Skill(
        name=standard_name((task.goal if has_tools else task.kind)[:40], str(shape)[:8]),
        env=runner.env,
        plan=plan.source,
        kind="" if has_tools else task.kind,
        tools=tuple(t for t in called if t.method.name in words),
        description=_description(plan),
        parameters=tuple(p.name for p in read_parameters(plan.source).parameters),
        origins=(SkillOrigin(task.id, task.goal, runner.model, ran.run),),
    )


def _description(plan: Plan) -> str:
    """The plan in one line: its own comment, or the titles of its steps."""
    own = re.search(r"^ *# *General plan: *(.+)$", plan.source, re.MULTILINE)
    return (own[1] if own else "; ".join(s.title for s in plan.steps if s.title))[:500]


def _reused_skill(library: SkillLibrary, episode: EpisodeRecord, made: Skill) -> Skill | None:
    """The library's skill over tools whose plan the episode ran first, if what it made has the same parameters."""
    chosen = next((e for e in episode.events if isinstance(e, SkillsChosen)), None)
    if not _has_tools(episode) or chosen is None or chosen.purpose != "reuse" or not chosen.chosen:
        return None
    first = chosen.chosen[0]
    with contextlib.suppress(UsageError):
        there = library.get(TOOLS, first.name)
        is_current = there.version == first.version and there.plan == first.plan
        return there if is_current and not there.pinned and there.parameters == made.parameters else None
    return None


def _answers(events: Sequence[Event]) -> Iterator[object]:
    """What tools answered, as values."""
    for made in answered_calls(events):
        with contextlib.suppress(NotPlainData):
            yield unpack(made.answer.value)


class _Learner:
    """Puts what an episode has proven into a library."""

    def __init__(
        self, library: SkillLibrary, episode: EpisodeRecord, runner: CurationRunner, sandbox: Sandbox, api: AgentApi
    ) -> None:
        self._library, self._episode, self._runner, self._sandbox, self._api = library, episode, runner, sandbox, api

    def learn(self, source: str, proven: _Proof) -> AcquiredSkill:
        """Add the skill, or its origin to the library's skill of the same shape.

        Of a new one over tools, the model is asked once how else its goal is said, so that later goals need no model.
        """
        if not proven.skill.tools:
            return self._told(self._add_or_merge(proven.skill), proven)
        known = self._same_origin(proven.skill) or self._merge_into_same(proven.skill)
        return self._told(known, proven) if known else self._ask_and_add(source, proven)

    def mend(self, there: Skill, proven: _Proof) -> AcquiredSkill:
        """Give a skill the plan that its own became, as a new version, or only a further origin if it is of its
        shape.
        """
        made = proven.skill
        origins = tuple(dict.fromkeys([*there.origins, *made.origins]))[:MAX_ORIGINS]
        if self._shape(there) == self._shape(made):
            more = {"answers": merge_answers(there.answers, made.answers), "tools": made.tools}
            same = self._library.change(there, origins=origins, **more)
            return self._told(AcquiredSkill(same, is_new=False), proven)
        forms = restate_forms(there, made.plan, day_of(self._episode.events))
        more = {"tools": made.tools, "answers": made.answers, "forms": forms, "sources": made.sources}
        mended = self._library.change(there, plan=made.plan, origins=origins, **more)
        return self._told(AcquiredSkill(mended, is_new=False, mends=there.version), proven)

    def _ask_and_add(self, source: str, proven: _Proof) -> AcquiredSkill:
        """Ask the model, and add the skill with what is believed of its reply."""
        skill, constants = proven.skill, open_constants(proven.skill, self._sandbox)
        try:
            completion = ask_wording(skill, constants, self._runner)
        except (UsageError, ModelError) as e:
            return self._told(msgspec.structs.replace(self._add_or_merge(skill), unsaid=str(e)), proven)
        goal, day = self._episode.result.task.goal, day_of(self._episode.events)
        said = read_said(completion.text, constants, goal, day, _answers(proven.again.events))
        more = self._prove_claims(source, said) if said else None
        taught = more or proven
        named = names_in_reply(skill, taught.skill, said if more else {})
        has_places = asked_phrase(taught.skill)  # for each value that may be another; without them nothing is learnt
        said_as = parse_phrases(completion.text, taught.skill, named) if has_places else taught.skill
        found = self._add_or_merge(said_as)
        unsaid = "" if asked_phrase(found.skill) else UNPLACED
        return self._told(msgspec.structs.replace(found, usage=completion.usage, unsaid=unsaid), taught)

    def _prove_claims(self, source: str, said: Mapping[str, SaidValue]) -> _Proof | None:
        """The skill that also has these values as parameters, proven again; None if it is not one that knows its goal
        with them.
        """
        made = _prove(source, self._episode, self._runner, self._sandbox, self._api, tuple(said.values()))
        if isinstance(made, NothingAcquired):
            return None
        own = {identity(p.value) for p in read_parameters(made.skill.plan).parameters}
        return made if all(identity(s.value) in own for s in said.values()) else None

    def _told(self, found: AcquiredSkill, proven: _Proof) -> AcquiredSkill:
        """What was found, with its proof, which is evidence unless the library has it."""
        if not found.was_known:
            self._runner.record_evidence(self._library, found.skill, proven.again, "acquire")
        return msgspec.structs.replace(found, proof=proven.again.run)

    def _same_origin(self, skill: Skill) -> AcquiredSkill | None:
        """The library's skill that comes from the very episode."""
        runs = {origin.run for origin in skill.origins if origin.run}
        for entry in (e for run in runs for e in self._library.entries_of_run(run) if e.env == skill.env):
            with contextlib.suppress(UsageError):
                there = self._library.get(entry.env, entry.name)
                if all(origin in there.origins for origin in skill.origins):
                    return AcquiredSkill(there, is_new=False, was_known=True)
        return None

    def _merge_into_same(self, skill: Skill) -> AcquiredSkill | None:
        """The library's skill of the same shape, with the origin; None if it has none."""
        for name in self._names(skill):
            if not self._library.has_name(skill.env, name):
                return None
            if there := self._same_shape(skill, name):
                return self._merge(there, skill)
        return None

    def _add_or_merge(self, skill: Skill) -> AcquiredSkill:
        """Add the skill, or its origin to the library's skill of the same shape, which others may add meanwhile.

        If a skill of another kind or shape, or a damaged one, has the name, the new one gets another name.
        """
        for name in self._names(skill):
            named = msgspec.structs.replace(skill, name=name)
            try:
                return AcquiredSkill(self._library.add(named), is_new=True)
            except UsageError:
                if not self._library.has_name(named.env, named.name):
                    raise
            if there := self._same_shape(skill, name):
                return self._merge(there, skill)
        raise AssertionError("counting has no end")

    def _names(self, skill: Skill) -> Iterator[str]:
        """The names under which the library may have the skill."""
        yield skill.name
        yield from (f"{skill.name}-{number}" for number in itertools.count(2))

    def _merge(self, there: Skill, skill: Skill) -> AcquiredSkill:
        if all(origin.run and origin in there.origins for origin in skill.origins):
            return AcquiredSkill(there, is_new=False, was_known=True)
        origins = tuple(dict.fromkeys([*there.origins, *skill.origins]))[:MAX_ORIGINS]
        if origins != there.origins:
            answers = merge_answers(there.answers, skill.answers)
            there = self._library.change(there, origins=origins, answers=answers)
        return AcquiredSkill(there, is_new=False)

    def _same_shape(self, skill: Skill, name: str) -> Skill | None:
        """The library's skill of this name; None if its kind or shape differs, or if it cannot be read."""
        with contextlib.suppress(UsageError):
            there = self._library.get(skill.env, name)
            return there if there.kind == skill.kind and self._shape(there) == self._shape(skill) else None
        return None

    def _shape(self, skill: Skill) -> Any:
        return self._sandbox.analyse("shape", skill.plan)


def acquire_from_run(
    folder: Path | str,
    library: SkillLibrary,
    *,
    model: str | LLM | ModelFunction | None = None,
    out: Path | None = None,
    budget: Budget | None = None,
    model_overrides: Mapping[str, Any] | None = None,
    mends: bool = False,
    **settings: Any,
) -> AcquiredSkill | NothingAcquired:
    """Like ``try_to_acquire``, for the finished episode whose trace is in ``folder``.

    ``model`` answers the plan's questions when it runs again; the default is the episode's main model. ``out`` is the
    folder for the traces of these runs (None: no traces), ``budget`` bounds each of them. ``settings`` and
    ``model_overrides`` are those of ``codeplan.resume``: only harmless settings are taken from the trace.

    Raises: UsageError: the trace cannot be read, has no end, has a task that the environment does not have, or needs a
        setting that is not taken from a trace.
    """
    header, episode = read_episode(folder)
    if refusal := find_refusal(episode):
        return refusal
    chosen = model or main_model_name(header)
    if _is_of_tools(header):
        runner = recorded_runner(episode, chosen, folder=out, budget=budget, **settings)
        return try_to_acquire(runner, library, episode, mends=mends)
    runner = _build_runner(header, chosen, settings, model_overrides or {}, out, budget)
    if runner.find_task(header.task.id) != header.task:
        named = in_quotes(header.task.id)
        raise UsageError(f"the trace's task {named} is not the task that {runner.env} has under this id")
    return try_to_acquire(runner, library, episode)


def recorded_runner(
    episode: EpisodeRecord, model: str | LLM | ModelFunction, *, folder: Path | None = None, **settings: Any
) -> CurationRunner:
    """The runner for the proof of an episode with tools. Its recorded answers stand for them: nothing real is done.

    Raises: UsageError: the events are not those of a finished episode with tools.
    """
    calls = RecordedCalls(episode.events, "the trace")
    known = {*accepted_settings({"env": calls, "model": model})["model"], *PLAN_SETTINGS}
    return CurationRunner(calls, model, folder=folder, **{n: v for n, v in settings.items() if n in known})


def read_episode(folder: Path | str) -> tuple[EpisodeStarted, EpisodeRecord]:
    """The header and the record of the finished episode in a folder.

    Raises: UsageError: there is no such trace, it is damaged, or its episode has not ended.
    """
    path = find_trace(folder)
    events = Trace.read(path)
    header, end = events[0] if events else None, find_end(events)
    if not isinstance(header, EpisodeStarted):
        raise UsageError(f"the trace in {folder} has no header")
    if end is None:
        raise UsageError(f"the episode in {folder} has not ended; codeplan resume finishes it")
    result = msgspec.structs.replace(end.result, task=header.task)
    return header, EpisodeRecord(result, tuple(events), str(path.parent))


def _build_runner(
    header: EpisodeStarted,
    model: str | LLM | ModelFunction,
    given: Mapping[str, Any],
    configured: Mapping[str, Any],
    out: Path | None,
    budget: Budget | None,
) -> CurationRunner:
    """The runner for the episode's environment. Settings of its method do not apply: nothing is planned."""
    participants = {"env": header.env, "method": None, "model": model}
    accepted = accepted_settings({"env": header.env, "model": model})
    known = {*accepted["env"], *accepted["model"], *PLAN_SETTINGS}
    for name in given:
        if name not in known:
            raise UsageError(f"there is no setting {in_quotes(name)} here; {plugins.suggest_names(name, known)}")
    chosen = choose_settings(header, participants, given, configured, live=True)
    return CurationRunner(header.env, model, folder=out, budget=budget, **chosen)
