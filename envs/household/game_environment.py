"""The base of environments that play household games, and the engine that plays them by the household's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

from codeplan.envs.base import AgentName, EpisodeSnapshot, RestorableEnvironment, check_choice
from codeplan.envs.household import admissible, engine, failure_reasons, sentences
from codeplan.envs.household.agent import HouseholdAgent, PaperHouseholdAgent
from codeplan.envs.household.game import Game, HouseholdState
from codeplan.plugins import Setting
from codeplan.types import ActionSpace, Observation

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
        return self._game.initial_state, sentences.describe_start(self._game)

    def apply(self, state: HouseholdState, action: str) -> tuple[HouseholdState, str, bool]:
        """Return the state after an action, the answer, and whether the goal is reached."""
        outcome = engine.try_action(self._game, state, action)
        if outcome is None:
            reason = failure_reasons.explain_failure(self._game, state, action) if self._feedback != "plain" else ""
            outcome = state, f"{sentences.NOTHING_HAPPENS} {reason}".rstrip()
        return *outcome, engine.is_goal_reached(self._game, outcome[0])

    def admissible(self, state: HouseholdState) -> tuple[str, ...]:
        """Return every action that can be done in a state, sorted."""
        return admissible.admissible_actions(self._game, state)

    def close(self) -> None:
        """Do nothing: the engine holds only values."""


class HouseholdGameEnvironment(RestorableEnvironment[HouseholdSnapshot]):
    """Base of environments that play household games, one at a time. A subclass calls ``_play`` in ``reset``."""

    agent: type = HouseholdAgent
    agents: Mapping[str, type] = {"full": HouseholdAgent, "paper": PaperHouseholdAgent}
    space: ActionSpace = ActionSpace(
        forms=_FORMS,
        no_effect_prefixes=(sentences.NOTHING_HAPPENS,),
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
