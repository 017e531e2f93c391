"""Runs one plan once on one task: whole, or interrupted at a step's entry and resumed from its checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from codeplan.agent_interface import agent_api
from codeplan.episode.episode import agent_class
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.planning.outcomes import words_for_test
from codeplan.protocols import LLM, BaseEnvironment
from codeplan.recording.events import AnsweredCall, Event, ModelCalled, StepEntered, ValueJudged, answered_calls
from codeplan.recording.trace import EventsOnly
from codeplan.runner.episodes import run
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host.backend import LineCoverage
from codeplan.types import AgentApi, Failed, Finished, Outcome, Plan, Rejected, Result, Task
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import shown_call

_MAX_VERDICT = 700
"""Maximum length of a verdict on the plan's value, in characters."""

CoverageCallback = Callable[[LineCoverage], None]
"""Receives the lines of the plan that run."""


class PlanRun(msgspec.Struct, frozen=True):
    """One run of a plan. ``outcome`` is the sandbox's, None if a spent budget ended the plan.

    ``plan`` is the checked plan, None if it was refused; ``events`` are the episode's, in order.
    """

    source: str
    plan: Plan | None
    outcome: Outcome | Rejected | None
    result: Result
    events: tuple[Event, ...]

    @property
    def success(self) -> bool:
        """Whether the environment judged the task solved."""
        return self.result.success

    @property
    def task(self) -> Task:
        """The task of the episode."""
        return self.result.task

    @property
    def action_events(self) -> tuple[AnsweredCall, ...]:
        """The actions, or the calls of tools, with the events of their answers."""
        return tuple(answered_calls(self.events))

    @property
    def actions(self) -> tuple[str, ...]:
        """The words of the actions."""
        return tuple(shown_call(each.call) for each in self.action_events)

    @property
    def question_events(self) -> tuple[ModelCalled, ...]:
        """The plan's questions with their answers."""
        return tuple(e for e in self.events if isinstance(e, ModelCalled))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that were entered, in order."""
        return tuple(e.step for e in self.events if isinstance(e, StepEntered))

    @property
    def failed_assertion(self) -> Failed | None:
        """The failed assertion that ended the plan, or None."""
        return self.outcome if isinstance(self.outcome, Failed) and self.outcome.error == "AssertionError" else None

    @property
    def ending(self) -> str:
        """How the plan ended, as half a sentence."""
        if self.success:
            return "the plan succeeded"
        verdicts = [e.verdict.text for e in self.events if isinstance(e, ValueJudged) and e.verdict]
        why = f": {one_line(verdicts[-1], _MAX_VERDICT)}" if verdicts and isinstance(self.outcome, Finished) else ""
        return (words_for_test(self.outcome) if self.outcome else "a budget limit ended the plan") + why

    def __repr__(self) -> str:
        return f"PlanRun({self.task.id}: {self.ending})"

    def step_of(self, event: Event) -> int | None:
        """Return the step in which an event happened; None before the first."""
        entered = [e.step for e in self.events if isinstance(e, StepEntered) and e.seq < event.seq]
        return entered[-1] if entered else None


def run_once(
    source: str | Plan,
    env: BaseEnvironment,
    task: Task,
    model: LLM,
    *,
    limits: Limits | None = None,
    pause_at: int | None = None,
    on_pause: Callable[[Any], None] | None = None,
    on_coverage: CoverageCallback | None = None,
) -> PlanRun:
    """Check a plan (a Plan counts as checked) and run it once.

    With ``pause_at``, the run is interrupted where that step begins, and resumed there in the same environment after
    ``on_pause`` has acted with the agent: the step is entered twice. Raises as ``codeplan.run`` does.
    """
    events: list[Event] = []
    checked = check_plan(source, env, limits) if isinstance(source, str) else source
    plan = checked if isinstance(checked, Plan) else checked.source
    method = FixedPlan(plan, limits=limits, pause_at=pause_at, on_pause=on_pause, on_coverage=on_coverage)
    result = run(env, task, method, model, on_event=EventsOnly(events.append))
    source = source if isinstance(source, str) else source.source
    return PlanRun(source, method.plan, method.outcome, result, tuple(events))


@lru_cache(maxsize=256)
def _check_cached(source: str, api: AgentApi, limits: Limits) -> Plan | Rejected:
    return Sandbox(limits).check(source, api)


def check_plan(source: str, env: BaseEnvironment, limits: Limits | None = None) -> Plan | Rejected:
    """Check a plan for an environment's agent. Each text is checked once in a process."""
    return _check_cached(source, agent_api(agent_class(env)), limits or Limits())


def run_with_agent(source: str, agent: Any, model: LLM, *, limits: Limits | None = None) -> Outcome | Rejected:
    """Check a plan and run it with an agent without an environment, such as a fake one."""
    sandbox = Sandbox(limits or Limits())
    plan = _check_cached(source, agent_api(agent.__class__), sandbox.limits)
    if isinstance(plan, Rejected):
        return plan

    def ask(question: str) -> str:
        return model.complete([{"role": "user", "content": question}], purpose="ask").text

    return sandbox.run(plan, agent, ask)
