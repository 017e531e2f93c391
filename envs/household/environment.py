"""The household: six kinds of everyday tasks in a room of furniture, in the words of ALFWorld.

    pick      put a mug in desk.                      heat      put a hot apple in fridge.
    pick_two  find two pen and put them in dresser.   cool      cool some pan and put it in countertop.
    clean     put a clean lettuce in diningtable.     examine   look at bowl under the desklamp.

Every task is made from its kind and a seed, can be won, and is the same on every machine. It needs nothing but Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from codeplan.envs.generated_tasks import GeneratedTasks, split_for_seed
from codeplan.envs.household import generator
from codeplan.envs.household.game import DIALECTS, Game
from codeplan.envs.household.rooms import Difficulty
from codeplan.envs.household.session import (
    Feedback,
    HouseholdGameEnvironment,
    HouseholdSession,
    validate_action_limit,
    validate_choice,
)
from codeplan.errors import UsageError
from codeplan.types.task import Observation, Task

_SPLITS = {"test": range(50), "dev": range(1000, 1050), "train": range(2000, 2200)}
"""The seeds of each split's tasks."""


def make(
    *,
    actions: int = 50,
    dialect: Literal["put", "move"] = "put",
    feedback: Feedback = "plain",
    difficulty: Difficulty = "normal",
) -> Household:
    """Build the household.

    ``actions`` is how many actions an episode has; ``dialect`` is the wording of one or the other release of ALFWorld's
    data: ``put X in/on Y``, or ``move X to Y``. With ``feedback="augmented"`` an action that cannot be done is answered
    with the reason. ``difficulty`` is how large the rooms are and how much stands about in them. Raises UsageError for
    a value that does not fit.
    """
    return Household(actions=actions, dialect=dialect, feedback=feedback, difficulty=difficulty)


class Household(HouseholdGameEnvironment):
    """The household as an Environment that generates its tasks. A task's id is its kind and seed: ``heat/17``."""

    name: str = "household"
    kinds: tuple[str, ...] = generator.KINDS

    def __init__(
        self,
        *,
        actions: int = 50,
        dialect: str = "put",
        feedback: Feedback = "plain",
        difficulty: Difficulty = "normal",
    ) -> None:
        """Raises UsageError for a number of actions below 1, and for a word that is not among those allowed."""
        self._actions = validate_action_limit(self.name, actions)
        self._dialect = DIALECTS[validate_choice(self.name, "dialect", dialect, tuple(DIALECTS))]
        self._feedback: Feedback = validate_choice(self.name, "feedback", feedback, ("plain", "augmented"))
        self._difficulty: Difficulty = validate_choice(self.name, "difficulty", difficulty, ("easy", "normal", "hard"))

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (300), ``dev`` (300) or ``train`` (1200), kinds in turn; made as they are looked at."""
        return GeneratedTasks(self.kinds, _SPLITS.get(split, range(0)), partial(_task, difficulty=self._difficulty))

    def task(self, kind: str, seed: int) -> Task:
        """The task of this kind that this seed makes; any seed from 0 up. Raises UsageError for others."""
        self._check(kind, seed)
        return _task(kind, seed, self._difficulty)

    def game(self, task: Task) -> Game:
        """All there is to know of a task's household, with a walkthrough that wins it. Raises what ``reset`` does."""
        kind, seed = self._kind_and_seed(task)
        return generator.generate_game(kind, seed, self._dialect, self._difficulty)

    def reset(self, task: Task) -> Observation:
        """Begin a task. What counts is its kind and seed or, where it has no kind, its id.

        Raises UsageError for a task that the household does not know.
        """
        return self._begin(HouseholdSession(self.game(task), self._actions, self._feedback))

    def _kind_and_seed(self, task: Task) -> tuple[str, int]:
        kind, seed = task.kind, task.seed
        if not kind:
            kind, _, digits = task.id.rpartition("/")
            if not (kind and digits.isascii() and digits.isdigit() and len(digits) < 20):
                raise UsageError(
                    f"the household has no task {task.id!r}; a task's id is its kind and seed, as in heat/17"
                )
            seed = int(digits)
        self._check(kind, seed)
        return kind, seed

    def _check(self, kind: str, seed: int) -> None:
        if kind not in self.kinds:
            raise UsageError(f"the household has no tasks of kind {kind!r}; its kinds are {', '.join(self.kinds)}")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise UsageError(f"{seed!r} is no seed of a household task; give a whole number from 0 up")


def _task(kind: str, seed: int, difficulty: Difficulty) -> Task:
    goal = generator.generate_goal_text(kind, seed, difficulty)
    return Task(f"{kind}/{seed}", Household.name, kind, goal, seed, split_for_seed(seed))
