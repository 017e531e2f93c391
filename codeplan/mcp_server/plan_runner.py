"""Checks, runs and resumes plans with a toolset: each run is an episode of its own, with a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any, Final

from msgspec.structs import replace

from codeplan.agent_interface import agent_api
from codeplan.budget import Budget
from codeplan.errors import InfrastructureError, UsageError
from codeplan.mcp_server.answers import CheckAnswer, CheckedStep, RunAnswer, fix_texts, plan_faults
from codeplan.mcp_server.run_answers import refusal_answer, run_answer
from codeplan.mcp_server.run_folders import RunFolders, RunState
from codeplan.mcp_server.run_history import PastRun, read_past_run
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.planning.reply_taking import take_reply
from codeplan.planning.resume_point import find_resume_point, last_state, step_after_all, unfinished_step
from codeplan.recording.events import EventHandler, PlanStarted
from codeplan.recording.trace import Trace
from codeplan.runner.new_episodes import TRACE_NAME, run
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.language.extraction import add_header, extract_code, holds_code, in_fence
from codeplan.tools.approvals import Approvals, Approver
from codeplan.tools.environment import ToolEnvironment, ToolErrors
from codeplan.tools.event_loop import LoopThread
from codeplan.tools.tool_agent import agent_class_for
from codeplan.tools.toolset import Toolset
from codeplan.types import Checkpoint, Completion, Finished, Message, Plan, Purpose, Rejected, Value
from codeplan.untrusted.terminal import one_line

MAX_PLAN_CHARS: Final = 200_000
"""Maximum length of a plan's text, with what is around its code. The sandbox takes 64 KiB of code."""

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
_MAX_CALL: Final = 500  # characters of the call in doubt


