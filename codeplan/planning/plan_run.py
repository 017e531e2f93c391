"""Checks plans for an episode and runs them: in the sandbox, with their steps, output and outcome in the trace.

For an episode with flows, it also finds where the arguments of a plan's calls come from, before the plan starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec.structs import replace

from codeplan.episode.episode import Episode, show_failed_tool
from codeplan.errors import AnswerChanged, EpisodeOver, SandboxError
from codeplan.plain_data import unpack
from codeplan.plugins import Setting
from codeplan.recording.event_log import events_of
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    Event,
    ModelCalled,
    PlanDrafted,
    PlanEnded,
    PlanFixed,
    PlanOrigins,
    PlanRejected,
    PlanStarted,
    PlanWarned,
    StepEntered,
    TextPrinted,
    TurnStarted,
    WarningIssued,
)
from codeplan.recording.trace import TIMING_LIMITS
from codeplan.sandbox import BackendName, Limits, Progress, Sandbox, StepEntry
from codeplan.sandbox.host.backend import LineCoverage
from codeplan.sandbox.language.extraction import STEPS_ALONE, MergedReply, add_header, defines_solution
from codeplan.tools.environment import ToolEnvironment
from codeplan.tools.flow_checks import FlowChecks
from codeplan.types import (
    ASK_USER,
    AgentApi,
    Checkpoint,
    Claimed,
    Ending,
    Failed,
    Outcome,
    Plan,
    Rejected,
    Stopped,
    recorded_outcome,
    refuse_warnings,
)
from codeplan.types.value import Value

Fixes = Literal["on", "off"]
"""Whether the check mends plans, or only judges them."""


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of what checks and runs plans: a base for those of each method that runs plans."""

    asks: Annotated[bool, Setting("Whether plans may ask the model (ask_llm).", "safe")] = True
    fixes: Annotated[Fixes, Setting("Whether the check mends plans without a model.", "safe")] = "on"
    limits: Annotated[Limits | None, Setting("The sandbox's limits.", "trusted")] = None
    allow_weak_sandbox: Annotated[
        bool, Setting("Run plans even if a layer of the sandbox is missing.", "trusted", repeat="never")
    ] = False
    backend: Annotated[
        BackendName, Setting("What runs plans; auto is Monty where there is no cage.", "trusted", repeat="never")
    ] = "auto"
    imports: Annotated[
        str | tuple[str, ...],
        Setting("Packages that plans may import, such as numpy,pandas. They are loaded inside the sandbox.", "trusted"),
    ] = ""

    def make_sandbox(self) -> Sandbox:
        """The sandbox that these settings describe."""
        limits = self.limits or Limits()
        allowed = limits if self.asks else replace(limits, asks=0)
        return Sandbox(allowed, allow_weak=self.allow_weak_sandbox, backend=self.backend, imports=self.imports)


def begin_plan(
    sandbox: Sandbox,
    episode: Episode,
    number: int,
    plan: Plan,
    start: int,
    checkpoint: Checkpoint | None,
    *,
    from_outside: bool = False,
    shows_data: bool = True,
) -> None:
    """Record that a plan starts, and before it where its calls' arguments come from, if there are flows.

    The event holds the checkpoint only if the checkpoint comes ``from_outside`` the episode. Helper functions are never
    saved; ``plan.provides`` defines them again. ``shows_data`` is as for ``note_origins``.
    """
    note_origins(sandbox, episode, plan, start, checkpoint, shows_data=shows_data)
    state = checkpoint or Checkpoint()
    started = PlanStarted(
        number=number,
        start_from=start,
        restored=tuple(sorted(state.names)),
        dropped={name: why for name, why in state.dropped.items() if name not in plan.provides},
        checkpoint=checkpoint if from_outside else None,
    )
    episode.record(started)


def run_plan(
    sandbox: Sandbox,
    episode: Episode,
    plan: Plan,
    agent: Any,
    ask: Callable[[str], str],
    start_from: int = 1,
    checkpoint: Checkpoint | None = None,
    *,
    on_event: Callable[[Progress], None] | None = None,
    on_coverage: Callable[[LineCoverage], None] | None = None,
) -> Outcome:
    """Run a plan in the sandbox against an episode, and record its steps and output in the trace.

    A plan that acts after the environment has ended the episode is stopped with limit ``"episode"``. ``on_event``
    receives each event after it is recorded; an exception that it raises ends the run.
    """

    def record(progress: Progress) -> None:
        if isinstance(progress, StepEntry):
            step = plan.step(progress.step)
            title = step.title if step else ""
            episode.record(StepEntered(step=progress.step, title=title, checkpoint=progress.checkpoint))
            entries[progress.step] = progress.checkpoint
        else:
            episode.record(TextPrinted(text=progress.text))
        if on_event:
            on_event(progress)

    entries: dict[int, Checkpoint] = {}
    trace = episode.trace
    answers_all = any(events_of(trace.recording[len(trace.events) :], PlanEnded))  # the recording answers all calls
    try:
        outcome = sandbox.run(
            plan,
            agent,
            ask,
            start_from,
            checkpoint,
            on_event=record,
            seed=episode.task.seed,
            on_coverage=on_coverage,
            started=trace.events[-1].at,  # of the recorded event in a replay, so the plan's clock is the same
            waits=not answers_all,
        )
    except EpisodeOver as over:
        step = max(entries, default=None)
        outcome = Stopped("episode", 0, 0, step, None, str(over), entries=entries)
    except AnswerChanged as changed:
        step = max(entries, default=None)
        state = entries[step] if step else Checkpoint()
        outcome = Failed(step, changed.line, "AnswerChanged", str(changed), checkpoint=state, entries=entries)
    if isinstance(outcome, Rejected):
        message = f"the plan passed the check, but was refused when it was to run: {outcome.diagnostics[0]}"
        outcome = Stopped("worker", 0, 0, None, None, message)
    if isinstance(outcome, Failed):
        show_failed_tool(trace.events, outcome, len(trace.recording))
    episode.record(PlanEnded(outcome=recorded_outcome(outcome)))
    return outcome


