"""TextCraft: craft items of Minecraft in two to four levels of recipes, among misleading commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from codeplan.envs.base import ActionLimit, AgentSetting, EpisodeSnapshot, RestorableEnvironment
from codeplan.envs.textcraft import engine
from codeplan.envs.textcraft.agent import PaperTextCraftAgent, TextCraftAgent
from codeplan.envs.textcraft.commands import CommandLists, bundled_command_lists, draw_commands, read_command_lists
from codeplan.envs.textcraft.recipes import recipe_book
from codeplan.envs.textcraft.tasks import NAME, find_task, goal_item, tasks_in_split
from codeplan.envs.textcraft.walkthrough import find_walkthrough
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation, Task


class TextCraftSnapshot(EpisodeSnapshot, frozen=True):
    """The state of an episode."""

    inventory: Mapping[str, int] = {}


class TextCraft(RestorableEnvironment[TextCraftSnapshot]):
    """TextCraft. A task's id is its depth and its seed, as in ``depth3/17``; the seed alone determines the goal.

    ``kinds`` are the depths: the least number of crafting levels that a goal needs.
    """

    name: str = NAME
    agent: type = TextCraftAgent
    agents: Mapping[str, type] = {"full": TextCraftAgent, "paper": PaperTextCraftAgent}
    kinds: tuple[str, ...] = ("depth2", "depth3", "depth4")
    space: ActionSpace = ActionSpace(
        forms=("get COUNT ITEM", "craft COUNT ITEM using COUNT INGREDIENT, COUNT INGREDIENT", "inventory"),
        no_effect_prefixes=("Could not",),
        calls=39,
        max_idle_turns=8,
        status="inventory",
    )

    def __init__(
        self,
        *,
        exact: Annotated[
            bool, Setting("Show the recorded commands, which exist for half of the test tasks.", "safe")
        ] = False,
        recorded: Annotated[
            str | None, Setting("File of more recorded commands, for exact.", "trusted", repeat="live")
        ] = None,
        agent: AgentSetting = "full",
        actions: ActionLimit = 60,  # the original has no limit; the longest walkthrough has 27 actions
    ) -> None:
        """Raises: UsageError if a setting is not allowed, or if the file of recorded commands cannot be read."""
        super().__init__(actions)
        self._choose_agent(agent)
        if recorded is not None and not exact:
            raise UsageError("the setting recorded of textcraft needs exact=True; give both, or neither")
        self._recorded: CommandLists | None = None
        if exact:
            self._recorded = bundled_command_lists() | (read_command_lists(recorded) if recorded is not None else {})
        self._goal = ""

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (200, seeds 0 to 199), ``dev`` (50) or ``train`` (147), by seed."""
        return tasks_in_split(split)

    def depth(self, task: Task) -> int:
        """Return the depth of a task's goal: 2, 3 or 4. Raises what ``reset`` raises."""
        return recipe_book().depth(goal_item(find_task(task)))

    def commands(self, task: Task) -> tuple[str, ...]:
        """Return the crafting commands that a task shows. Raises what ``reset`` raises."""
        known = find_task(task)
        if self._recorded is None:
            return draw_commands(recipe_book(), goal_item(known), known.seed)
        if known.seed not in self._recorded:
            raise UsageError(
                f"no commands were recorded for the task {known.id}; "
                "name a file that has them with the setting recorded, or leave exact out"
            )
        return self._recorded[known.seed]

    def walkthrough(self, task: Task) -> tuple[str, ...]:
        """Return actions that win a task. Raises what ``reset`` raises."""
        return find_walkthrough(goal_item(find_task(task)))

    def reset(self, task: Task) -> Observation:
        """Begin a task, found by its id or, if TextCraft has no such id, by its kind and seed.

        Raises: UsageError if there is no such task or, with ``exact``, if its commands were not recorded.
        """
        known = find_task(task)
        commands = "\n".join(self.commands(known))
        self._goal = goal_item(known)
        self._begin(TextCraftSnapshot())
        return Observation(f"Crafting commands:\n{commands}\n\nGoal: {known.goal}.")

    def _apply(self, before: TextCraftSnapshot, action: str) -> tuple[TextCraftSnapshot, Observation]:
        inventory, answer, crafted = engine.apply_action(recipe_book(), before.inventory, action)
        won = crafted == self._goal
        return TextCraftSnapshot(inventory), Observation(answer, reward=float(won), done=won, success=won)


make = TextCraft
"""The factory that the entry point ``textcraft`` names."""