class RunnerSettings(Value, frozen=True):
    """The settings of every run; ``budget`` is for one run. ``allow``, ``ask`` and ``deny`` as in ``codeplan do``."""

    limits: Limits = Limits()
    budget: Budget = Budget()
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    tool_errors: ToolErrors = "plan"
    allow_weak_sandbox: bool = False


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

    Raises: UsageError: a pattern or a setting is wrong.
    """

    def __init__(self, toolset: Toolset, folders: RunFolders, settings: RunnerSettings) -> None:
        self.toolset, self.folders, self._settings = toolset, folders, settings
        self.approvals(None)
        self._sandbox = Sandbox(settings.limits, allow_weak=settings.allow_weak_sandbox)
        agent: type = agent_class_for(toolset, "")
        self._api = agent_api(agent)
        self._loop = LoopThread()

    def approvals(self, approve: Approver | None) -> Approvals:
        """The user's patterns, with the function that decides on calls that need approval."""
        return Approvals(self._settings.allow, self._settings.ask, self._settings.deny, approve)

    def close(self) -> None:
        """End what asynchronous tools left running."""
        self._loop.close()

    def check(self, text: str) -> CheckAnswer:
        """Check a plan; nothing of it runs."""
        found = self._sandbox.check(add_header(_code(text)), self._api)
        changes, plan = fix_texts(found.fixes), found.source if found.fixes else ""
        if isinstance(found, Rejected):
            return CheckAnswer(False, faults=plan_faults(found.diagnostics), changes=changes, plan=plan)
        steps = tuple(CheckedStep(step.number, step.title) for step in found.steps)
        return CheckAnswer(True, steps, warnings=plan_faults(found.warnings), changes=changes, plan=plan)

    def run(self, text: str, goal: str, control: RunControl) -> RunAnswer:
        """Check a plan and run it from its first step."""
        source = add_header(_code(text))
        checked = self._sandbox.check(source, self._api)
        if isinstance(checked, Rejected):
            return refusal_answer(checked)
        return self._play(source, checked, goal.strip() or _NO_GOAL, _Start(), control)

    def resume(self, run_id: str, text: str, control: RunControl) -> RunAnswer:
        """Continue from a run's end with a changed plan, or with its changed steps alone.

        It starts where the refinement loop would: at the first changed step, but no later than at the one that failed.
        An interrupted run is resumed only after the client has once been informed of the interruption.

        Raises: UsageError: there is no such run, it still runs, it was resumed already, or has done all of the plan.
        """
        folder = self.folders.find(run_id)
        state = self.folders.read_state(run_id)
        past = read_past_run(folder, state, self._sandbox, self._api)
        if past.broken_off and not state.told:
            return self._tell_broken_off(run_id, past, state)
        taken = take_reply(self._sandbox, _code(text), past.attempt.plan.source)
        checked = taken.refusal or self._sandbox.check(taken.source, self._api)
        if isinstance(checked, Rejected):
            return refusal_answer(checked, run_id)
        return self._play(checked.source, checked, past.goal, _start_after(run_id, past, checked), control)

    def _tell_broken_off(self, run_id: str, past: PastRun, state: RunState) -> RunAnswer:
        self.folders.write_state(run_id, replace(state, told=True))
        call = one_line(past.call_in_doubt, _MAX_CALL)
        note = _IN_DOUBT.format(call=call) if call else _BROKEN_OFF
        return replace(run_answer(run_id, past, None, None, state.resumes), note=note)

    def _play(self, source: str, checked: Plan, goal: str, start: _Start, control: RunControl) -> RunAnswer:
        entries = start.entries | ({start.step: start.checkpoint} if start.checkpoint else {})
        state = RunState(resumes=start.resumes, entries=entries)
        run_id = self.folders.create(state)
        try:
            if start.resumes:
                self.folders.claim(start.resumes, run_id)
            if control.on_plan:
                control.on_plan(checked)
            return self._play_in(run_id, source, goal, state, start, control)
        except BaseException:
            if start.resumes and not self._has_started(run_id):
                self.folders.unclaim(start.resumes, run_id)
            raise
        finally:
            self.folders.release(run_id)

    def _play_in(
        self, run_id: str, source: str, goal: str, state: RunState, start: _Start, control: RunControl
    ) -> RunAnswer:
        method = FixedPlan(
            source,
            limits=self._settings.limits,
            allow_weak_sandbox=self._settings.allow_weak_sandbox,
            start_from=start.step,
            checkpoint=start.checkpoint,
            asks=False,
        )
        try:
            ending = self._episode(run_id, goal, method, control).ending
        except InfrastructureError:
            if not self._has_started(run_id):
                raise
            ending, state = None, replace(state, told=True)
        outcome = method.outcome if not isinstance(method.outcome, Rejected) else None
        if isinstance(outcome, Finished):
            state = replace(state, final=outcome.checkpoint)
        self.folders.write_state(run_id, state)
        past = read_past_run(self.folders.path(run_id), state, self._sandbox, self._api)
        return run_answer(run_id, past, outcome, ending or past.ending, start.resumes)

    def _episode(self, run_id: str, goal: str, method: FixedPlan, control: RunControl) -> Any:
        settings = self._settings
        env = ToolEnvironment(
            goal,
            self.toolset,
            approvals=self.approvals(control.approve),
            tool_errors=settings.tool_errors,
            loop=self._loop,
        )
        with closing(env):
            return run(
                env,
                method=method,
                model=_Client(),
                budget=settings.budget,
                out=self.folders.path(run_id),
                on_event=control.on_event,
            )

    def _has_started(self, run_id: str) -> bool:
        path = self.folders.path(run_id) / TRACE_NAME
        return path.exists() and any(isinstance(e, PlanStarted) for e in Trace.read(path))


class _Start(Value, frozen=True):
    """Where a run begins: at a step with variables, after another run whose earlier entries it keeps."""

    step: int = 1
    checkpoint: Checkpoint | None = None
    entries: dict[int, Checkpoint] = {}
    resumes: str | None = None


def _start_after(run_id: str, past: PastRun, plan: Plan) -> _Start:
    """Where the plan starts. Raises: UsageError: the run has done all of its steps, and would do them again."""
    attempt = past.attempt
    if step_after_all(attempt, plan):
        raise UsageError(
            f"the run {run_id} has done all steps of this plan; change or add a step, or make its calls again with "
            "run_plan"
        )
    states = attempt.entries | last_state(plan, attempt, "failure")
    step = find_resume_point(attempt.plan, plan, unfinished_step(attempt, plan), states)
    entries = {number: c for number, c in attempt.entries.items() if number < step}
    return _Start(step, states.get(step), entries, run_id)


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


def _code(text: str) -> str:
    """The code of a plan's text. Clients may send it as in a reply, in a fence; a fence within the code is none."""
    is_reply = "```" in text and not holds_code(text.partition("```")[0])
    return extract_code(text if is_reply else in_fence(text))
