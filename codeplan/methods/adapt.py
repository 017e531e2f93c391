"""ADaPT: the executor first; a plan in sub-tasks only where it fails, and so on downwards (Prasad et al., 2024).

A plan is made as needed, so a task is taken apart just as far as its executor is weak (section 3).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from codeplan.episode.episode import Episode
from codeplan.episode.rewind import actions_since_reset, rewind
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSpec
from codeplan.methods.registry import resolve_executor as method
from codeplan.planning.decomposition import Decomposer, make_subtask, progress_note
from codeplan.planning.prompting import load_prompts
from codeplan.planning.subtasks import evaluate
from codeplan.types.ending import Claimed, GaveUp
from codeplan.types.result import Result
from codeplan.types.task import Task


class Adapt:
    """The method, over any other as its executor.

    ``max_depth`` is how deep tasks are taken apart: 1 is the executor alone. ``first="plan"`` begins with a plan, not
    with an attempt at the whole task (as the original does in WebShop). ``success`` says whose word on the episode's
    own task the controller goes by: the executor's claim, as in the paper, or the environment's; of sub-tasks there is
    only the claim. ``rollback`` undoes what a failed attempt did before the next, None as the environment suggests.
    ``prompts`` is a folder whose templates win over codeplan's own.
    """

    name = "adapt"

    def __init__(
        self,
        *,
        executor: ExecutorSpec = "react",
        max_depth: int = 3,
        first: Literal["execute", "plan"] = "execute",
        success: Literal["claim", "environment"] = "claim",
        rollback: bool | None = None,
        prompts: str | Path | None = None,
    ) -> None:
        """Raises UsageError for a value that does not fit."""
        if max_depth < 1:
            raise UsageError(f"the setting max_depth of the method adapt is {max_depth}; give a whole number from 1 up")
        self.executor = method(self.name, executor)
        self.max_depth, self.first, self.success, self.rollback = max_depth, first, success, rollback
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Achieve the task, in parts where need be; the claim is the controller's own conclusion."""
        achieved = _Controller(self, episode).achieve(task, 1)
        ending = Claimed("it holds the task for done") if achieved else GaveUp("the task and its parts failed")
        return episode.result(ending, self.name, achieved)


class _Controller:
    """One episode's descent. ``_safe`` are the actions of all that succeeded; ``_note`` is what is passed on of it."""

    def __init__(self, method: Adapt, episode: Episode) -> None:
        self.method, self.episode = method, episode
        self.planner = Decomposer(episode, method.prompts, "adapt/plan")
        self._rollback = episode.action_space.rollback if method.rollback is None else method.rollback
        self._kept_actions = actions_since_reset(episode)
        self._note: str | None = None
        self._note_outdated = False

    def achieve(self, task: Task, depth: int) -> bool:
        """Whether the task was achieved, by an attempt or by the parts of a plan. Nothing is begun after the end."""
        if self._over:
            return self.episode.success
        with self.episode.span("sub-task", f"{task.goal} (depth {depth})"):
            if (depth > 1 or self.method.first == "execute") and self._attempt(task, depth):
                return True
            if self._over or depth >= self.method.max_depth:
                return self.episode.success
            return self._decompose(task, depth)

    def _attempt(self, task: Task, depth: int) -> bool:
        self._prepare()
        result = self.method.executor.solve(make_subtask(task, task.goal, *self._notes), self.episode)
        believed = result.claim is True and (depth > 1 or self.method.success == "claim")
        if not (believed or self.episode.success):
            return False
        self._kept_actions, self._note_outdated = actions_since_reset(self.episode), True
        return True

    def _decompose(self, task: Task, depth: int) -> bool:
        plan = self.planner.decompose(task, self._notes)
        if plan is None:
            return False
        return evaluate(plan.order, lambda n: self.achieve(make_subtask(task, plan.steps[n]), depth + 1))

    @property
    def _over(self) -> bool:
        return self.episode.success or self.episode.observation.done

    # -------------------------------------------------------------- what is passed on

    @property
    def _notes(self) -> tuple[str, ...]:
        return () if self._note is None else (self._note,)

    def _prepare(self) -> None:
        """Before an attempt: undo what failed, and take over what succeeded since the last time, and only that."""
        if self._rollback:
            rewind(self.episode, self._kept_actions)
        if self._note_outdated:
            self._note, self._note_outdated = progress_note(self.episode), False
            self._kept_actions = actions_since_reset(self.episode)
