"""TextCraft: items of Minecraft, crafted two to four recipes deep from what can be got, among commands that mislead.

    get 1 oak logs        craft 4 oak planks using 1 oak logs        inventory

The tasks, rules and sentences are those of TextCraft (Prasad et al., ADaPT, 2024). It needs nothing but Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codeplan.envs.textcraft import engine
from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.commands import CommandLists, bundled_command_lists, draw_commands, read_command_lists
from codeplan.envs.textcraft.recipes import recipe_book
from codeplan.envs.textcraft.tasks import NAME, find_task, goal_item, tasks_in_split
from codeplan.envs.textcraft.walkthrough import find_walkthrough
from codeplan.errors import UsageError
from codeplan.types.task import ActionSpace, Observation, Task
from codeplan.types.value import Value


def make(*, exact: bool = False, recorded: str | None = None, actions: int = 60) -> TextCraft:
    """Build TextCraft.

    ``exact`` shows each task with the commands, in the order, that it was recorded with, where they are known: those of
    half the test tasks come with codeplan, and ``recorded`` names a file of more (JSON lines with ``seed`` and
    ``commands``). ``actions`` is how many actions an episode has: twice what the longest task needs, and some, where
    the original sets no limit. Raises UsageError for a value that does not fit.
    """
    return TextCraft(exact=exact, recorded=recorded, actions=actions)


class TextCraftSnapshot(Value, frozen=True):
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
        no_effect_prefixes=("Could not",),
        calls=39,
        max_idle_turns=8,
        status="inventory",
    )

    def __init__(self, *, exact: bool = False, recorded: str | None = None, actions: int = 60) -> None:
        """Raises UsageError for a number of actions below 1, or a file of recorded tasks that cannot be used."""
        if isinstance(actions, bool) or not isinstance(actions, int) or actions < 1:
            raise UsageError(f"TextCraft's setting actions is {actions!r}; give a whole number from 1 up")
        if recorded is not None and not exact:
            raise UsageError("TextCraft's setting recorded is read with exact=True only; give both, or neither")
        self._recorded: CommandLists | None = None
        if exact:
            self._recorded = bundled_command_lists() | (read_command_lists(recorded) if recorded is not None else {})
        self._actions = actions
        self._goal = ""
        self._snapshot: TextCraftSnapshot | None = None

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (200, the seeds 0 to 199), ``dev`` (50) or ``train`` (147), by seed."""
        return tasks_in_split(split)

    def depth(self, task: Task) -> int:
        """How many crafts deep the goal of a task is at least: 2, 3 or 4. Raises what ``reset`` does."""
        return recipe_book().depth(goal_item(find_task(task)))

    def commands(self, task: Task) -> tuple[str, ...]:
        """The crafting commands that a task begins with. Raises what ``reset`` does."""
        known = find_task(task)
        if self._recorded is None:
            return draw_commands(recipe_book(), goal_item(known), known.seed)
        if known.seed not in self._recorded:
            raise UsageError(
                f"no list of commands is known to be recorded for the task {known.id}; "
                "name a file that has it by the setting recorded, or leave exact out"
            )
        return self._recorded[known.seed]

    def walkthrough(self, task: Task) -> tuple[str, ...]:
        """Actions that win a task. Raises what ``reset`` does."""
        return find_walkthrough(goal_item(find_task(task)))

    def reset(self, task: Task) -> Observation:
        """Begin a task. What counts is its id or, where that is not one of TextCraft's, its kind and seed.

        Raises UsageError for a task that TextCraft does not know or, with ``exact``, whose commands were not recorded.
        """
        known = find_task(task)
        commands = "\n".join(self.commands(known))
        self._goal, self._snapshot = goal_item(known), TextCraftSnapshot()
        return Observation(f"Crafting commands:\n{commands}\n\nGoal: {known.goal}.")

    def step(self, action: str) -> Observation:
        """Do one action; one that cannot be done is answered with the reason, and counts.

        Crafting the goal ends the episode with the reward 1; so does, without it, the last action allowed. After the
        end every action is answered ``The episode is over.`` Raises UsageError before the first ``reset``.
        """
        now = self.snapshot()
        if now.done:
            return Observation("The episode is over.", done=True, success=now.success)
        inventory, answer, crafted = engine.apply_action(recipe_book(), now.inventory, action)
        won = crafted == self._goal
        self._snapshot = TextCraftSnapshot(inventory, now.actions + 1, won or now.actions + 1 >= self._actions, won)
        return Observation(answer, reward=float(won), done=self._snapshot.done, success=won)

    def snapshot(self) -> TextCraftSnapshot:
        """Where the episode stands, for ``restore``. Costs nothing. Raises UsageError before the first ``reset``."""
        if self._snapshot is None:
            raise UsageError("TextCraft has no task yet; call reset(task) first")
        return self._snapshot

    def restore(self, snapshot: TextCraftSnapshot) -> None:
        """Go on from a snapshot of the same task. Raises UsageError before the first ``reset``."""
        self.snapshot()
        self._snapshot = snapshot

    def close(self) -> None:
        """End the episode."""
        self._snapshot = None
