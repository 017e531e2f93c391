"""ALFWorld: its own games, read from their files and played by an exact engine of ours, hundreds of times faster.

    codeplan envs alfworld --data FOLDER                             what there is, and whether it is whole
    codeplan run alfworld --data FOLDER --task TYPE-…/trial_…        one game
    codeplan bench alfworld-unseen --data FOLDER                     the 134 games of valid_unseen

Rules and sentences are those of the household (``codeplan.envs.household``), the wording is each file's own. The data
is ALFWorld's; without it, the household makes games of the same kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from msgspec.structs import replace

from codeplan.envs.alfworld import game_files
from codeplan.envs.alfworld.data import ALFWorldData, find_data
from codeplan.envs.alfworld.textworld_engine import TextWorldSession
from codeplan.envs.household.environment import Household
from codeplan.envs.household.game import Game
from codeplan.envs.household.session import (
    Feedback,
    HouseholdGameEnvironment,
    HouseholdSession,
    validate_action_limit,
    validate_choice,
)
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.types.task import Observation, Task

Arrival = Literal["exact", "recorded"]
"""How arriving at a place is told: as the game's file has it, or as in transcripts of the field, without the place."""

Engine = Literal["codeplan", "textworld"]


def make(
    *,
    data: str | None = None,
    actions: int = 50,
    feedback: Feedback = "plain",
    arrival: Arrival = "exact",
    engine: Engine = "codeplan",
) -> ALFWorld:
    """Build ALFWorld with the data in a folder (None: in $ALFWORLD_DATA, or where ``alfworld-download`` puts it).

    ``actions`` is how many actions an episode has. With ``feedback="augmented"`` an action that cannot be done is
    answered with the reason. ``arrival="recorded"`` says ``You arrive at the location.`` in every game, as ReAct's
    transcripts do. ``engine="textworld"`` plays in ALFWorld's own engine (extra ``textworld``), for comparison.
    Raises UsageError for a value that does not fit; the data is not looked at before it is needed.
    """
    return ALFWorld(data=data, actions=actions, feedback=feedback, arrival=arrival, engine=engine)


class ALFWorld(HouseholdGameEnvironment):
    """ALFWorld as an Environment. A task's id is the folders of its task and trial: ``TYPE-OBJECT-…/trial_…``."""

    name: str = "alfworld"
    kinds: tuple[str, ...] = Household.kinds

    def __init__(
        self,
        *,
        data: str | None = None,
        actions: int = 50,
        feedback: Feedback = "plain",
        arrival: Arrival = "exact",
        engine: Engine = "codeplan",
    ) -> None:
        """Raises UsageError as ``make`` does."""
        self._folder = data
        self._actions = validate_action_limit(self.name, actions)
        self._feedback: Feedback = validate_choice(self.name, "feedback", feedback, ("plain", "augmented"))
        self._arrival: Arrival = validate_choice(self.name, "arrival", arrival, ("exact", "recorded"))
        self._engine: Engine = validate_choice(self.name, "engine", engine, ("codeplan", "textworld"))
        if engine == "textworld" and (feedback, arrival) != ("plain", "exact"):
            raise UsageError("the engine textworld has no other feedback and arrival than its own; leave them out")

    @cached_property
    def data(self) -> ALFWorldData:
        """The data. Raises UsageError where there is none: it says how to get it."""
        return find_data(self._folder)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that were found, by the data's own names. Raises UsageError where there is no data."""
        return tuple(self.data.splits)

    def tasks(self, split: str) -> Sequence[Task]:
        """The games of a split in order of their ids, but for those that are not known to be solvable.

        A game whose file is damaged is among them, without its goal. Raises UsageError where there is no data.
        """
        if split not in self._listed:
            self._listed[split] = self.data.tasks(split)
        return self._listed[split]

    def notes(self) -> list[str]:
        """What data there is, in lines. Raises UsageError where there is none."""
        return self.data.notes()

    def faults(self) -> list[str]:
        """What is wrong with the data, a sentence for each file. Reads every file. Raises UsageError for no data."""
        return list(self.data.faults())

    def game(self, task: Task) -> Game:
        """All there is to know of a task's game, its walkthrough where the file has one. Raises what ``reset`` does."""
        try:
            game = game_files.load_game(self.data.trial_folder(task.id))
        except ValueError as e:
            raise EnvironmentFailure(str(e)) from None
        if self._arrival == "exact":
            return game
        return replace(game, dialect=replace(game.dialect, arriving="You arrive at the location."))

    def reset(self, task: Task) -> Observation:
        """Begin the task with this id.

        Raises UsageError for no data and for an unknown id; EnvironmentFailure for a game's file that is damaged or has
        a goal of an unknown kind.
        """
        if self._engine == "textworld":
            return self._begin(TextWorldSession(self.data.trial_folder(task.id) / game_files.GAME_FILE, self._actions))
        return self._begin(HouseholdSession(self.game(task), self._actions, self._feedback))

    @cached_property
    def _listed(self) -> dict[str, list[Task]]:
        return {}
