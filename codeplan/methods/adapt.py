"""ADaPT: attempt the task; decompose it only if the attempt fails, recursively (Prasad et al., 2024, section 3)."""

from __future__ import annotations

from typing import Annotated, Literal

from codeplan.episode.episode import Episode, actions_since_reset, require_fresh_world, rewind
from codeplan.methods.registry import ExecutorSetting, PromptsSetting, require_positive, resolve_executor
from codeplan.planning.asking import load_prompts
from codeplan.planning.decomposition import Decomposer, evaluate, judge_parts, make_subtask, progress_note
from codeplan.planning.shop_controller import solve_in_modules
from codeplan.plugins import Setting
from codeplan.types import Claimed, Ending, GaveUp, Result, Task


class Adapt:
    """ADaPT with any method as its executor.

    ``max_depth=1`` is the executor alone. ``first="plan"`` decomposes before the first attempt, as the original does in
    WebShop. ``subtasks="webshop"`` plans in WebShop's modules, never tries the whole task, and lets the executor buy.
    ``success="claim"`` believes the executor on the whole task, as in the paper; sub-tasks have only claims.
    """

    name = "adapt"
    needs_space = True

    def __init__(
        self,
        *,
        executor: ExecutorSetting = "react",
        max_depth: Annotated[
            int, Setting("Levels of sub-tasks at most; 1 is the executor alone.", "safe", most=20)
        ] = 3,
        first: Annotated[
            Literal["execute", "plan"], Setting("Begin with an attempt or with a plan.", "safe")
        ] = "execute",
        success: Annotated[Literal["claim", "environment"], Setting("Who judges the whole task.", "safe")] = "claim",
        rollback: Annotated[
            bool | None,
            Setting("Undo a failed attempt before the next; by default as the environment suggests.", "safe"),
        ] = None,
        subtasks: Annotated[
            Literal["words", "webshop"], Setting("Sub-tasks in words, or WebShop's modules.", "safe")
        ] = "words",
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, max_depth=max_depth)
        self.executor = resolve_executor(self.name, executor)
        self.max_depth, self.first, self.success, self.rollback = max_depth, first, success, rollback
        self.subtasks = subtasks
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Achieve the task, whole or in parts. The claim is the controller's own conclusion."""
        if self.rollback:
            require_fresh_world(episode, "adapt with rollback", "rollback=False")
        if self.subtasks == "webshop":
            return solve_in_modules(self, task, episode, "adapt", self.max_depth)
        controller = _Controller(self, episode)
        achieved = controller.achieve(task, 1)
        if not achieved:
            return episode.result(GaveUp("the task and its parts failed"), self.name, False)
        ending: Ending = Claimed("it holds the task for done")
        if controller.in_parts and not episode.is_subtask(task):
            ending = judge_parts(episode, ending)
        return episode.result(ending, self.name, True)


class _Controller:
    """The recursion for one episode.

    ``_kept_actions`` are the actions since the reset that belong to successful attempts; ``_note`` tells the next
    attempt what they achieved, and is outdated after each success.
    """

    def __init__(self, method: Adapt, episode: Episode) -> None:
        self.method, self.episode = method, episode
        self.planner = Decomposer(episode, method.prompts, "adapt")
        self._rollback = episode.action_space.rollback if method.rollback is None else method.rollback
        self._kept_actions = actions_since_reset(episode)
        self._note: str | None = None
        self._note_outdated = False
        self.in_parts = False
        """Whether the latest success is that of the task's parts, not of an attempt at the whole."""

    def achieve(self, task: Task, depth: int) -> bool:
        """Whether an attempt, or the parts of a plan, achieved the task. Starts nothing after the episode has ended."""
        if self._over:
            return self.episode.success
        self.episode.meter.note_depth(depth)
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
        self.in_parts = True
        return evaluate(plan.order, lambda n: self.achieve(make_subtask(task, plan.steps[n]), depth + 1))

    @property
    def _over(self) -> bool:
        return self.episode.success or self.episode.is_over

    # -------------------------------------------------------------- what one attempt passes on to the next

    @property
    def _notes(self) -> tuple[str, ...]:
        return () if self._note is None else (self._note,)

    def _prepare(self) -> None:
        """Before an attempt: undo failed attempts, and renew the note if something succeeded since the last one."""
        if self._rollback:
            rewind(self.episode, self._kept_actions)
        if self._note_outdated:
            self._note, self._note_outdated = progress_note(self.episode), False
            self._kept_actions = actions_since_reset(self.episode)