def ending_of_value(episode: Episode, outcome: Outcome) -> Ending | None:
    """Have the environment judge what a plan returned. The ending ``Claimed`` if it has no verifier; otherwise None."""
    judged = episode.judge(outcome)
    if judged is None or judged.verdict is not None:
        return None
    return Claimed("the plan ran to its end; nobody verified the result")


def without_timing(outcome: Outcome) -> Outcome:
    """The outcome without the parts that can differ in a replay of the same episode: where a time limit struck, and
    the variables. The variables at the step's entry replace them.
    """
    if isinstance(outcome, Stopped) and outcome.limit in TIMING_LIMITS:
        return replace(outcome, line=None, checkpoint=None)
    return outcome


def check_plan(
    sandbox: Sandbox,
    episode: Episode,
    source: str,
    number: int,
    fixes: Fixes,
    *,
    strict: bool = False,
    kept: Iterable[str] = (),
    starts_over: bool = False,
    set_before: Iterable[str] = (),
    judge: Callable[[Plan], Rejected | None] | None = None,
) -> Plan | Rejected:
    """Check the episode's plan of this ``number``. The result's source is the mended text.

    With ``strict``, a plan with warnings is refused. ``kept``, ``starts_over`` and ``set_before`` are as for
    ``Sandbox.check``.
    ``judge`` may refuse a plan that passed.
    """
    before: dict[str, Any] = {"kept": kept, "starts_over": starts_over, "set_before": set_before}
    checked = sandbox.check(source, episode.api, fixes=fixes == "on", **before)
    checked = refuse_warnings(checked) if strict else checked
    if judge and isinstance(checked, Plan):
        checked = judge(checked) or checked
    record_check(episode, checked, number)
    return checked


def record_notices(sandbox: Sandbox, episode: Episode) -> None:
    """Record, once per episode, how the sandbox on this machine differs from the usual one.

    A replay repeats the recorded notices.

    Raises SandboxError if no plan can run here.
    """
    notices, trace = sandbox.notices, episode.trace
    if trace.is_replaying:
        while (warning := trace.peek_recorded(WarningIssued)) is not None:
            episode.record(warning)
        return
    said = {event.message for event in events_of(trace.events, WarningIssued)}
    for notice in notices:
        if notice not in said:
            episode.record(WarningIssued(message=notice))


def record_check(episode: Episode, checked: Plan | Rejected, number: int) -> None:
    """Record the fixes, the warnings and the refusal of a plan."""
    if checked.fixes:
        episode.record(PlanFixed(number=number, fixes=checked.fixes, source=checked.source))
    if isinstance(checked, Rejected):
        episode.record(PlanRejected(number=number, diagnostics=checked.diagnostics))
    elif checked.warnings:
        episode.record(PlanWarned(number=number, warnings=checked.warnings))


_GUARD = re.compile(r"^[ \t]*+if\b[^\n]*\bstart_from\b[^\n]*", re.MULTILINE)


class TakenReply(Value, frozen=True):
    """The plan after a reply: ``source`` is the whole plan.

    ``steps`` are the numbers of the steps that the reply held; None if it held the whole plan. They are empty if it
    changed only code outside the steps, or could not be merged. ``is_plan`` is false if ``source`` is only the text of
    steps that could not be read. ``refusal`` says why steps were not taken; the source is then the plan before.
    """

    source: str
    steps: tuple[int, ...] | None = None
    is_plan: bool = True
    refusal: Rejected | None = None


def take_reply(sandbox: Sandbox, code: str, before: str | None) -> TakenReply:
    """Take the code of a reply. ``before`` is the plan that it may change; None if there is none."""
    first = _GUARD.search(code)
    begins_at_first_step = first is not None and first[0].strip() == "if start_from <= 1:" and defines_solution(code)
    if before is None or begins_at_first_step:  # certainly a whole plan, which needs no worker to find out
        return TakenReply(add_header(code))
    merged = sandbox.merge_reply(code, before)
    if isinstance(merged, MergedReply):
        return TakenReply(merged.source, merged.steps)
    if merged is None:
        return TakenReply(add_header(code))
    if any(d.rule == STEPS_ALONE for d in merged.diagnostics):
        return TakenReply(before, (), refusal=Rejected(before, merged.diagnostics))
    is_plan = defines_solution(code)
    return TakenReply(code, None if is_plan else (), is_plan=is_plan)


