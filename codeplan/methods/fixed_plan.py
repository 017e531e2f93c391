"""A method without planning: it runs one given plan once, for ``codeplan exec`` and for tests of plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from msgspec.structs import replace

from codeplan import plugins
from codeplan.episode.episode import Episode
from codeplan.errors import CodeplanError, UsageError
from codeplan.planning.outcomes import ending_of_single_run
from codeplan.planning.plan_run import (
    SandboxSettings,
    begin_plan,
    check_plan,
    ending_of_value,
    record_check,
    record_notices,
    run_plan,
)
from codeplan.planning.planner import Planner
from codeplan.plugins import Setting
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import ChosenSkill, PlanDrafted, SkillsChosen
from codeplan.sandbox import Progress, Sandbox, StepEntry
from codeplan.sandbox.host.backend import LineCoverage
from codeplan.skills.selection import expect_answers, recorded_answers
from codeplan.skills.skill import Skill
from codeplan.types import AgentApi, Checkpoint, Outcome, Plan, Rejected, Result, Task

MAX_START_FROM = 100_000
"""The highest step number that a plan can start from. Every plan has fewer steps."""


class FixedPlanSettings(SandboxSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a run of a given plan."""

    strict: Annotated[bool, Setting("Whether a plan with warnings is refused.", "safe")] = False
    start_from: Annotated[int, Setting("The step to start from.", "safe", most=MAX_START_FROM)] = 1


class FixedPlan:
    """Checks and runs one plan. The model answers its ``ask_llm``. A ``Plan`` counts as checked.

    The plan starts with the variables of ``checkpoint`` (None: with none). ``plan`` and ``outcome`` are None before the
    run. The ``sandbox`` that checked a plan has its compiled code; None makes one with the other settings. If it is
    that of a ``skill``, it ends where a tool answers otherwise than when the skill was proven. ``given`` are fields of
    FixedPlanSettings.

    With ``pause_at``, the run is interrupted where that step begins,
    and resumed there from its checkpoint after ``on_pause`` has acted with the agent: the step is entered twice.

    Raises: UsageError: a setting is unknown, or its value does not fit.
    """

    name = "exec"
    settings_type = FixedPlanSettings

    def __init__(
        self,
        source: str | Plan,
        *,
        checkpoint: Checkpoint | None = None,
        skill: Skill | None = None,
        pause_at: int | None = None,
        on_pause: Callable[[Any], None] | None = None,
        on_coverage: Callable[[LineCoverage], None] | None = None,
        sandbox: Sandbox | None = None,
        **given: Any,
    ) -> None:
        self.source = source if isinstance(source, str) else source.source
        self.plan = source if isinstance(source, Plan) else None
        self._own: FixedPlanSettings = plugins.build(FixedPlanSettings, given, "the method exec")
        self.sandbox = sandbox or self._own.make_sandbox()
        self.outcome: Outcome | Rejected | None = None
        self._checkpoint, self._skill = checkpoint, skill
        self._pause_at, self._on_pause, self._on_coverage = pause_at, on_pause, on_coverage

    @property
    def settings(self) -> dict[str, Any]:
        """The safe settings that differ from their defaults, for the trace's header. The trace has the checkpoint."""
        given: dict[str, Any] = {"fixes": self._own.fixes} if self._own.fixes != "on" else {}
        given |= {"strict": True} if self._own.strict else {}
        given |= {} if self._own.asks else {"asks": False}
        given |= {"imports": ",".join(self.sandbox.imports)} if self.sandbox.imports else {}
        return given | ({"start_from": self._own.start_from} if self._starts_later else {})

    def require_start(self, api: AgentApi) -> None:
        """Check that the plan has the step to start from. A plan that the check refuses passes here: its run says why.

        Raises: UsageError: it has no such step.
        """
        if self._starts_later:
            plan = self.plan or self.sandbox.check(self.source, api, fixes=self._own.fixes == "on", kept=self._kept)
            if isinstance(plan, Plan):
                self._require_step(plan)

    @property
    def _kept(self) -> tuple[str, ...]:
        return tuple(self._checkpoint.names) if self._checkpoint else ()

    @property
    def _starts_later(self) -> bool:
        return self._own.start_from != 1 or self._checkpoint is not None

    def _require_step(self, plan: Plan) -> None:
        if self._starts_later and plan.step(self._own.start_from) is None:
            steps = f"its steps are 1 to {plan.steps[-1].number}" if plan.steps else "it has no steps"
            raise UsageError(f"the plan cannot start from step {self._own.start_from}: {steps}")

    def solve(self, task: Task, episode: Episode) -> Result:
        """Run the plan. A plan that is refused, fails or is stopped has a Result with that ending."""
        record_notices(self.sandbox, episode)
        if chosen := episode.trace.peek_recorded(SkillsChosen) or self._chosen():
            episode.record(chosen)
            expect_answers(episode, chosen.answers)
        self.outcome = self._run(episode)
        claimed = None if isinstance(self.outcome, Rejected) else ending_of_value(episode, self.outcome)
        return episode.result(claimed or ending_of_single_run(self.outcome), self.name)

    def _chosen(self) -> SkillsChosen | None:
        if (skill := self._skill) is None:
            return None
        chosen = ChosenSkill(skill.name, skill.version, skill.score, skill.plan)
        return SkillsChosen(purpose="reuse", chosen=(chosen,), bound=self.source, answers=recorded_answers(skill))

    def _run(self, episode: Episode) -> Outcome | Rejected:
        episode.record(PlanDrafted(number=1, origin="plan", source=self.source))
        plan: Plan | Rejected
        if self.plan is None:
            plan = check_plan(
                self.sandbox, episode, self.source, 1, self._own.fixes, strict=self._own.strict, kept=self._kept
            )
        else:
            plan = self.plan
            record_check(episode, replace(plan, fixes=()), 1)  # its text is the mended one
        if isinstance(plan, Rejected):
            return plan
        self._require_step(plan)
        self.plan = plan
        agent, ask = episode.agent(), Planner(episode, Prompts.cached(None), self.sandbox).answer_question
        run = partial(run_plan, self.sandbox, episode, plan, agent, ask, on_coverage=self._on_coverage)
        begin_plan(self.sandbox, episode, 1, plan, self._own.start_from, self._checkpoint, from_outside=True)
        try:
            return run(self._own.start_from, self._checkpoint, on_event=self._pause)
        except _PauseReached as pause:
            step, checkpoint = pause.entry.step, pause.entry.checkpoint
        if self._on_pause:
            self._on_pause(agent)
        begin_plan(self.sandbox, episode, 1, plan, step, checkpoint)
        return run(step, checkpoint)

    def _pause(self, progress: Progress) -> None:
        if isinstance(progress, StepEntry) and progress.step == self._pause_at:
            raise _PauseReached(progress)


class _PauseReached(CodeplanError):
    """The step to pause at begins."""

    def __init__(self, entry: StepEntry) -> None:
        super().__init__(f"the plan pauses at step {entry.step}")
        self.entry = entry
