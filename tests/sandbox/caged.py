"""What the tests of the cage share: a home with an agent in it, plans, and bare workers."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable

from codeplan.errors import AgentError
from codeplan.sandbox import Limits, Sandbox, wire
from codeplan.sandbox.cage import launcher
from codeplan.sandbox.cage.process import WorkerProcess
from codeplan.types import Checkpoint, Failed, Finished, Observation, Rejected, Stopped


class Home:
    """An agent whose calls are written down."""

    holding: str | None

    def __init__(self, act: Callable[[str], object]) -> None:
        self.act = act
        self.holding = None
        self.receptacles = ["shelf 1", "desk 1"]
        self.history: list[str] = []
        self._secret = "CANARY"

    def goto(self, receptacle: str) -> Observation:
        """Walk there."""
        self.history.append(receptacle)
        return Observation(f"You are at {receptacle}.")

    def echo(self, value: object, *more: object, **named: object) -> object:
        """The argument, or all of them."""
        return [value, list(more), named] if more or named else value

    def odd(self, kind: str) -> object:
        """Values that agents should not return, and errors."""
        return ODD[kind](self)

    def report(self) -> str:
        """Where it is."""
        return "at home"


def _raise(error: BaseException) -> object:
    raise error


def _loop(home: Home) -> object:
    endless: list[object] = []
    endless.append(endless)
    return endless


ODD: dict[str, Callable[[Home], object]] = {
    "self": lambda home: home,
    "set": lambda home: {1},
    "endless": _loop,
    "huge": lambda home: "x" * 2_000_000,
    "numbers": lambda home: [2**80, float("inf"), -0.0, (1, (2,)), {"a": None, 1: True}],
    "surrogate": lambda home: "\ud800",
    "KeyError": lambda home: _raise(KeyError("CANARY")),
    "AgentError": lambda home: _raise(AgentError("there is no such shelf")),
    "interrupt": lambda home: _raise(KeyboardInterrupt()),
}


def plan(body: str) -> str:
    """A plan with this body."""
    return "def solution(agent, start_from=1):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def answer(question: str) -> str:
    """A model that repeats."""
    return f"re: {question}"


def run(
    body: str,
    home: Home | None = None,
    start_from: int = 1,
    checkpoint: Checkpoint | None = None,
    **limits: float,
) -> Finished | Failed | Stopped | Rejected:
    """Run a plan with this body in a sandbox with these limits."""
    sandbox = Sandbox(Limits(**limits))  # type: ignore[arg-type]  # the tests name fields of the right kinds
    return sandbox.run(plan(body), home or Home(lambda action: None), answer, start_from, checkpoint)


def finished(outcome: object) -> Finished:
    """The outcome, which must be that the plan came to its end."""
    assert isinstance(outcome, Finished), outcome
    return outcome


def failed(outcome: object) -> Failed:
    """The outcome, which must be a failure of the plan."""
    assert isinstance(outcome, Failed), outcome
    return outcome


def stopped(outcome: object, limit: str) -> Stopped:
    """The outcome, which must be a stop at this limit."""
    assert isinstance(outcome, Stopped), outcome
    assert outcome.limit == limit, outcome
    return outcome


def locked_worker(limits: Limits | None = None, *, setup: bool = True) -> WorkerProcess:
    """A worker without a job; locked in, unless told otherwise."""
    limits = limits or Limits()
    worker = launcher.spawn()
    if setup:
        deadline = time.monotonic() + 10
        worker.send(wire.Setup(limits.memory, limits.cpu, limits.wall), deadline)
        assert isinstance(worker.receive(deadline), wire.Ready)
    return worker
