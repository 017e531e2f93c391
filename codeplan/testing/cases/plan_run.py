"""One plan, run once against one task: whole, or broken off at a step's entry and resumed from its checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from codeplan.agent_api import agent_api
from codeplan.episode.agent import agent_class
from codeplan.episode.episode import Episode
from codeplan.errors import CodeplanError
from codeplan.planning.plan_run import run_plan
from codeplan.planning.planner import Planner
from codeplan.prompts.templates import Prompts
from codeplan.protocols import LLM, Environment
from codeplan.recording.events import (
    ActionTaken,
    Event,
    ModelCalled,
    PlanDrafted,
    PlanRejected,
    PlanStarted,
    StepEntered,
)
from codeplan.runner.live import run
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.sandbox.limits import Limits
from codeplan.sandbox.protocol.progress import LineCoverage, Progress
from codeplan.sandbox.protocol.progress import StepEntry as Entered
from codeplan.testing.cases.endings import describe_ending
from codeplan.types.agent import AgentApi
from codeplan.types.plan import Checkpoint, Plan, Rejected
from codeplan.types.result import Result
from codeplan.types.run import Failed, Finished, Outcome, Stopped
from codeplan.types.task import Task

CoverageCallback = Callable[[LineCoverage], None]
"""Hears which lines of the plan ran."""

PauseAction = Callable[[Any], None]
"""What is done with the plan's agent while the plan is broken off."""


class PlanRun(msgspec.Struct, frozen=True):
    """What a plan did. ``outcome`` is the sandbox's word on how the plan ended, None where a budget cut it off.

    ``plan`` is the plan as it was checked, None where it was refused; ``events`` are the episode's, in order.
    """

    source: str
    plan: Plan | None
    outcome: Outcome | Rejected | None
    result: Result
    events: tuple[Event, ...]

    @property
    def success(self) -> bool:
        """The environment's word."""
        return self.result.success

    @property
    def task(self) -> Task:
        """The task of the episode."""
        return self.result.task

    @property
    def action_events(self) -> tuple[ActionTaken, ...]:
        """What was done in the world, and what it answered."""
        return tuple(e for e in self.events if isinstance(e, ActionTaken))

    @property
    def question_events(self) -> tuple[ModelCalled, ...]:
        """What the plan asked, and what it was answered."""
        return tuple(e for e in self.events if isinstance(e, ModelCalled))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that were entered, in order."""
        return tuple(e.step for e in self.events if isinstance(e, StepEntered))

    @property
    def failed_assertion(self) -> Failed | None:
        """The failed assertion that the plan ended with; None where it ended otherwise."""
        return self.outcome if isinstance(self.outcome, Failed) and self.outcome.error == "AssertionError" else None

    @property
    def ending(self) -> str:
        """How the plan ended, as half a sentence."""
        return "the plan succeeded" if self.success else describe_ending(self.outcome)

    def __repr__(self) -> str:
        return f"PlanRun({self.task.id}: {self.ending})"

    def step_of(self, event: Event) -> int | None:
        """The step in which something happened; None before the first."""
        entered = [e.step for e in self.events if isinstance(e, StepEntered) and e.seq < event.seq]
        return entered[-1] if entered else None


def run_once(
    source: str | Plan,
    env: Environment,
    task: Task,
    model: LLM,
    *,
    limits: Limits | None = None,
    pause_at: int | None = None,
    meanwhile: PauseAction | None = None,
    cover: CoverageCallback | None = None,
) -> PlanRun:
    """Check a plan (a Plan counts as checked) and run it once.

    With ``pause_at`` the run is broken off where that step begins, and goes on from the checkpoint taken there, in the
    same world, after what is to be done ``meanwhile``: the step is then entered twice. Raises as ``codeplan.run`` does.
    """
    events: list[Event] = []
    trial = _TestMethod(source, _PausingSandbox(limits or Limits(), cover, pause_at), meanwhile or (lambda agent: None))
    result = run(env, task, trial, model, on_event=events.append)
    return PlanRun(
        source if isinstance(source, str) else source.source, trial.plan, trial.outcome, result, tuple(events)
    )


@lru_cache(maxsize=256)
def _check_cached(source: str, api: _ApiKey, limits: Limits) -> Plan | Rejected:
    return Sandbox(limits).check(source, api.api)


class _ApiKey:
    """An agent's API as the key of a cache: two are the same where all of their text is."""

    def __init__(self, agent: type) -> None:
        self.api: AgentApi = agent_api(agent)
        self._text = msgspec.json.encode(self.api)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ApiKey) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


