"""The household: six kinds of everyday tasks in a furnished room, in the words of ALFWorld."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from codeplan.envs.base import ActionLimit, AgentSetting, check_choice
from codeplan.envs.generated_tasks import GeneratedTasks, split_for_seed
from codeplan.envs.household import generator
from codeplan.envs.household.game import DIALECTS, DialectName, Game
from codeplan.envs.household.game_environment import FeedbackSetting, HouseholdGameEnvironment, RuleEngine
from codeplan.envs.household.rooms import Difficulty
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import Observation, Task
from codeplan.untrusted.values import in_quotes

_SPLIT_SEEDS = {"test": range(50), "dev": range(1000, 1050), "train": range(2000, 2200)}


class Household(HouseholdGameEnvironment):
    """The household. A task's id is its kind and seed, as in ``heat/17``."""

    name: str = "household"
    kinds: tuple[str, ...] = generator.KINDS

    def __init__(
        self,
        *,
        actions: ActionLimit = 50,
        dialect: Annotated[DialectName, Setting("The wording: put X in/on Y, or move X to Y.", "safe")] = "put",
        feedback: FeedbackSetting = "plain",
        agent: AgentSetting = "full",
        difficulty: Annotated[
            Difficulty, Setting("How much furniture and how many objects a room has.", "safe")
        ] = "normal",
    ) -> None:
        """Raises: UsageError if a setting is not allowed."""
        super().__init__(actions, feedback, agent)
        self._dialect = DIALECTS[check_choice(self.name, "dialect", dialect, ("put", "move"))]
        self._difficulty: Difficulty = check_choice(self.name, "difficulty", difficulty, ("easy", "normal", "hard"))

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (300), ``dev`` (300) or ``train`` (1200): all kinds of a seed, then the next seed."""
        seeds = _SPLIT_SEEDS.get(split, range(0))
        return GeneratedTasks(self.kinds, seeds, partial(_make_task, difficulty=self._difficulty))

    def task(self, kind: str, seed: int) -> Task:
        """Return the task of a kind and a seed from 0 up. Raises: UsageError for any other kind or seed."""
        self._check(kind, seed)
        return _make_task(kind, seed, self._difficulty)

    def game(self, task: Task) -> Game:
        """Return the whole game of a task, with a walkthrough that wins it. Raises what ``reset`` raises."""
        kind, seed = self._kind_and_seed(task)
        return generator.generate_game(kind, seed, self._dialect, self._difficulty)

    def reset(self, task: Task) -> Observation:
        """Begin a task, found by its kind and seed, or by its id if it has no kind.

        Raises: UsageError if the household has no such task.
        """
        return self._play(RuleEngine(self.game(task), self._feedback))

    def _kind_and_seed(self, task: Task) -> tuple[str, int]:
        kind, seed = task.kind, task.seed
        if not kind:
            kind, _, digits = task.id.rpartition("/")
            if not (kind and digits.isascii() and digits.isdigit() and len(digits) < 20):
                raise UsageError(
                    f"the household has no task {in_quotes(task.id)}; an id is a kind and a seed, as in heat/17"
                )
            seed = int(digits)
        self._check(kind, seed)
        return kind, seed

    def _check(self, kind: str, seed: int) -> None:
        if kind not in self.kinds:
            raise UsageError(
                f"the household has no tasks of kind {in_quotes(kind)}; its kinds are {', '.join(self.kinds)}"
            )
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise UsageError(f"the seed of a household task must be a whole number from 0 up (got {in_quotes(seed)})")


make = Household
"""The factory that the entry point ``household`` names."""


def _make_task(kind: str, seed: int, difficulty: Difficulty) -> Task:
    goal = generator.generate_goal_text(kind, seed, difficulty)
    return Task(f"{kind}/{seed}", Household.name, kind, goal, seed, split_for_seed(seed))
