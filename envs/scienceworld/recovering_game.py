"""A game that survives the end of its engine: it is repeated in a new one, and every answer is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from codeplan.envs.scienceworld import engine_pool
from codeplan.envs.scienceworld.engine_process import EngineAnswer, EngineProcess
from codeplan.envs.scienceworld.py4j_connection import EngineError, EngineLost
from codeplan.errors import EnvironmentFailure
from codeplan.types import Value

T = TypeVar("T")


class GameSetup(Value, frozen=True):
    """The start of a game."""

    kind: str
    variation: int
    simplifications: str


class RecoveringGame:
    """Plays one game after another with an engine of its own.

    Methods raise EnvironmentFailure if a second engine ends at the same point or answers differently, or if the engine
    does not answer in time; UsageError if Java or the engine is missing.
    """

    def __init__(self) -> None:
        self._engine: EngineProcess | None = None
        self._setup: GameSetup | None = None
        self._first: tuple[str, EngineAnswer] | None = None
        self._history: list[tuple[str, EngineAnswer]] = []

    def begin(self, setup: GameSetup) -> tuple[str, EngineAnswer]:
        """Begin a game. Returns the task's description and the first look around."""
        self._setup, self._first, self._history = setup, None, []
        self._first = self._with_engine(lambda engine: _load(engine, setup))
        return self._first

    def act(self, action: str) -> EngineAnswer:
        """Do one action."""
        answer = self._with_engine(lambda engine: engine.step(action))
        self._history.append((action, answer))
        return answer

    def close(self) -> None:
        """Return the engine. Safe to call twice."""
        if self._engine is not None:
            engine_pool.release(self._engine)
        self._engine = self._setup = self._first = None
        self._history = []

    def _with_engine(self, call: Callable[[EngineProcess], T]) -> T:
        """The result of a call; if the engine ends meanwhile, of the same call in a new one."""
        try:
            return self._try(call)
        except EngineLost:
            return self._try(call)

    def _try(self, call: Callable[[EngineProcess], T]) -> T:
        """The result of a call to the engine; a new one repeats the game first."""
        if self._engine is None:
            self._engine = engine_pool.acquire()
            self._guard(self._repeat)
        return self._guard(call)

    def _guard(self, call: Callable[[EngineProcess], T]) -> T:
        """The result of a call. An engine that gives no result is killed, unless it reports the failure itself."""
        assert self._engine is not None, "a call needs an engine"
        try:
            return call(self._engine)
        except EngineError:
            raise
        except BaseException:  # also after an interrupt: the answer would be taken for the next call's
            engine_pool.discard(self._engine)
            self._engine = None
            raise

    def _repeat(self, engine: EngineProcess) -> None:
        if self._setup is None or self._first is None:
            return
        self._compare(self._first, _load(engine, self._setup), "its first answer")
        for action, answer in self._history:
            self._compare(answer, engine.step(action), "a later answer")

    @staticmethod
    def _compare(before: object, now: object, what: str) -> None:
        if before != now:
            raise EnvironmentFailure(f"ScienceWorld's engine ended, and in a new one {what} differs; begin anew")


def find_gold_path(setup: GameSetup) -> tuple[str, ...]:
    """The engine's own actions that win a game. Raises as RecoveringGame's methods."""
    engine = engine_pool.acquire()
    try:
        path = engine.gold_path(setup.kind, setup.variation, setup.simplifications)
    except BaseException:
        engine_pool.discard(engine)
        raise
    engine_pool.release(engine)
    return path


def _load(engine: EngineProcess, setup: GameSetup) -> tuple[str, EngineAnswer]:
    return engine.load(setup.kind, setup.variation, setup.simplifications)
