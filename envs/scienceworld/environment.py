"""ScienceWorld: experiments of a primary school in a text world, played by its own engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from codeplan.envs.base import ActionLimit, EpisodeSnapshot, LimitedEnvironment
from codeplan.envs.scienceworld.agent import ScienceWorldAgent
from codeplan.envs.scienceworld.engine_process import EngineAnswer
from codeplan.envs.scienceworld.recovering_game import GameSetup, RecoveringGame, find_gold_path
from codeplan.envs.scienceworld.tasks import NAME, SPLITS, VARIATIONS, find_task, tasks_in_split
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation, Task
from codeplan.untrusted.values import in_quotes

SIMPLIFICATIONS = (
    "easy",
    "teleportAction",
    "openDoors",
    "openContainers",
    "selfWateringFlowerPots",
    "noElectricalAction",
)
"""The engine's simplifications; ``easy`` is a set of them."""

MAX_ACTION_CHARS = 1_000
"""Maximum length of an action that the engine reads, in characters. None of its own actions is longer than 200."""

_TOO_LONG = "an action that is too long"
"""The engine receives this in place of a longer action, and answers as to any unknown action."""

NOT_UNDERSTOOD = "No known action matches that input."
"""The engine's answer to an action that it does not know."""

_FORMS = (
    "look around",
    "look at OBJECT",
    "look in CONTAINER",
    "read OBJECT",
    "inventory",
    "open OBJECT",
    "close OBJECT",
    "go to ROOM",
    "pick up OBJECT",
    "put down OBJECT",
    "move OBJECT to CONTAINER",
    "pour LIQUID into CONTAINER",
    "dunk CONTAINER into LIQUID",
    "mix CONTAINER",
    "activate DEVICE",
    "deactivate DEVICE",
    "use TOOL on OBJECT",
    "connect PART to PART",
    "disconnect OBJECT",
    "eat OBJECT",
    "flush OBJECT",
    "focus on OBJECT",
    "wait (ten moments)",
    "wait1 (one moment)",
    "teleport to ROOM (only if the simplification teleportAction is on)",
    "objects (the names of all that is here)",
    "a number, in answer to a question which of several is meant",
)

_NO_EFFECT = (
    NOT_UNDERSTOOD,
    "Unknown action",
    "Ambiguous request",
    "I'm not sure",
    "It's not clear",
    "Its not clear",
    "The door is not open",
    "That can't be moved",
    "You can't",
    "ERROR",
)

_ELECTRICAL = ("power-component", "conductivity")
"""Parts of the names of kinds that need electrical actions."""

_SIMILAR_KINDS: dict[str, tuple[str, ...]] = {
    "boil": ("melt", "freeze", "change-the-state-of-matter-of"),
    "melt": ("boil", "freeze", "change-the-state-of-matter-of"),
    "freeze": ("melt", "boil", "change-the-state-of-matter-of"),
    "change-the-state-of-matter-of": ("melt", "boil", "freeze"),
    "chemistry-mix": ("chemistry-mix-paint-secondary-color",),
    "chemistry-mix-paint-secondary-color": ("chemistry-mix-paint-tertiary-color",),
    "chemistry-mix-paint-tertiary-color": ("chemistry-mix-paint-secondary-color",),
    "find-animal": ("find-living-thing", "find-plant"),
    "find-living-thing": ("find-animal", "find-plant"),
    "find-non-living-thing": ("find-plant", "find-animal"),
    "find-plant": ("find-living-thing", "find-animal"),
    "grow-fruit": ("grow-plant",),
    "grow-plant": ("grow-fruit",),
    "identify-life-stages-1": ("identify-life-stages-2",),
    "identify-life-stages-2": ("identify-life-stages-1",),
    "inclined-plane-determine-angle": ("inclined-plane-friction-named-surfaces",),
    "inclined-plane-friction-named-surfaces": ("inclined-plane-determine-angle",),
    "inclined-plane-friction-unnamed-surfaces": ("inclined-plane-determine-angle",),
    "lifespan-longest-lived": ("lifespan-shortest-lived", "lifespan-longest-lived-then-shortest-lived"),
    "lifespan-longest-lived-then-shortest-lived": ("lifespan-longest-lived", "lifespan-shortest-lived"),
    "lifespan-shortest-lived": ("lifespan-longest-lived", "lifespan-longest-lived-then-shortest-lived"),
    "measure-melting-point-known-substance": ("measure-melting-point-unknown-substance", "use-thermometer"),
    "measure-melting-point-unknown-substance": ("measure-melting-point-known-substance", "use-thermometer"),
    "mendelian-genetics-known-plant": ("mendelian-genetics-unknown-plant", "grow-fruit"),
    "mendelian-genetics-unknown-plant": ("mendelian-genetics-known-plant", "grow-fruit"),
    "power-component": ("power-component-renewable-vs-nonrenewable-energy",),
    "power-component-renewable-vs-nonrenewable-energy": ("power-component",),
    "test-conductivity": ("test-conductivity-of-unknown-substances", "power-component"),
    "test-conductivity-of-unknown-substances": ("test-conductivity", "power-component"),
    "use-thermometer": ("measure-melting-point-known-substance",),
}


