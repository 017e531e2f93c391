"""Checks, runs and resumes plans with a toolset: each run is an episode of its own, with a trace."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, Protocol, assert_never

from msgspec.structs import replace

from codeplan.agent_interface import agent_api
from codeplan.budget import Budget
from codeplan.cancellation import LoopThread
from codeplan.episode.history import answers_to_carry
from codeplan.errors import InfrastructureError, UsageError
from codeplan.mcp_server.answers import CheckAnswer, CheckedStep, Ended, RunAnswer, RunFailure, fix_texts, plan_faults
from codeplan.mcp_server.run_folders import RunFolders, RunState
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.planning.feedback import RunReport, prompt_values, read_run
from codeplan.planning.outcomes import describe_outcome
from codeplan.planning.plan_run import find_plan_origins, take_reply
from codeplan.planning.refinement import (
    BROKEN_OFF,
    MissingVariable,
    PlanAttempt,
    find_resume_point,
    last_attempt,
    last_state,
    saved_names,
    set_names,
    step_after_all,
    unfinished_step,
)
from codeplan.recording.events import (
    ApprovalAnswered,
    CallDecided,
    CallsByAnswer,
    CarriedAnswer,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventHandler,
    PlanDrafted,
    PlanFixed,
    PlanOrigins,
    PlanStarted,
)
from codeplan.recording.trace import KeepAndTell, Trace, is_waiting
from codeplan.report.event_view import describe_decision
from codeplan.runner.episodes import TRACE_NAME, run
from codeplan.runner.recorded_episodes import resume
from codeplan.runner.start_state import verify_checkpoint
from codeplan.runner.tools import OpenTools
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.language.extraction import add_header, holds_code, in_fence
from codeplan.skills.skill import Skill
from codeplan.tools.agent import agent_class_for
from codeplan.tools.approvals import Approver
from codeplan.tools.environment import ToolEnvironment
from codeplan.tools.flow_checks import FlowChecks, with_marks
from codeplan.types import (
    AgentApi,
    BudgetSpent,
    Checkpoint,
    Completion,
    Ending,
    Failed,
    Finished,
    GiveUp,
    InfrastructureFailed,
    Message,
    Outcome,
    Plan,
    Purpose,
    Rejected,
    Replan,
    Result,
    Stopped,
    TraceFull,
    Value,
    Waiting,
)
from codeplan.untrusted.json_values import json_value
from codeplan.untrusted.texts import excerpt, one_line, shell_word
from codeplan.untrusted.values import shown_call


class PlanCheck(Protocol):
    """Checks a plan's text, which may read the variables ``kept`` of an earlier run."""

    def __call__(self, source: str, kept: Iterable[str] = ()) -> Plan | Rejected: ...


_CheckKey = tuple[str, frozenset[str], frozenset[str]]


class PastRun(Value, frozen=True):
    """A run that has ended.

    ``attempt`` is the attempt from which a resumed plan continues. ``events`` are those of the plan's run.

    ``start`` is the start of the plan. ``ending`` is the episode's, None if its trace has no end. ``broken_off`` is
    true if the plan did not end by itself: the server was killed, the client cancelled the run, or something around the
    plan failed. ``waits`` is true if a call needs approval, or got the user's answer and was not made yet.
    ``carried`` are the answers of calls that are made once.
    """

    goal: str
    attempt: PlanAttempt
    events: Sequence[Event]
    start: PlanStarted
    ending: Ending | None
    broken_off: bool
    waits: bool
    carried: tuple[CarriedAnswer, ...] = ()

    @property
    def call_in_doubt(self) -> str:
        """The calls that were begun and not answered, as a plan writes them; empty if there are none."""
        calls = CallsByAnswer()
        for event in self.events:
            calls.take(event)
        return ", ".join(map(shown_call, calls.all_in_doubt))


