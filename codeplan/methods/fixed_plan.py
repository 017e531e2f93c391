"""No planning at all: a plan that is given runs once, as ``codeplan exec`` and tests of plans want it."""

from __future__ import annotations

from codeplan.episode.episode import Episode
from codeplan.planning.plan_run import run_plan
from codeplan.planning.planner import Planner
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import PlanDrafted, PlanRejected, PlanStarted
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.sandbox.limits import Limits
from codeplan.types.ending import NotSolved, Refused
from codeplan.types.plan import Rejected
from codeplan.types.result import Result
from codeplan.types.run import Failed, Finished, Outcome, Stopped
from codeplan.types.task import Task


class FixedPlan:
    """Checks and runs one plan and keeps its ``outcome`` (None before it ran). The model answers its ``ask_llm``."""

    name = "exec"

    def __init__(self, source: str, *, limits: Limits | None = None, allow_weak_sandbox: bool = False) -> None:
        self.source = source
        self.sandbox = Sandbox(limits or Limits(), allow_weak=allow_weak_sandbox)
        self.outcome: Outcome | Rejected | None = None

    def solve(self, task: Task, episode: Episode) -> Result:
        """Run the plan; a plan that is refused, fails or is stopped is a Result that says so."""
        self.outcome = self._run(episode)
        return episode.result(_ending(self.outcome), self.name)

    def _run(self, episode: Episode) -> Outcome | Rejected:
        episode.record(PlanDrafted(number=1, origin="plan", source=self.source))
        plan = self.sandbox.check(self.source, episode.api)
        if isinstance(plan, Rejected):
            episode.record(PlanRejected(number=1, diagnostics=plan.diagnostics))
            return plan
        episode.record(PlanStarted(number=1, start_from=1))
        return run_plan(
            self.sandbox, episode, plan, episode.agent(), Planner(episode, Prompts.cached(None)).answer_question
        )


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