class ScienceWorld(LimitedEnvironment[EpisodeSnapshot]):
    """ScienceWorld. A task's id is its kind and its variation, as in ``find-plant/225``.

    An observation's reward is the engine's score after the action, from 0 to 1. An episode ends with success at a
    score of 100, and without success if the plan focuses on a wrong thing.
    """

    name: str = NAME
    agent: type = ScienceWorldAgent
    splits: tuple[str, ...] = SPLITS
    kinds: tuple[str, ...] = tuple(VARIATIONS)
    similar_kinds: Mapping[str, Sequence[str]] = _SIMILAR_KINDS
    space: ActionSpace = ActionSpace(
        forms=_FORMS, no_effect_prefixes=_NO_EFFECT, calls=60, max_idle_turns=8, status="inventory"
    )

    def __init__(
        self,
        *,
        simplifications: Annotated[
            str, Setting("easy, or some of the engine's simplifications, with commas between them.", "safe")
        ] = "",
        score: Annotated[bool, Setting("End each observation with the score.", "safe")] = False,
        actions: ActionLimit = 100,
    ) -> None:
        """Java and the engine are looked up on first use. Raises: UsageError if a setting is invalid."""
        super().__init__(actions)
        self._simplifications = _check_simplifications(simplifications)
        self._shows_score = score
        self._game: RecoveringGame | None = None

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (1,819), ``dev`` (1,796) or ``train`` (3,592), split as the engine does."""
        return tasks_in_split(split)

    def walkthrough(self, task: Task) -> tuple[str, ...]:
        """The engine's gold path: actions that win a task. Some take more actions than an episode has by default.

        Raises: UsageError if there is no such task, or if Java or the engine is missing.
        """
        return find_gold_path(self._setup(find_task(task)))

    def reset(self, task: Task) -> Observation:
        """Begin a task, found by its kind and variation, or by its id if it has no kind.

        Raises: UsageError if there is no such task, or if Java or the engine is missing.
        """
        setup = self._setup(find_task(task))
        super().close()
        if self._game is None:
            self._game = RecoveringGame()
        goal, first = self._game.begin(setup)
        self._begin(EpisodeSnapshot())
        text = f"{goal}\nYou can take {self.max_actions} actions.\n\n{self._text(first)}"
        return Observation(text, goal=goal)

    def close(self) -> None:
        """End the episode. The engine ends some time after its last game."""
        super().close()
        if self._game is not None:
            self._game.close()
        self._game = None

    def _apply(self, before: EpisodeSnapshot, action: str) -> tuple[EpisodeSnapshot, Observation]:
        assert self._game is not None, "reset begins a game"
        answer = self._game.act(action if len(action) <= MAX_ACTION_CHARS else _TOO_LONG)
        reward = min(max(answer.score, 0), 100) / 100
        return before, Observation(self._text(answer), reward, done=answer.done, success=answer.score >= 100)

    def _setup(self, task: Task) -> GameSetup:
        if "noElectricalAction" in self._simplifications and any(part in task.kind for part in _ELECTRICAL):
            raise UsageError(f"{task.kind} needs electrical actions; leave the simplification noElectricalAction out")
        return GameSetup(task.kind, task.seed, self._simplifications)

    def _text(self, answer: EngineAnswer) -> str:
        return f"{answer.text}\nScore: {answer.score} of 100." if self._shows_score else answer.text


def _check_simplifications(given: str) -> str:
    """The simplifications as the engine takes them. Raises: UsageError if there is no such one."""
    named = [name.strip() for name in given.split(",")] if given else []
    if unknown := [name for name in named if name not in SIMPLIFICATIONS]:
        raise UsageError(
            f"the setting simplifications of {NAME} has {in_quotes(unknown[0], 80)}; "
            f"it takes some of {', '.join(SIMPLIFICATIONS)}"
        )
    if "easy" in named and len(named) > 1:
        raise UsageError(f"the setting simplifications of {NAME} takes easy alone, or other names without it")
    return ",".join(named)


make = ScienceWorld
"""The factory that the entry point ``scienceworld`` names."""