NOT_FOLLOWED: Final = PlanOrigins(sites=(), asks={}, variables=(), followed=False)
"""The origins of a plan of which nothing is known."""


def note_origins(
    sandbox: Sandbox, episode: Episode, plan: Plan, start: int, checkpoint: Checkpoint | None, *, shows_data: bool
) -> None:
    """Record the origins of the plan that starts next, and hand them to the environment, if it has flows.

    ``shows_data`` says whether prompts for revised plans show what tools answered. A replay without the tools repeats
    the recorded origins, and no environment relies on recorded ones.
    """
    trace = episode.trace
    checks = episode.env.flow_checks if isinstance(episode.env, ToolEnvironment) else None
    if checks is not None:
        known: Sequence[str] | None = checks.known
        said = _said_by_user(trace.events) if episode.asks_user else {}
        if known is None and shows_data:
            known = _plans_before_data(trace.events, checks.flows.trusts, said)
        names = {*(checkpoint.names if checkpoint else ()), *episode.history.variables}
        checks.said = tuple(said.values())
        of_user = episode.history.of_user
        checks.origins = find_plan_origins(sandbox, plan, episode.api, checks, start, names, known, of_user)
        if not trace.is_replaying or trace.peek_recorded(PlanOrigins) is not None:
            episode.record(checks.origins)
    elif recorded := trace.peek_recorded(PlanOrigins):
        episode.record(recorded)


def find_plan_origins(
    sandbox: Sandbox,
    plan: Plan,
    api: AgentApi,
    checks: FlowChecks,
    start: int = 1,
    names: Collection[str] = (),
    known: Sequence[str] | None = None,
    of_user: Collection[str] = (),
) -> PlanOrigins:
    """The origins of a plan that starts at a step with the variables of these names.

    ``checks`` has the origins of the plan that set them; what that did not set may come from anywhere. ``known`` are
    the texts of the plans before data was shown, None if this is one of them. Variables ``of_user`` are as good as the
    goal, until a plan has had them.
    """
    before = checks.origins if names else None
    rows = {row.name: row for row in before.variables} if before and before.followed else {}
    fresh = of_user if before is None or before.followed else ()
    variables = [
        [name, list(rows[name].origins), list(rows[name].cells)]
        if name in rows
        else [name, [] if name in fresh else ["unknown"], []]
        for name in sorted(names)
    ]
    tools = [method.name for method in api.methods]
    arguments: dict[str, Any] = {"tools": tools, "start_from": start, "variables": variables}
    if known is not None:
        arguments |= {"known": list(known), "goal": checks.words}
    if before is not None:
        arguments["asks"] = {number: list(given) for number, given in before.asks.items()}
    try:
        found = sandbox.analyse("origins", plan.source, arguments)
    except SandboxError:
        return NOT_FOLLOWED
    return verified_origins(found, plan.source, {*tools, "*"})


def verified_origins(found: object, source: str, tools: set[str]) -> PlanOrigins:
    """The worker's answer as an event. Anything that cannot be true of this source counts as not followed."""
    if isinstance(found, Rejected):
        return NOT_FOLLOWED
    try:
        origins = msgspec.convert(found, PlanOrigins)
    except msgspec.ValidationError:
        return NOT_FOLLOWED
    last = source.count("\n") + source.count("\r") + 1
    sites = origins.sites
    fits = all(s.tool in tools and 0 < s.line <= s.end_line <= last for s in sites)
    return origins if fits else NOT_FOLLOWED


def _said_by_user(events: Sequence[Event]) -> dict[int, str]:
    """The user's answers so far, by the id of their call."""
    asked = {e.id for e in events if isinstance(e, CallBegun) and e.call.name == ASK_USER.name}
    answers = (e for e in events if isinstance(e, CallAnswered) and e.id in asked and not e.answer.error)
    return {event.id: str(unpack(event.answer.value)) for event in answers}


def _plans_before_data(
    events: Sequence[Event], trusts: Callable[[str], bool], said: Mapping[int, str]
) -> list[str] | None:
    """The texts of the plans that were written before a prompt could show data that is not trusted; None if that
    holds for the latest plan. What the user ``said`` is trusted.
    """
    texts: list[str] = []
    names: dict[int, str] = {}
    is_shown = is_later = False
    for event in events:
        match event:
            case CallBegun():
                names[event.id] = event.call.name
            case CallAnswered():
                is_shown = is_shown or not (event.id in said or trusts(f"tool:{names.get(event.id, '')}"))
            case ModelCalled(purpose="ask"):
                is_shown = True
            case TurnStarted():  # its first plan sees shapes of what the turns before were told
                texts, is_shown, is_later = [], False, False
            case PlanDrafted() | PlanFixed():
                is_later = is_shown
                texts += [] if is_later else [event.source]
    return texts if is_later else None
