"""TextCraft: items of Minecraft, crafted two to four recipes deep from what can be got, among commands that mislead.

    get 1 oak logs        craft 4 oak planks using 1 oak logs        inventory

The tasks, rules and sentences are those of TextCraft (Prasad et al., ADaPT, 2024). It needs nothing but Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codeplan.envs.textcraft import engine
from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.commands import Lists, drawn_commands, read_recorded, recorded_lists
from codeplan.envs.textcraft.recipes import book
from codeplan.envs.textcraft.tasks import NAME, all_tasks, by_id, goal_of
from codeplan.envs.textcraft.walkthrough import walkthrough
from codeplan.errors import UsageError
from codeplan.types import ActionSpace, Observation, Task, Value


def make(*, exact: bool = False, recorded: str | None = None, actions: int = 60) -> TextCraft:
    """Build TextCraft.

    ``exact`` shows each task with the commands, in the order, that it was recorded with, where they are known: those of
    half the test tasks come with codeplan, and ``recorded`` names a file of more (JSON lines with ``seed`` and
    ``commands``). ``actions`` is how many actions an episode has: twice what the longest task needs, and some, where
    the original sets no limit. Raises UsageError for a value that does not fit.
    """
    return TextCraft(exact=exact, recorded=recorded, actions=actions)


class Moment(Value, frozen=True):
    """Where an episode stands: all that is needed to go on from there. Kept by reference, never copied."""

    inventory: Mapping[str, int] = {}
    actions: int = 0
    done: bool = False
    success: bool = False


class TextCraft:
    """TextCraft as an Environment. A task's id is its depth and its seed: ``depth3/17``; the seed alone tells the goal.

    ``kinds`` are the depths: how many crafts deep a goal is at least.
    """

    name: str = NAME
    agent: type = TextCraftAgent
    kinds: tuple[str, ...] = ("depth2", "depth3", "depth4")
    space: ActionSpace = ActionSpace(
        forms=("get COUNT ITEM", "craft COUNT ITEM using COUNT INGREDIENT, COUNT INGREDIENT", "inventory"),
        futile=("Could not",),
        calls=39,
        patience=8,
        status="inventory",
    )

    def __init__(self, *, exact: bool = False, recorded: str | None = None, actions: int = 60) -> None:
        """Raises UsageError for a number of actions below 1, or a file of recorded tasks that cannot be used."""
        if isinstance(actions, bool) or not isinstance(actions, int) or actions < 1:
            raise UsageError(f"TextCraft's setting actions is {actions!r}; give a whole number from 1 up")
        if recorded is not None and not exact:
            raise UsageError("TextCraft's setting recorded is read with exact=True only; give both, or neither")
        self._recorded: Lists | None = None
        if exact:
            self._recorded = recorded_lists() | (read_recorded(recorded) if recorded is not None else {})
        self._actions = actions
        self._goal = ""
        self._now: Moment | None = None

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (200, the seeds 0 to 199), ``dev`` (50) or ``train`` (147), by seed."""
        return all_tasks(split)

    def depth(self, task: Task) -> int:
        """How many crafts deep the goal of a task is at least: 2, 3 or 4. Raises what ``reset`` does."""
        return book().depth(goal_of(by_id(task)))

    def commands(self, task: Task) -> tuple[str, ...]:
        """The crafting commands that a task begins with. Raises what ``reset`` does."""
        known = by_id(task)
        if self._recorded is None:
            return drawn_commands(book(), goal_of(known), known.seed)
        if known.seed not in self._recorded:
            raise UsageError(
                f"no list of commands is known to be recorded for the task {known.id}; "
                "name a file that has it by the setting recorded, or leave exact out"
            )
        return self._recorded[known.seed]

    def walkthrough(self, task: Task) -> tuple[str, ...]:
        """Actions that win a task. Raises what ``reset`` does."""
        return walkthrough(goal_of(by_id(task)))

    def reset(self, task: Task) -> Observation:
        """Begin a task. What counts is its id or, where that is not one of TextCraft's, its kind and seed.

        Raises UsageError for a task that TextCraft does not know or, with ``exact``, whose commands were not recorded.
        """
        known = by_id(task)
        commands = "\n".join(self.commands(known))
        self._goal, self._now = goal_of(known), Moment()
        return Observation(f"Crafting commands:\n{commands}\n\nGoal: {known.goal}.")

    def step(self, action: str) -> Observation:
        """Do one action; one that cannot be done is answered with the reason, and counts.

        Crafting the goal ends the episode with the reward 1; so does, without it, the last action allowed. After the
        end every action is answered ``The episode is over.`` Raises UsageError before the first ``reset``.
        """
        now = self.snapshot()
        if now.done:
            return Observation("The episode is over.", done=True, success=now.success)
        inventory, answer, crafted = engine.act(book(), now.inventory, action)
        won = crafted == self._goal
        self._now = Moment(inventory, now.actions + 1, won or now.actions + 1 >= self._actions, won)
        return Observation(answer, reward=float(won), done=self._now.done, success=won)

    def snapshot(self) -> Moment:
        """Where the episode stands, for ``restore``. Costs nothing. Raises UsageError before the first ``reset``."""
        if self._now is None:
            raise UsageError("TextCraft has no task yet; call reset(task) first")
        return self._now

    def restore(self, moment: Moment) -> None:
        """Go on from a snapshot of the same task. Raises UsageError before the first ``reset``."""
        self.snapshot()
        self._now = moment

    def close(self) -> None:
        """End the episode."""
        self._now = None