_api_key = lru_cache(maxsize=32)(_ApiKey)


def check_plan(source: str, env: Environment, limits: Limits | None = None) -> Plan | Rejected:
    """Check a plan for an environment's agent. The same text is checked once in a process."""
    return _check_cached(source, _api_key(agent_class(env)), limits or Limits())


class _PauseReached(CodeplanError):
    """The step to pause at begins."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__("the run is broken off here, to be resumed")
        self.checkpoint = checkpoint


class _PausingSandbox(Sandbox):
    """A sandbox that tells which lines ran, and breaks a run off where a step begins."""

    def __init__(self, limits: Limits, cover: CoverageCallback | None, pause_at: int | None) -> None:
        super().__init__(limits)
        self._cover, self.pause_at = cover, pause_at

    def run(
        self,
        plan: Plan | str,
        agent: object,
        ask: Callable[[str], str],
        start_from: int = 1,
        checkpoint: Checkpoint | None = None,
        *,
        on_event: Callable[[Progress], None] | None = None,
        seed: int = 0,
        on_coverage: CoverageCallback | None = None,
    ) -> Finished | Failed | Stopped | Rejected:
        def hear(progress: Progress) -> None:
            if on_event:
                on_event(progress)
            if isinstance(progress, Entered) and progress.step == self.pause_at:
                self.pause_at = None
                raise _PauseReached(progress.checkpoint)

        covered = on_coverage or self._cover
        return super().run(plan, agent, ask, start_from, checkpoint, on_event=hear, seed=seed, on_coverage=covered)


class _TestMethod:
    """The method that runs one plan, once, and keeps how it ended."""

    name = "test"

    def __init__(self, source: str | Plan, sandbox: _PausingSandbox, meanwhile: PauseAction) -> None:
        self._source, self._sandbox, self._meanwhile = source, sandbox, meanwhile
        self.plan: Plan | None = None
        self.outcome: Outcome | Rejected | None = None

    def solve(self, task: Task, episode: Episode) -> Result:
        source = self._source
        text = source if isinstance(source, str) else source.source
        episode.record(PlanDrafted(number=1, origin="plan", source=text))
        checked = check_plan(source, episode.env, self._sandbox.limits) if isinstance(source, str) else source
        if isinstance(checked, Rejected):
            self.outcome = checked
            episode.record(PlanRejected(number=1, diagnostics=checked.diagnostics))
            return episode.result("the plan was refused", self.name)
        self.plan = checked
        self.outcome = self._run(episode, checked)
        return episode.result("the plan ended without success", self.name)

    def _run(self, episode: Episode, plan: Plan) -> Outcome:
        agent, ask = episode.agent(), Planner(episode, Prompts.cached(None)).answer_question
        episode.record(PlanStarted(number=1, start_from=1))
        pause = self._sandbox.pause_at or 1
        try:
            return run_plan(self._sandbox, episode, plan, agent, ask)
        except _PauseReached as paused:
            self._meanwhile(agent)
            names = tuple(sorted(paused.checkpoint.names))
            episode.record(PlanStarted(number=1, start_from=pause, restored=names))
            return run_plan(self._sandbox, episode, plan, agent, ask, pause, paused.checkpoint)


def run_with_agent(
    source: str, agent: Any, model: LLM, *, limits: Limits | None = None
) -> Finished | Failed | Stopped | Rejected:
    """Check a plan and run it with an agent that has no world behind it, such as a fake one."""
    sandbox = Sandbox(limits or Limits())
    plan = _check_cached(source, _api_key(agent.__class__), sandbox.limits)
    if isinstance(plan, Rejected):
        return plan

    def ask(question: str) -> str:
        return model.complete([{"role": "user", "content": question}], purpose="ask").text

    return sandbox.run(plan, agent, ask)
