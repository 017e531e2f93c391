"""One game being played: the state, the actions spent, the end."""

from __future__ import annotations

from codeplan.envs.household import choices, engine, text
from codeplan.envs.household.game import Game, State
from codeplan.types import Observation, Value


class Moment(Value, frozen=True):
    """Where a game stands: all that is needed to go on from there. Kept by reference, never copied."""

    state: State
    actions: int = 0
    done: bool = False
    success: bool = False


class Play:
    """Plays a game from its start, one action after another, until it is won or ``actions`` are spent."""

    def __init__(self, game: Game, actions: int) -> None:
        self.game = game
        self.limit = actions
        self.moment = Moment(game.start)

    def begin(self) -> Observation:
        """The sentence about the room and the task."""
        return Observation(text.introduction(self.game))

    def step(self, action: str) -> Observation:
        """Do one action. The one that wins brings the reward 1; the last one that is allowed ends the game as well."""
        now = self.moment
        if now.done:
            return Observation("The episode is over.", done=True, success=now.success)
        state, answer = engine.act(self.game, now.state, action)
        won = engine.satisfied(self.game, state)
        self.moment = Moment(state, now.actions + 1, won or now.actions + 1 >= self.limit, won)
        return Observation(answer, reward=float(won), done=self.moment.done, success=won)

    def admissible(self) -> tuple[str, ...]:
        """Every action that could be done now, sorted; none once the game is over."""
        return () if self.moment.done else choices.admissible(self.game, self.moment.state)
