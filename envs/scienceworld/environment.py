"""ScienceWorld: experiments of a primary school in a text world, played by its own engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import Annotated

from codeplan.envs.base import ActionLimit, EpisodeSnapshot, LimitedEnvironment
from codeplan.envs.scienceworld.agent import ScienceWorldAgent
from codeplan.envs.scienceworld.engine import EngineAnswer, GameSetup, RecoveringGame, find_gold_path
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation, Task
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.values import in_quotes

NAME = "scienceworld"

VARIATIONS = {
    "find-plant": 300,
    "find-animal": 300,
    "find-living-thing": 300,
    "find-non-living-thing": 300,
    "lifespan-longest-lived": 125,
    "lifespan-shortest-lived": 125,
    "lifespan-longest-lived-then-shortest-lived": 125,
    "use-thermometer": 540,
    "chemistry-mix-paint-secondary-color": 36,
    "power-component": 20,
    "boil": 30,
    "change-the-state-of-matter-of": 30,
    "chemistry-mix": 32,
    "chemistry-mix-paint-tertiary-color": 36,
    "freeze": 30,
    "grow-fruit": 126,
    "grow-plant": 126,
    "identify-life-stages-1": 14,
    "identify-life-stages-2": 10,
    "inclined-plane-determine-angle": 168,
    "inclined-plane-friction-named-surfaces": 1386,
    "inclined-plane-friction-unnamed-surfaces": 162,
    "measure-melting-point-known-substance": 436,
    "measure-melting-point-unknown-substance": 300,
    "melt": 30,
    "mendelian-genetics-known-plant": 120,
    "mendelian-genetics-unknown-plant": 480,
    "power-component-renewable-vs-nonrenewable-energy": 20,
    "test-conductivity": 900,
    "test-conductivity-of-unknown-substances": 600,
}
"""The kinds of tasks, as the engine names them, and the number of each kind's variations. Kinds that take few actions
come first."""

SPLITS = ("test", "dev", "train")


def variations(kind: str, split: str) -> range:
    """The variations of a kind in a split; none if there is no such split.

    The engine's rule: two quarters of the variations are for training, the third for development, the rest for tests.
    """
    count = VARIATIONS[kind]
    quarter = count // 4
    starts = {"train": range(2 * quarter), "dev": range(2 * quarter, 3 * quarter), "test": range(3 * quarter, count)}
    return starts.get(split, range(0))


@cache
def tasks_in_split(split: str) -> Sequence[Task]:
    """The tasks of a split: the first variation of every kind, then the second of every kind, and so on."""
    return tuple(_in_turns(split))


def find_task(task: Task) -> Task:
    """ScienceWorld's own task with the same kind and variation, or with the same id if the task has no kind.

    Raises: UsageError if there is none.
    """
    kind, variation = (task.kind, task.seed) if task.kind else _kind_and_variation(task.id)
    if kind not in VARIATIONS:
        raise UsageError(f"ScienceWorld has no task {in_quotes(task.id or kind, 80)}; {_advice(kind)}")
    count = VARIATIONS[kind]
    if isinstance(variation, bool) or not isinstance(variation, int) or not 0 <= variation < count:
        raise UsageError(
            f"ScienceWorld has no variation {in_quotes(variation, 40)} of {kind}; they are 0 to {count - 1}"
        )
    return _task(kind, variation, next(name for name in SPLITS if variation in variations(kind, name)))


def _in_turns(split: str) -> Iterator[Task]:
    for row in zip_longest(*(variations(kind, split) for kind in VARIATIONS)):
        for kind, variation in zip(VARIATIONS, row, strict=True):
            if variation is not None:
                yield _task(kind, variation, split)


def _kind_and_variation(id: str) -> tuple[str, int | str]:
    """The parts of an id; the variation stays a text if it is not a plain number."""
    kind, _, digits = id.rpartition("/")
    plain = digits.isascii() and digits.isdigit() and len(digits) < 6 and str(int(digits)) == digits
    return kind or id, int(digits) if plain else digits


def _advice(kind: str) -> str:
    near = nearest_name(kind[:80], VARIATIONS)
    meant = f"did you mean {near}? " if near else ""
    return f"{meant}an id is a kind and a variation, as in find-plant/225"


def _task(kind: str, variation: int, split: str) -> Task:
    return Task(f"{kind}/{variation}", NAME, kind, "", variation, split)


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
