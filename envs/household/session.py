"""One game being played: the state, the actions spent, the end; and an environment's part that plays games."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar

from codeplan.envs.household import admissible, engine, failure_reasons, sentences
from codeplan.envs.household.agent import HouseholdAgent
from codeplan.envs.household.game import Game, HouseholdState
from codeplan.errors import UsageError
from codeplan.types.task import ActionSpace, Observation
from codeplan.types.value import Value

Feedback = Literal["plain", "augmented"]
"""Whether an action that cannot be done is answered ``Nothing happens.`` alone, or with the reason after it."""


class HouseholdSnapshot(Value, frozen=True):
    """Where a game stands: all that is needed to go on from there. Kept by reference, never copied."""

    state: HouseholdState
    actions: int = 0
    done: bool = False
    success: bool = False


class HouseholdSession:
    """Plays a game from its start, one action after another, until it is won or ``actions`` are spent."""

    def __init__(self, game: Game, actions: int, feedback: Feedback = "plain") -> None:
        self.game = game
        self.max_actions = actions
        self.feedback = feedback
        self.snapshot = HouseholdSnapshot(game.initial_state)

    def begin(self) -> Observation:
        """The sentence about the room and the task."""
        return Observation(sentences.describe_start(self.game))

    def step(self, action: str) -> Observation:
        """Do one action. The one that wins brings the reward 1; the last one that is allowed ends the game as well."""
        now = self.snapshot
        if now.done:
            return observation_after_end(now.success)
        state, answer = engine.apply_action(self.game, now.state, action)
        if self.feedback == "augmented" and answer == sentences.NOTHING_HAPPENS:
            answer = f"{answer} {failure_reasons.explain_failure(self.game, now.state, action)}"
        won = engine.is_goal_reached(self.game, state)
        self.snapshot = HouseholdSnapshot(state, now.actions + 1, won or now.actions + 1 >= self.max_actions, won)
        return Observation(answer, reward=float(won), done=self.snapshot.done, success=won)

    def admissible(self) -> tuple[str, ...]:
        """Every action that could be done now, sorted; none once the game is over."""
        return () if self.snapshot.done else admissible.admissible_actions(self.game, self.snapshot.state)

    def close(self) -> None:
        """Nothing is held that has to be freed."""


def observation_after_end(success: bool) -> Observation:
    """What every action is answered after the end."""
    return Observation("The episode is over.", done=True, success=success)


# ------------------------------------------------------------------ an environment of such games


class GameSession(Protocol):
    """A game being played, by whatever engine; as ``Play`` does it."""

    snapshot: Any

    def begin(self) -> Observation:
        """The first observation: the room and the task."""
        ...

    def step(self, action: str) -> Observation:
        """Do one action; the one that wins and the last one allowed end the game."""
        ...

    def admissible(self) -> tuple[str, ...]:
        """Every action that could be done now, sorted; none once the game is over."""
        ...

    def close(self) -> None:
        """Free what the game holds."""
        ...


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


class HouseholdGameEnvironment:
    """What environments of household games share: one game at a time, step by step."""

    name: str
    agent: type = HouseholdAgent
    space: ActionSpace = ActionSpace(
        forms=_FORMS,
        no_effect_prefixes=(sentences.NOTHING_HAPPENS,),
        calls=19,
        max_idle_turns=5,
        rollback=True,
        rewrites=((r"^(put .+ \d+) (?:in|on|into|onto) (?!/)", r"\1 in/on "),),
    )
    _session: GameSession | None = None

    def step(self, action: str) -> Observation:
        """Do one action; one that cannot be done is answered ``Nothing happens.`` and counts.

        Success ends the episode with the reward 1; so does, without them, the last action allowed. After the end
        every action is answered ``The episode is over.`` Raises UsageError before the first ``reset``.
        """
        return self._active_session().step(action)

    def admissible(self) -> tuple[str, ...]:
        """Every action that could be done now, sorted. Raises UsageError before the first ``reset``."""
        return self._active_session().admissible()

    def snapshot(self) -> HouseholdSnapshot:
        """Where the episode stands, for ``restore``. Costs nothing. Raises UsageError before the first ``reset``."""
        moment: HouseholdSnapshot = self._active_session().snapshot
        return moment

    def restore(self, snapshot: HouseholdSnapshot) -> None:
        """Go on from a snapshot of the same task. Raises UsageError before the first ``reset``."""
        self._active_session().snapshot = snapshot

    def close(self) -> None:
        """End the episode."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def _begin(self, session: GameSession) -> Observation:
        self.close()
        self._session = session
        return session.begin()

    def _active_session(self) -> GameSession:
        if self._session is None:
            raise UsageError(f"the environment {self.name} has no task yet; call reset(task) first")
        return self._session


_T = TypeVar("_T")


def validate_action_limit(env: str, actions: int) -> int:
    """A number of actions that an episode may have. Raises UsageError, naming the environment, for another value."""
    if isinstance(actions, bool) or not isinstance(actions, int) or actions < 1:
        raise UsageError(f"the setting actions of {env} is {actions!r}; give a whole number from 1 up")
    return actions


def validate_choice(env: str, name: str, value: _T, allowed: tuple[_T, ...]) -> _T:
    """A setting's value that is allowed. Raises UsageError, naming the environment and the setting, for another."""
    if value not in allowed:
        raise UsageError(f"the setting {name} of {env} is {value!r}; give one of {', '.join(map(str, allowed))}")
    return value
