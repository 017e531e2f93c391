"""An agent that probes the limits of a sandbox."""

from __future__ import annotations

from collections.abc import Callable

from codeplan.errors import AgentError
from codeplan.types import Observation


class SampleHome:
    """Records its calls, holds a secret, and has methods that return and raise what agents should not."""

    holding: str | None

    def __init__(self, act: Callable[[str], object]) -> None:
        self.act = act
        self.holding = None
        self.receptacles = ["shelf 1", "desk 1"]
        self.history: list[str] = []
        self._secret = "CANARY"

    def goto(self, receptacle: str) -> Observation:
        """Go to a receptacle."""
        self.history.append(receptacle)
        return Observation(f"You are at {receptacle}.")

    def echo(self, value: object, *more: object, **named: object) -> object:
        """Return the argument, or all arguments."""
        return [value, list(more), named] if more or named else value

    def odd(self, kind: str) -> object:
        """Return a value or raise an error that agents should not."""
        value = _ODD_VALUES.get(kind) if isinstance(kind, str) else None
        if value is None:
            raise AgentError("there is no such kind")
        return value(self)

    def report(self) -> str:
        """Return where the agent is."""
        return "at home"


def _raise(error: BaseException) -> object:
    raise error


def _loop(home: SampleHome) -> object:
    endless: list[object] = []
    endless.append(endless)
    return endless


def _refuse(error: str) -> Callable[[SampleHome], object]:
    return lambda home: _raise(AgentError("shelf", error))


_NAMED = ("KeyError", "PermissionError", "FileNotFoundError", "AssertionError", "KeyboardInterrupt", "print")
_ODD_VALUES: dict[str, Callable[[SampleHome], object]] = {
    "self": lambda home: home,
    "set": lambda home: {1},
    "endless": _loop,
    "huge": lambda home: "x" * 2_000_000,
    "numbers": lambda home: [2**80, float("inf"), -0.0, (1, (2,)), {"a": None, 1: True}],
    "surrogate": lambda home: "\ud800",
    "AgentError": lambda home: _raise(AgentError("there is no such shelf")),
    **{f"typed {name}": _refuse(name) for name in _NAMED},
    "interrupt": lambda home: _raise(KeyboardInterrupt()),
}
