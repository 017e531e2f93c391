"""One game being played: the state, the actions spent, the end; and an environment's part that plays games."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar

from codeplan.envs.household import choices, engine, reasons, text
from codeplan.envs.household.agent import HouseholdAgent
from codeplan.envs.household.game import Game, State
from codeplan.errors import UsageError
from codeplan.types import ActionSpace, Observation, Value

Feedback = Literal["plain", "augmented"]
"""Whether an action that cannot be done is answered ``Nothing happens.`` alone, or with the reason after it."""


class Moment(Value, frozen=True):
    """Where a game stands: all that is needed to go on from there. Kept by reference, never copied."""

    state: State
    actions: int = 0
    done: bool = False
    success: bool = False


class Play:
    """Plays a game from its start, one action after another, until it is won or ``actions`` are spent."""

    def __init__(self, game: Game, actions: int, feedback: Feedback = "plain") -> None:
        self.game = game
        self.limit = actions
        self.feedback = feedback
        self.moment = Moment(game.start)

    def begin(self) -> Observation:
        """The sentence about the room and the task."""
        return Observation(text.introduction(self.game))

    def step(self, action: str) -> Observation:
        """Do one action. The one that wins brings the reward 1; the last one that is allowed ends the game as well."""
        now = self.moment
        if now.done:
            return over(now.success)
        state, answer = engine.act(self.game, now.state, action)
        if self.feedback == "augmented" and answer == text.NOTHING_HAPPENS:
            answer = f"{answer} {reasons.why(self.game, now.state, action)}"
        won = engine.satisfied(self.game, state)
        self.moment = Moment(state, now.actions + 1, won or now.actions + 1 >= self.limit, won)
        return Observation(answer, reward=float(won), done=self.moment.done, success=won)

    def admissible(self) -> tuple[str, ...]:
        """Every action that could be done now, sorted; none once the game is over."""
        return () if self.moment.done else choices.admissible(self.game, self.moment.state)

    def close(self) -> None:
        """Nothing is held that has to be freed."""


def over(success: bool) -> Observation:
    """What every action is answered after the end."""
    return Observation("The episode is over.", done=True, success=success)


# ------------------------------------------------------------------ an environment of such games


class Playable(Protocol):
    """A game being played, by whatever engine; as ``Play`` does it."""

    moment: Any

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


class PlaysGames:
    """What environments of household games share: one game at a time, step by step."""

    name: str
    agent: type = HouseholdAgent
    space: ActionSpace = ActionSpace(
        forms=_FORMS,
        futile=(text.NOTHING_HAPPENS,),
        calls=19,
        patience=5,
        rollback=True,
        rewrites=((r"^(put .+ \d+) (?:in|on|into|onto) (?!/)", r"\1 in/on "),),
    )
    _play: Playable | None = None

    def step(self, action: str) -> Observation:
        """Do one action; one that cannot be done is answered ``Nothing happens.`` and counts.

        Success ends the episode with the reward 1; so does, without them, the last action allowed. After the end
        every action is answered ``The episode is over.`` Raises UsageError before the first ``reset``.
        """
        return self._playing().step(action)

    def admissible(self) -> tuple[str, ...]:
        """Every action that could be done now, sorted. Raises UsageError before the first ``reset``."""
        return self._playing().admissible()

    def snapshot(self) -> Moment:
        """Where the episode stands, for ``restore``. Costs nothing. Raises UsageError before the first ``reset``."""
        moment: Moment = self._playing().moment
        return moment

    def restore(self, moment: Moment) -> None:
        """Go on from a snapshot of the same task. Raises UsageError before the first ``reset``."""
        self._playing().moment = moment

    def close(self) -> None:
        """End the episode."""
        if self._play is not None:
            self._play.close()
        self._play = None

    def _begin(self, play: Playable) -> Observation:
        self.close()
        self._play = play
        return play.begin()

    def _playing(self) -> Playable:
        if self._play is None:
            raise UsageError(f"the environment {self.name} has no task yet; call reset(task) first")
        return self._play


_T = TypeVar("_T")


def checked_actions(env: str, actions: int) -> int:
    """A number of actions that an episode may have. Raises UsageError, naming the environment, for another value."""
    if isinstance(actions, bool) or not isinstance(actions, int) or actions < 1:
        raise UsageError(f"the setting actions of {env} is {actions!r}; give a whole number from 1 up")
    return actions


def one_of(env: str, name: str, value: _T, allowed: tuple[_T, ...]) -> _T:
    """A setting's value that is allowed. Raises UsageError, naming the environment and the setting, for another."""
    if value not in allowed:
        raise UsageError(f"the setting {name} of {env} is {value!r}; give one of {', '.join(map(str, allowed))}")
    return value