def read_past_run(
    folder: Path, state: RunState, check: PlanCheck, plan: Plan | None = None, events: Sequence[Event] = ()
) -> PastRun:
    """The run of a folder. ``plan`` is its plan, if this process has just run it, and ``events`` are then all of it.

    The trace is not trusted: without ``plan``, its plan is checked again, and the variables are decoded safely.

    Raises: UsageError: the trace cannot be read, is that of another episode, or its plan does not fit the tools.
    """
    events = events or Trace.read(folder / TRACE_NAME)
    header = events[0] if events else None
    if not isinstance(header, EpisodeStarted) or (header.env, header.method) != ("tools", "exec"):
        raise UsageError(f"{folder.name} is not the run of a plan with tools; name a run that run_plan returned")
    first = next((i for i, e in enumerate(events) if isinstance(e, PlanStarted)), len(events))
    ran = events[first:]
    plan = plan or _recorded_plan(events, folder.name, check, state.entries)
    attempt = last_attempt(ran, plan, state.entries)
    for step, checkpoint in attempt.entries.items():
        verify_checkpoint(checkpoint, f"the variables of step {step} in the run {folder.name}")
    if attempt.outcome.checkpoint:
        verify_checkpoint(attempt.outcome.checkpoint, f"the last variables of the run {folder.name}")
    last, start = events[-1], ran[0] if ran else PlanStarted(number=1, start_from=1)
    assert isinstance(start, PlanStarted), "that is the first event of the plan's run"
    if start.checkpoint:
        verify_checkpoint(start.checkpoint, f"the first variables of the run {folder.name}")
    end = last if isinstance(last, EpisodeEnded) else None
    waits = is_waiting(last) or isinstance(last, ApprovalAnswered)
    broken_off = not waits and (end is None or end.broken_off)
    ending = end.result.ending if end else None
    carried = answers_to_carry(events)
    return PastRun(header.task.goal, attempt, ran, start, ending, broken_off, waits, carried)


def _recorded_plan(events: Sequence[Event], run: str, check: PlanCheck, entries: Mapping[int, Checkpoint]) -> Plan:
    source = next((e.source for e in reversed(events) if isinstance(e, PlanDrafted | PlanFixed)), "")
    started = [e.checkpoint for e in events if isinstance(e, PlanStarted) and e.checkpoint]
    checked = check(source, {name for c in (*entries.values(), *started) for name in c.names})
    if not isinstance(checked, Plan):
        raise UsageError(
            f"the plan of the run {run} does not fit the tools any more ({checked.diagnostics[0]}); send it to run_plan"
        )
    return checked


MAX_PLAN_CHARS: Final = 200_000
"""Maximum length of a plan's text, with what is around its code. The sandbox takes 64 KiB of code."""

MAX_SEEN: Final = 2_000
"""How many events of a run stay in memory until its answer is made. Those of a longer one are read from its trace."""

MAX_CHECKED: Final = 32
"""How many plans that passed their check are remembered."""

MAX_GOAL_CHARS: Final = 2_000
"""Maximum length of a goal, in characters."""

_NO_GOAL: Final = "what the client's plan does"
_BROKEN_OFF: Final = (
    "This run was broken off while its plan ran, and nothing has been resumed yet. The log shows the calls that were "
    "answered. Send resume_plan for this run again to go on."
)
_IN_DOUBT: Final = (
    "This run was broken off during the call {call}, and nothing has been resumed yet. Whether the call was done is "
    "unknown: find out, and let the plan make it again only if it was not. Then send resume_plan for this run again."
)
_WAITING: Final = (
    "This run waits for a person's approval of the call {call}, which was not made. A person answers on the server's "
    "machine: codeplan approve {folder}. Then send resume_plan for the run {run} with the same plan: it goes on at "
    "this call, and makes no answered call again."
)
_MAX_CALL: Final = 500  # characters of the call in doubt, or of one that waits


class RunnerSettings(Value, frozen=True):
    """The settings of every run; ``budget`` is for one run."""

    limits: Limits = Limits()
    budget: Budget = Budget()
    allow_weak_sandbox: bool = False
    imports: str = ""


class RunControl:
    """The connection of one run to its client: its questions and its news. This base class has neither."""

    approve: Approver | None = None
    """Decides on calls that need approval; None refuses them."""

    on_event: EventHandler | None = None
    """Gets each event of the run. An exception that it raises ends the run."""

    on_plan: Callable[[Plan], None] | None = None
    """Gets the plan after its check, before it runs."""


