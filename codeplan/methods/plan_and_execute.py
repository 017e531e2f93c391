"""Plan-and-Execute: one detailed plan with AND and OR at the start; the executor attempts its steps one by one.

A baseline of ADaPT's comparison (Prasad et al., 2024, section 4.2): the plan never changes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from codeplan.episode.episode import Episode
from codeplan.methods.registry import ExecutorSetting, PromptsSetting, resolve_executor
from codeplan.planning.asking import load_prompts
from codeplan.planning.decomposition import Decomposer, evaluate, judge_parts, make_subtask, progress_note
from codeplan.planning.shop_controller import solve_in_modules
from codeplan.plugins import Setting
from codeplan.types import Claimed, Ending, GaveUp, Refused, Result, Task


class PlanAndExecute:
    """Plan-and-Execute with any method as its executor."""

    name = "plan-and-execute"
    needs_space = True

    def __init__(
        self,
        *,
        executor: ExecutorSetting = "react",
        subtasks: Annotated[
            Literal["words", "webshop"], Setting("Sub-tasks in words, or WebShop's modules.", "safe")
        ] = "words",
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        self.executor = resolve_executor(self.name, executor)
        self.subtasks = subtasks
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Plan once, then execute steps until the plan's outcome is decided."""
        if self.subtasks == "webshop":
            return solve_in_modules(self, task, episode, "plan_and_execute", 2)
        plan = Decomposer(episode, self.prompts, "plan_and_execute").decompose(task)
        if plan is None:
            return episode.result(Refused("the plan was refused"), self.name, False)
        notes: list[str] = []
        done = evaluate(plan.order, lambda n: self._execute(make_subtask(task, plan.steps[n]), episode, notes))
        ending: Ending = Claimed("the plan was carried out") if done else GaveUp("a step of the plan failed")
        if done and not episode.is_subtask(task):
            ending = judge_parts(episode, ending)
        return episode.result(ending, self.name, done)

    def _execute(self, step: Task, episode: Episode, notes: list[str]) -> bool:
        """Whether a step succeeded. Afterwards ``notes`` hold what it passes on to the next step."""
        if episode.success or episode.is_over:
            return episode.success
        with episode.span("step", step.goal):
            result = self.executor.solve(step.with_notes(*notes), episode)
            if result.claim and not episode.is_over:
                notes[:] = filter(None, [progress_note(episode)])
            return episode.success or result.claim is True
