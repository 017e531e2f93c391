"""Plan-and-Execute: one detailed plan up front, with AND and OR, and its steps to the executor one by one.

The baseline of ADaPT's comparison (Prasad et al., 2024, section 4.2): a plan that is not adapted to what happens.
"""

from __future__ import annotations

from pathlib import Path

from codeplan.episode.episode import Episode
from codeplan.methods.registry import ExecutorSpec
from codeplan.methods.registry import resolve_executor as method
from codeplan.planning.decomposition import Decomposer, make_subtask, progress_note
from codeplan.planning.prompting import load_prompts
from codeplan.planning.subtasks import evaluate
from codeplan.types.ending import Claimed, GaveUp, Refused
from codeplan.types.result import Result
from codeplan.types.task import Task


class PlanAndExecute:
    """The method, over any other as its ``executor``; ``prompts`` is a folder whose templates win over codeplan's."""

    name = "plan-and-execute"

    def __init__(self, *, executor: ExecutorSpec = "react", prompts: str | Path | None = None) -> None:
        """Raises UsageError for a value that does not fit."""
        self.executor = method(self.name, executor)
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Plan once, then have every step executed until the plan's outcome is decided."""
        plan = Decomposer(episode, self.prompts, "plan_and_execute/plan").decompose(task)
        if plan is None:
            return episode.result(Refused("the plan was refused"), self.name, False)
        notes: list[str] = []
        done = evaluate(plan.order, lambda n: self._execute(make_subtask(task, plan.steps[n]), episode, notes))
        ending = Claimed("the plan was carried out") if done else GaveUp("a step of the plan failed")
        return episode.result(ending, self.name, done)

    def _execute(self, step: Task, episode: Episode, notes: list[str]) -> bool:
        """Whether a step succeeded; what it leaves behind is then the note for the next one."""
        if episode.success or episode.observation.done:
            return episode.success
        with episode.span("step", step.goal):
            result = self.executor.solve(make_subtask(step, step.goal, *notes), episode)
            if result.claim and not episode.observation.done:
                notes[:] = filter(None, [progress_note(episode)])
            return episode.success or result.claim is True