class ToolPlanRunner:
    """Runs the plans of a server's clients. Thread-safe: runs may overlap. ``close`` ends what async tools left.

    Call ``require_lengths`` with a client's texts before they wait for their run.

    Raises: UsageError: a setting is wrong.
    """

    def __init__(self, tools: OpenTools, folders: RunFolders, settings: RunnerSettings) -> None:
        self.folders, self._tools, self._settings = folders, tools, settings
        limits = replace(settings.limits, asks=0)  # there is no model here
        self._sandbox = Sandbox(limits, allow_weak=settings.allow_weak_sandbox, imports=settings.imports)
        self._checked: OrderedDict[_CheckKey, Plan] = OrderedDict()
        self._loop, self._checks = LoopThread(), threading.Lock()
        self._take_tools()
        self._before_data: tuple[str, ...] = ()  # the texts of the plans that clients wrote before they got any answer
        self._has_answered = folders.has_runs

    def _take_tools(self) -> None:
        self.toolset = self._tools.toolset
        agent: type = agent_class_for(self.toolset, "")
        with self._checks:
            self._api = _without_docs(agent_api(agent))
            self._checked.clear()

    def close(self) -> None:
        """End what asynchronous tools left running."""
        self._loop.close()

    def on_change(self, tell: Callable[[], None]) -> bool:
        """As ``OpenTools.on_change``."""
        return self._tools.on_change(tell)

    def refresh(self) -> bool:
        """Take over the tools that servers offer now, for the checks and runs that begin from now on. Returns whether
        they are others than before. One thread may call it at a time.

        Raises: EnvironmentFailure: a server's list is too large.
        """
        if not self._tools.refresh():
            return False
        self._take_tools()
        return True

    def check(self, text: str) -> CheckAnswer:
        """Check a plan; nothing of it runs."""
        found = self._check(add_header(self._code(text)))
        changes, plan = fix_texts(found.fixes), found.source if found.fixes else ""
        if isinstance(found, Rejected):
            return CheckAnswer(False, faults=plan_faults(found.diagnostics), changes=changes, plan=plan)
        steps = tuple(CheckedStep(step.number, step.title) for step in found.steps)
        flows = self._preview(found)
        return CheckAnswer(True, steps, warnings=plan_faults(found.warnings), changes=changes, plan=plan, flows=flows)

    def _check(self, source: str, kept: Iterable[str] = (), set_before: Iterable[str] = ()) -> Plan | Rejected:
        """The sandbox's check. A plan that passed is not checked again: a client checks, runs and resumes one text.

        ``kept`` and ``set_before`` are those of ``Sandbox.check``.
        """
        key, api = (source, frozenset(kept), frozenset(set_before)), self._api
        if passed := self._checked.get(key):
            return passed
        checked = self._sandbox.check(source, api, kept=key[1], set_before=key[2])
        if isinstance(checked, Plan) and api is self._api:  # an overloaded machine may be why another is refused
            with self._checks:
                self._checked[key] = checked
                if len(self._checked) > MAX_CHECKED:
                    self._checked.popitem(last=False)
        return checked

    def _code(self, text: str) -> str:
        """The code of a plan's text. Clients may send it as in a reply, in a fence; a fence within the code is none."""
        is_reply = "```" in text and not holds_code(text.partition("```")[0])
        return self._sandbox.read_reply(text if is_reply else in_fence(text))

    def _preview(self, plan: Plan) -> tuple[str, ...]:
        """What the flows say about each call of a plan that passed the check; empty without flows."""
        flows = self._tools.sources.read_flows
        if flows is None:
            return ()
        checks = FlowChecks(with_marks(flows, self.toolset), "")
        checks.origins = find_plan_origins(self._sandbox, plan, self._api, checks)
        return tuple(f"line {call.line}: {call}" for call in checks.preview(self.toolset))

    def run(self, text: str, goal: str, control: RunControl, skill: Skill | None = None) -> RunAnswer:
        """Check a plan, which may be that of a skill, and run it from its first step."""
        checked = self._check(add_header(self._code(text)))
        if isinstance(checked, Rejected):
            return refusal_answer(checked)
        return self._play(checked, goal.strip() or _NO_GOAL, _Start(skill=skill), control)

    def resume(self, run_id: str, text: str, control: RunControl) -> RunAnswer:
        """Continue from a run's end with a changed plan, or with its changed steps alone.

        It starts where the refinement loop would: at the first changed step, but no later than at the one that failed.
        An interrupted run is resumed only after the client has once been informed of the interruption.

        Raises: UsageError: there is no such run, it still runs, it was resumed already, or has done all of the plan.
        """
        folder = self.folders.find(run_id)
        state = self.folders.read_state(run_id)
        past = read_past_run(folder, state, self._check)
        if past.broken_off and not state.told:
            return self._tell_broken_off(run_id, past, state)
        taken = take_reply(self._sandbox, self._code(text), past.attempt.plan.source)
        kept = saved_names(past.attempt)
        checked = taken.refusal or self._check(taken.source, kept, set_names(past.attempt.plan))
        if isinstance(checked, Rejected):
            return refusal_answer(checked, run_id)
        if past.waits and checked.source == past.attempt.plan.source:
            return self._go_on(run_id, past, state, control)
        start = _start_after(run_id, past, checked)
        if isinstance(start, Rejected):
            return refusal_answer(start, run_id)
        return self._play(checked, past.goal, start, control)

    def _go_on(self, run_id: str, past: PastRun, state: RunState, control: RunControl) -> RunAnswer:
        """Go on with a run that waits for an approval: at that call, if it was answered or may now be made."""
        self.folders.reopen(run_id)
        try:
            start, plan = past.start, past.attempt.plan
            if control.on_plan:
                control.on_plan(plan)
            method = self._method(plan, start.start_from, start.checkpoint)
            goes_on = partial(resume, self.folders.path(run_id), method=method)
            return self._answer_of(run_id, plan, past.goal, state, method, control, goes_on)
        finally:
            self.folders.release(run_id)

    def _tell_broken_off(self, run_id: str, past: PastRun, state: RunState) -> RunAnswer:
        self.folders.write_state(run_id, replace(state, told=True))
        call = one_line(past.call_in_doubt, _MAX_CALL)
        note = _IN_DOUBT.format(call=call) if call else _BROKEN_OFF
        folder = self.folders.path(run_id)
        return replace(run_answer(run_id, past, None, None, state.resumes, folder), note=note)

    def _play(self, plan: Plan, goal: str, start: _Start, control: RunControl) -> RunAnswer:
        state = RunState(resumes=start.resumes, entries=start.entries)
        run_id = self.folders.create(state)
        try:
            if start.resumes:
                self.folders.claim(start.resumes, run_id)
            if control.on_plan:
                control.on_plan(plan)
            return self._play_in(run_id, plan, goal, state, start, control)
        except BaseException:
            if start.resumes and not self._has_started(run_id):
                self.folders.unclaim(start.resumes, run_id)
            raise
        finally:
            self.folders.release(run_id)

    def _play_in(
        self, run_id: str, plan: Plan, goal: str, state: RunState, start: _Start, control: RunControl
    ) -> RunAnswer:
        method = self._method(plan, start.step, start.checkpoint, start.skill)
        begins = partial(run, method=method, out=self.folders.path(run_id))
        return self._answer_of(run_id, plan, goal, state, method, control, begins, start.carried)

    def _method(self, plan: Plan, step: int, checkpoint: Checkpoint | None, skill: Skill | None = None) -> FixedPlan:
        made = partial(FixedPlan, asks=False, sandbox=self._sandbox)
        return made(plan, start_from=step, checkpoint=checkpoint, skill=skill)

    def _environment(self, goal: str, control: RunControl, carried: Sequence[CarriedAnswer]) -> ToolEnvironment:
        """The tools for one run. No prompt shows them, so that the goal does not decide which of them are described."""
        return self._tools.environment(goal, control.approve, self._loop, carried, shown_for="")

    def _answer_of(
        self,
        run_id: str,
        plan: Plan,
        goal: str,
        state: RunState,
        method: FixedPlan,
        control: RunControl,
        play: Callable[..., Result],
        carried: Sequence[CarriedAnswer] = (),
    ) -> RunAnswer:
        """Have the episode begin or go on, and answer with how it ended."""
        seen: list[Event] = []
        tell = KeepAndTell(lambda event: seen.append(event) if len(seen) <= MAX_SEEN else None, control.on_event)
        try:
            with closing(self._environment(goal, control, carried)) as env:
                self._prepare_flows(env.flow_checks, plan, state.resumes)
                given = {"env": env, "model": _Client(), "budget": self._settings.budget}
                ending: Ending | None = play(**given, on_event=tell).ending
        except InfrastructureError:
            if not self._has_started(run_id):
                raise
            ending, state = None, replace(state, told=True)
        self._has_answered = True
        outcome = method.outcome if not isinstance(method.outcome, Rejected) else None
        self.folders.write_state(run_id, state)
        events = seen if len(seen) <= MAX_SEEN else ()
        past = read_past_run(self.folders.path(run_id), state, self._check, plan, events)
        return run_answer(run_id, past, outcome, ending or past.ending, state.resumes, self.folders.path(run_id))

    def _prepare_flows(self, checks: FlowChecks | None, plan: Plan, resumes: str | None) -> None:
        """Tell the flows which texts a client wrote before it got any data, and where a resumed run's variables come
        from. A client's goal is a text like its plans.
        """
        if checks is None:
            return
        if not self._has_answered:
            self._before_data = (*self._before_data, plan.source)
            return
        checks.known, checks.goal = self._before_data, ""
        if resumes:
            events = Trace.read(self.folders.path(resumes) / TRACE_NAME)
            checks.origins = next((e for e in reversed(events) if isinstance(e, PlanOrigins)), None)

    def _has_started(self, run_id: str) -> bool:
        path = self.folders.path(run_id) / TRACE_NAME
        return path.exists() and any(isinstance(e, PlanStarted) for e in Trace.read(path))


