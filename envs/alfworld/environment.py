"""ALFWorld: its own games, read from their files and played by codeplan's exact and much faster engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal

from msgspec.structs import replace

from codeplan.envs.alfworld import game_files
from codeplan.envs.alfworld.data import ALFWorldData, find_data
from codeplan.envs.alfworld.textworld_engine import TextWorldEngine
from codeplan.envs.base import ActionLimit, AgentSetting, check_choice
from codeplan.envs.household import game_environment
from codeplan.envs.household.environment import Household
from codeplan.envs.household.game import Game
from codeplan.envs.household.game_environment import FeedbackSetting, HouseholdSnapshot, RuleEngine
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.plugins import Setting
from codeplan.types import Observation, Task

Arrival = Literal["exact", "recorded"]
"""The answer to an arrival: as in the game's file, or as in published transcripts, without the place."""

Engine = Literal["codeplan", "textworld"]


class ALFWorld(game_environment.HouseholdGameEnvironment):
    """ALFWorld. A task's id is the folders of its task and trial: ``TYPE-OBJECT-…/trial_…``."""

    name: str = "alfworld"
    kinds: tuple[str, ...] = Household.kinds

    def __init__(
        self,
        *,
        data: Annotated[
            str | None,
            Setting("Folder of ALFWorld's data; default: $ALFWORLD_DATA, ~/.cache/alfworld.", "trusted", repeat="live"),
        ] = None,
        actions: ActionLimit = 50,
        feedback: FeedbackSetting = "plain",
        agent: AgentSetting = "full",
        arrival: Annotated[
            Arrival, Setting("recorded: say 'You arrive at the location.', as ReAct's transcripts do.", "safe")
        ] = "exact",
        engine: Annotated[
            Engine, Setting("textworld: play in ALFWorld's own engine (extra textworld).", "recordable")
        ] = "codeplan",
    ) -> None:
        """The data is read when it is first needed. Raises: UsageError if a setting is not allowed."""
        super().__init__(actions, feedback, agent)
        self._folder = data
        self._arrival: Arrival = check_choice(self.name, "arrival", arrival, ("exact", "recorded"))
        self._engine: Engine = check_choice(self.name, "engine", engine, ("codeplan", "textworld"))
        if engine == "textworld" and (feedback, arrival) != ("plain", "exact"):
            raise UsageError("the engine textworld has only its own feedback and arrival; leave these settings out")
        self._tasks: dict[str, list[Task]] = {}

    @cached_property
    def data(self) -> ALFWorldData:
        """The data. Raises: UsageError, which says how to get the data, if there is none."""
        return find_data(self._folder)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that were found, by the data's own names. Raises: UsageError if there is no data."""
        return tuple(self.data.splits)

    def tasks(self, split: str) -> Sequence[Task]:
        """The games of a split, in order of their ids, without those that are not known to be solvable.

        A damaged game is among them, without its goal. Raises: UsageError if there is no data.
        """
        if split not in self._tasks:
            self._tasks[split] = self.data.tasks(split)
        return self._tasks[split]

    def notes(self) -> list[str]:
        """Lines that say which data was found. Raises: UsageError if there is none."""
        return self.data.notes()

    def faults(self) -> list[str]:
        """A sentence for each damaged file; reads every file. Raises: UsageError if there is no data."""
        return list(self.data.faults())

    def game(self, task: Task) -> Game:
        """Return the whole game of a task, with a walkthrough if its file has one. Raises what ``reset`` raises."""
        try:
            game = game_files.load_game(self.data.trial_folder(task.id))
        except ValueError as e:
            raise EnvironmentFailure(str(e)) from None
        if self._arrival == "exact":
            return game
        return replace(game, dialect=replace(game.dialect, arrival_sentence="You arrive at the location."))

    def reset(self, task: Task) -> Observation:
        """Begin the task with this id.

        Raises: UsageError if there is no data or no such id; EnvironmentFailure if the game's file is damaged or its
        goal is of an unknown kind.
        """
        if self._engine == "textworld":
            file = self.data.trial_folder(task.id) / game_files.GAME_FILE
            return self._play(TextWorldEngine(file))
        return self._play(RuleEngine(self.game(task), self._feedback))

    def snapshot(self) -> HouseholdSnapshot:
        """Return where the episode stands. Raises: UsageError before ``reset`` and with the engine textworld."""
        self._require_snapshots()
        return super().snapshot()

    def restore(self, snapshot: HouseholdSnapshot) -> None:
        """Continue from a snapshot. Raises: UsageError before ``reset`` and with the engine textworld."""
        self._require_snapshots()
        super().restore(snapshot)

    def _require_snapshots(self) -> None:
        if self._engine == "textworld":
            raise UsageError("the engine textworld has no snapshots; use engine='codeplan'")


make = ALFWorld
"""The factory that the entry point ``alfworld`` names."""
