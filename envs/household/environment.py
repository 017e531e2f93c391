"""The household: six kinds of everyday tasks in a furnished room, in the words of ALFWorld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, Protocol

from codeplan.envs.base import (
    ActionLimit,
    AgentName,
    AgentSetting,
    EpisodeSnapshot,
    GeneratedTasks,
    RestorableEnvironment,
    check_choice,
    split_for_seed,
)
from codeplan.envs.household import engine, generator
from codeplan.envs.household.agent import HouseholdAgent, PaperHouseholdAgent
from codeplan.envs.household.game import DIALECTS, DialectName, Game, HouseholdState
from codeplan.envs.household.rooms import Difficulty
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation, Task
from codeplan.untrusted.values import in_quotes

Feedback = Literal["plain", "augmented"]
"""The answer to an action that cannot be done: ``Nothing happens.`` alone, or with the reason after it."""

FeedbackSetting = Annotated[
    Feedback, Setting("augmented: an action that cannot be done is answered with the reason.", "safe")
]

_SIMILAR_KINDS = {
    "pick": ("pick_two",),
    "clean": ("cool", "heat"),
    "heat": ("cool", "clean"),
    "cool": ("heat", "clean"),
    "pick_two": ("pick",),
}

_FORMS = (
    "go to RECEPTACLE",
    "open RECEPTACLE",
    "close RECEPTACLE",
    "take OBJECT from RECEPTACLE",
    "put OBJECT in/on RECEPTACLE (or, in games that say so: move OBJECT to RECEPTACLE)",
    "use OBJECT",
    "clean OBJECT with RECEPTACLE",
    "heat OBJECT with RECEPTACLE",
    "cool OBJECT with RECEPTACLE",
    "examine OBJECT",
    "look",
    "inventory",
)


class HouseholdSnapshot(EpisodeSnapshot, frozen=True):
    """The state of an episode. ``state`` is the engine's: a ``HouseholdState`` for ``RuleEngine``."""

    state: Any


class GameEngine(Protocol):
    """Plays one game. Only the engine reads its states."""

    def start(self) -> tuple[Any, str]:
        """Return the first state and the text that describes the room and the task."""
        ...

    def apply(self, state: Any, action: str) -> tuple[Any, str, bool]:
        """Return the state after an action, the answer, and whether the goal is reached."""
        ...

    def admissible(self, state: Any) -> tuple[str, ...]:
        """Return every action that can be done in a state, sorted."""
        ...

    def close(self) -> None:
        """Free the engine's resources."""
        ...


class RuleEngine:
    """Plays a game by the household's rules. Its states are frozen values, so any of them can be continued."""

    def __init__(self, game: Game, feedback: Feedback = "plain") -> None:
        self._game, self._feedback = game, feedback

    def start(self) -> tuple[HouseholdState, str]:
        """Return the game's initial state and its introduction."""
        return self._game.initial_state, engine.describe_start(self._game)

    def apply(self, state: HouseholdState, action: str) -> tuple[HouseholdState, str, bool]:
        """Return the state after an action, the answer, and whether the goal is reached."""
        outcome = engine.try_action(self._game, state, action)
        if outcome is None:
            reason = engine.explain_failure(self._game, state, action) if self._feedback != "plain" else ""
            outcome = state, f"{engine.NOTHING_HAPPENS} {reason}".rstrip()
        return *outcome, engine.is_goal_reached(self._game, outcome[0])

    def admissible(self, state: HouseholdState) -> tuple[str, ...]:
        """Return every action that can be done in a state, sorted."""
        return engine.admissible_actions(self._game, state)

    def close(self) -> None:
        """Do nothing: the engine holds only values."""


class HouseholdGameEnvironment(RestorableEnvironment[HouseholdSnapshot]):
    """Base of environments that play household games, one at a time. A subclass calls ``_play`` in ``reset``."""

    agent: type = HouseholdAgent
    agents: Mapping[str, type] = {"full": HouseholdAgent, "paper": PaperHouseholdAgent}
    space: ActionSpace = ActionSpace(
        forms=_FORMS,
        no_effect_prefixes=(engine.NOTHING_HAPPENS,),
        calls=19,
        max_idle_turns=5,
        rollback=True,
        rewrites=((r"^(put .+ \d+) (?:in|on|into|onto) (?!/)", r"\1 in/on "),),
    )
    similar_kinds: Mapping[str, Sequence[str]] = _SIMILAR_KINDS
    _game_engine: GameEngine | None = None

    def __init__(self, actions: int, feedback: Feedback, agent: AgentName) -> None:
        """Raises: UsageError if a setting is not allowed."""
        super().__init__(actions)
        self._choose_agent(agent)
        self._feedback: Feedback = check_choice(self.name, "feedback", feedback, ("plain", "augmented"))

    def admissible(self) -> tuple[str, ...]:
        """Return every action that can be done now, sorted; none after the end.

        Raises: UsageError before the first ``reset``.
        """
        now = self._require_task()
        return () if now.done or self._game_engine is None else self._game_engine.admissible(now.state)

    def close(self) -> None:
        """End the episode and its engine."""
        super().close()
        if self._game_engine is not None:
            self._game_engine.close()
        self._game_engine = None

    def _play(self, game_engine: GameEngine) -> Observation:
        self.close()
        self._game_engine = game_engine
        state, text = game_engine.start()
        self._begin(HouseholdSnapshot(state))
        return Observation(text)

    def _apply(self, before: HouseholdSnapshot, action: str) -> tuple[HouseholdSnapshot, Observation]:
        assert self._game_engine is not None, "an episode has an engine"
        state, answer, won = self._game_engine.apply(before.state, action)
        return HouseholdSnapshot(state), Observation(answer, reward=float(won), done=won, success=won)


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