def _without_docs(api: AgentApi) -> AgentApi:
    """The API as a check needs it: checks read no documentation, which would be most of what their workers are sent."""
    return replace(api, methods=tuple(replace(method, doc="") for method in api.methods))


class _Start(Value, frozen=True):
    """Where a run begins: at a step with variables, after another run whose earlier entries it keeps, or with the plan
    of a skill.
    """

    step: int = 1
    checkpoint: Checkpoint | None = None
    entries: dict[int, Checkpoint] = {}
    resumes: str | None = None
    carried: tuple[CarriedAnswer, ...] = ()
    skill: Skill | None = None


def _start_after(run_id: str, past: PastRun, plan: Plan) -> _Start | Rejected:
    """Where the plan starts; a refusal if it would start without a variable of the run before that it reads.

    Raises: UsageError: the run has done all of its steps, and would do them again.
    """
    attempt = past.attempt
    if step_after_all(attempt, plan):
        raise UsageError(
            f"the run {run_id} has done all steps of this plan; change or add a step, or make its calls again with "
            "run_plan"
        )
    states = attempt.entries | last_state(plan, attempt, "failure")
    step = find_resume_point(attempt.plan, plan, unfinished_step(attempt, plan), states)
    if isinstance(step, MissingVariable):
        return step.refuse(plan)
    entries = {number: c for number, c in attempt.entries.items() if number < step}
    return _Start(step, states.get(step), entries, run_id, past.carried)


