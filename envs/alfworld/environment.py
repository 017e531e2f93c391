"""ALFWorld: its own games, read from their files and played by codeplan's exact and much faster engine."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from codeplan.envs.alfworld import game_files
from codeplan.envs.alfworld.game_files import ALFWorldData, find_data
from codeplan.envs.base import ActionLimit, AgentSetting, check_choice
from codeplan.envs.household import environment
from codeplan.envs.household.environment import FeedbackSetting, Household, HouseholdSnapshot, RuleEngine
from codeplan.envs.household.game import Game
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.plugins import Setting
from codeplan.types import Observation, Task, Value

MAX_ANSWER_SECONDS = 120.0
"""How long the engine may take to answer; a start takes about two seconds."""

_WORKER = Path(__file__).with_name("textworld_worker.py")


def textworld_python() -> str:
    """Return the Python program that runs the engine."""
    return os.environ.get("CODEPLAN_TEXTWORLD_PYTHON") or sys.executable


class TextWorldAnswer(Value, frozen=True):
    """TextWorld's answer to a start or an action; ``commands`` are the admissible actions after it."""

    text: str
    won: bool
    commands: list[str]


class TextWorldProcess:
    """TextWorld in a process of its own, until ``close``. A game that is won can be played on."""

    def __init__(self) -> None:
        """Raises: EnvironmentFailure if ``textworld_python()`` cannot be started."""
        command = [textworld_python(), "-I", str(_WORKER)]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as e:
            raise _failure(f"it cannot be started: {e.strerror}") from None

    def load(self, file: Path) -> TextWorldAnswer:
        """Begin the game of a file. Raises: EnvironmentFailure if TextWorld is missing or rejects the file."""
        return self._request({"load": str(file.resolve())})

    def step(self, action: str) -> TextWorldAnswer:
        """Do one action. Raises: EnvironmentFailure if TextWorld fails."""
        return self._request({"step": action})

    def close(self) -> None:
        """End the process. Safe to call twice."""
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # an unsent request fails to flush after the process ended
                assert stream is not None
                stream.close()
        self._process.kill()
        self._process.wait()

    def _request(self, request: dict[str, str]) -> TextWorldAnswer:
        line = self._exchange(json.dumps(request).encode() + b"\n")
        answer = msgspec.json.decode(line)
        if "error" in answer:
            raise _failure(answer["error"])
        return msgspec.convert(answer, TextWorldAnswer)

    def _exchange(self, request: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except OSError:
            raise _failure("its process ended") from None
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            if not waiting.select(MAX_ANSWER_SECONDS):
                raise _failure(f"it did not answer within {MAX_ANSWER_SECONDS:g} seconds")
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise _failure("its process ended")
        return line


def _failure(why: str) -> EnvironmentFailure:
    return EnvironmentFailure(f"the engine textworld failed in {textworld_python()}: {why}")


class TextWorldEngine:
    """Plays a game file in TextWorld. Its state is the last answer: the process cannot go back to an earlier one."""

    def __init__(self, file: Path) -> None:
        """Raises: EnvironmentFailure as ``TextWorldProcess.load`` does."""
        self._process = TextWorldProcess()
        try:
            self._first = self._process.load(file)
        except BaseException:
            self._process.close()
            raise

    def start(self) -> tuple[TextWorldAnswer, str]:
        """Return the first answer and its text."""
        return self._first, self._first.text

    def apply(self, state: TextWorldAnswer, action: str) -> tuple[TextWorldAnswer, str, bool]:
        """Do one action in the process. Raises: EnvironmentFailure if TextWorld fails."""
        answer = self._process.step(action)
        return answer, answer.text, answer.won

    def admissible(self, state: TextWorldAnswer) -> tuple[str, ...]:
        """Return every action that can be done now, sorted."""
        return tuple(state.commands)

    def close(self) -> None:
        """End the process."""
        self._process.close()


Arrival = Literal["exact", "recorded"]
"""The answer to an arrival: as in the game's file, or as in published transcripts, without the place."""

Engine = Literal["codeplan", "textworld"]


class ALFWorld(environment.HouseholdGameEnvironment):
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
