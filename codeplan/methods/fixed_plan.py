"""A method without planning: it runs one given plan once, for ``codeplan exec`` and for tests of plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from codeplan.episode.episode import Episode
from codeplan.errors import CodeplanError
from codeplan.planning.plan_check import Fixes, check_plan
from codeplan.planning.plan_run import run_plan
from codeplan.planning.planner import Planner
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import PlanDrafted, PlanStarted
from codeplan.sandbox import Limits, Progress, Sandbox, StepEntry
from codeplan.sandbox.protocol.run_progress import LineCoverage
from codeplan.types import Failed, Finished, NotSolved, Outcome, Plan, Refused, Rejected, Result, Stopped, Task


class FixedPlan:
    """Checks and runs one plan. The model answers its ``ask_llm``. A ``Plan`` counts as checked.

    ``plan`` and ``outcome`` are None before the run. With ``pause_at``, the run is interrupted where that step begins,
    and resumed there from its checkpoint after ``on_pause`` has acted with the agent: the step is entered twice.
    """

    name = "exec"

    def __init__(
        self,
        source: str | Plan,
        *,
        limits: Limits | None = None,
        allow_weak_sandbox: bool = False,
        fixes: Fixes = "on",
        pause_at: int | None = None,
        on_pause: Callable[[Any], None] | None = None,
        on_coverage: Callable[[LineCoverage], None] | None = None,
    ) -> None:
        self.source = source if isinstance(source, str) else source.source
        self.plan = source if isinstance(source, Plan) else None
        self.sandbox = Sandbox(limits or Limits(), allow_weak=allow_weak_sandbox)
        self.outcome: Outcome | Rejected | None = None
        self._fixes: Fixes = fixes
        self._pause_at, self._on_pause, self._on_coverage = pause_at, on_pause, on_coverage

    def solve(self, task: Task, episode: Episode) -> Result:
        """Run the plan. A plan that is refused, fails or is stopped has a Result with that ending."""
        self.outcome = self._run(episode)
        return episode.result(_ending(self.outcome), self.name)

    def _run(self, episode: Episode) -> Outcome | Rejected:
        episode.record(PlanDrafted(number=1, origin="plan", source=self.source))
        plan = self.plan or check_plan(self.sandbox, episode, self.source, 1, self._fixes)
        if isinstance(plan, Rejected):
            return plan
        self.plan = plan
        agent, ask = episode.agent(), Planner(episode, Prompts.cached(None)).answer_question
        run = partial(run_plan, self.sandbox, episode, plan, agent, ask, on_coverage=self._on_coverage)
        episode.record(PlanStarted(number=1, start_from=1))
        try:
            return run(on_event=self._pause)
        except _PauseReached as pause:
            step, checkpoint = pause.entry.step, pause.entry.checkpoint
        if self._on_pause:
            self._on_pause(agent)
        episode.record(PlanStarted(number=1, start_from=step, restored=tuple(sorted(checkpoint.names))))
        return run(step, checkpoint)

    def _pause(self, progress: Progress) -> None:
        if isinstance(progress, StepEntry) and progress.step == self._pause_at:
            raise _PauseReached(progress)


class _PauseReached(CodeplanError):
    """The step to pause at begins."""

    def __init__(self, entry: StepEntry) -> None:
        super().__init__(f"the plan pauses at step {entry.step}")
        self.entry = entry


def _ending(outcome: Outcome | Rejected) -> Refused | NotSolved:
    match outcome:
        case Rejected():
            return Refused(f"the plan was refused: {outcome.diagnostics[0]}")
        case Failed():
            where = f"step {outcome.step}" if outcome.step else "a line outside the steps"
            return NotSolved(f"the plan failed at {where}: {outcome.error}: {outcome.message}")
        case Stopped():
            return NotSolved(f"the plan was stopped: {outcome.message}")
        case Finished():
            return NotSolved("the plan ran to its end, but the task is not done")