class _Client:
    """The model of each episode: the client, which wrote the plan and does not answer its questions."""

    name = "mcp-client"

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Iterable[str] = (), max_tokens: int | None = None
    ) -> Completion:
        raise AssertionError("a plan without questions asks no model")


def require_lengths(plan: str, goal: str = "") -> None:
    """Check what a client sent. Raises: UsageError: the plan's text or the goal is far too long."""
    if len(plan) > MAX_PLAN_CHARS:
        raise UsageError(f"the plan has {len(plan):,} characters; write at most {MAX_PLAN_CHARS:,}")
    if len(goal) > MAX_GOAL_CHARS:
        raise UsageError(f"the goal has {len(goal):,} characters; say it in at most {MAX_GOAL_CHARS:,}")


MAX_VALUE_BYTES: Final = 64 << 10
"""Maximum size of a plan's value as JSON, in bytes. A larger value is left out, and the answer says so."""

MAX_PRINTED: Final = 20_000
"""Maximum length of the printed text in an answer, in characters."""

_NO_QUESTIONS = "there is no language model to ask here: end a step with replan(reason), and go on with resume_plan"
_TOO_LARGE = (
    f"what the plan returned takes more than {MAX_VALUE_BYTES:,} bytes as JSON, or is nested too deeply; it is left "
    "out: resume the run with a step that returns a part of it"
)


def refusal_answer(rejected: Rejected, run: str | None = None) -> RunAnswer:
    """The answer for a plan that the check refused. ``run`` is the run that it was to resume."""
    faults, changes = plan_faults(rejected.diagnostics), fix_texts(rejected.fixes)
    return RunAnswer("refused", run, faults=faults, changes=changes)


def run_answer(
    run: str, past: PastRun, live: Outcome | None, ending: Ending | None, resumes: str | None, folder: Path
) -> RunAnswer:
    """How a run ended. ``folder`` is the run's.

    ``live`` is the outcome from the sandbox, which alone has the plan's value. None if there is none. ``ending`` is
    that of the episode.
    """
    outcome = live or past.attempt.outcome
    read = read_run(past.events)
    report = RunReport(
        source=past.attempt.plan.source,
        problem=describe_outcome(outcome, lambda: ""),
        plan=past.attempt.plan,
        outcome=outcome,
        events=read,
        variables=_variables(past),
    )
    shown = prompt_values(report, ())
    finished = isinstance(outcome, Finished)
    value = json_value(outcome.value, MAX_VALUE_BYTES) if isinstance(outcome, Finished) else None
    return RunAnswer(
        _ended(outcome, ending),
        run,
        value=value,
        printed=excerpt(read.printed.strip("\n"), MAX_PRINTED, start=0.5),
        failure=_failure(outcome, ending, _text(shown["failed_line"])),
        changes=fix_texts(past.attempt.plan.fixes),
        resumes=resumes,
        started_from=read.started_from,
        resumable_step=_resumable_step(past, outcome),
        calls=sum(e.number is not None for e in read.exchanges),
        log="" if finished else _text(shown["log"]),
        variables="" if finished else _text(shown["variables"]),
        flows=_flow_lines(past.events),
        note=_note(outcome, value) or _wait_note(ending, run, folder),
    )


def _flow_lines(events: Iterable[Event]) -> tuple[str, ...]:
    """Each decision about a call that knows where its arguments come from."""
    return tuple(describe_decision(e) for e in events if isinstance(e, CallDecided) and e.origins)


def _wait_note(ending: Ending | None, run: str, folder: Path) -> str:
    """What a run waits for, and how it goes on; empty if it does not wait."""
    if not isinstance(ending, Waiting):
        return ""
    return _WAITING.format(call=one_line(shown_call(ending.call), _MAX_CALL), folder=shell_word(folder), run=run)


def _note(outcome: Outcome, shown: object) -> str:
    """Why the value that is ``shown`` is not what the plan returned; empty if it is."""
    if not isinstance(outcome, Finished):
        return ""
    return _TOO_LARGE if shown is None and outcome.value is not None else outcome.value_fault


def _ended(outcome: Outcome, ending: Ending | None) -> Ended:
    match outcome:
        case Finished():
            return "finished"
        case Failed():
            return "failed"
        case Replan():
            return "replan"
        case GiveUp():
            return "gave_up"
        case Stopped(limit=limit) if limit != BROKEN_OFF:
            return "stopped"
        case Stopped():
            broken: Ended = "infrastructure" if isinstance(ending, InfrastructureFailed) else "interrupted"
            if isinstance(ending, Waiting):
                return "waiting"
            return "budget" if isinstance(ending, BudgetSpent | TraceFull) else broken
        case _:
            assert_never(outcome)


def _failure(outcome: Outcome, ending: Ending | None, code: str) -> RunFailure | None:
    fault = outcome.fault
    if fault is None:
        return None
    if fault.name == BROKEN_OFF and ending is not None:
        return RunFailure(ending.name, ending.sentence, outcome.step)
    message = _NO_QUESTIONS if fault.name == "asks" else fault.message
    return RunFailure(fault.name, message, outcome.step, outcome.line, code)


def _resumable_step(past: PastRun, outcome: Outcome) -> int | None:
    """The step at which the same plan would continue; after a step that is done, the next step."""
    if isinstance(outcome, Finished) or (isinstance(outcome, Replan) and outcome.step_done):
        return None if outcome.step is None else outcome.step + 1
    plan, attempt = past.attempt.plan, past.attempt
    states = attempt.entries | last_state(plan, attempt, "failure")
    step = find_resume_point(plan, plan, unfinished_step(attempt, plan), states)
    return None if isinstance(step, MissingVariable) else step


def _variables(past: PastRun) -> Checkpoint:
    """The variables that the next plan can start with."""
    if past.attempt.outcome.checkpoint is not None:
        return past.attempt.outcome.checkpoint
    entries = past.attempt.entries
    return entries[max(entries)] if entries else Checkpoint()


def _text(shown: object) -> str:
    assert isinstance(shown, str), "these parts of a prompt are texts"
    return shown
