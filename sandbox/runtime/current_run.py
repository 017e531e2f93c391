"""The run that a process serves, as the runtime sees it. The runtime is made before the run is known."""

from __future__ import annotations

import random
from typing import Any, Protocol

from codeplan.sandbox.runtime.termination import PlanTermination


class HostCalls(Protocol):
    """The host's side of a run.

    ``failure`` is set before it is raised, so that code that runs later (a ``finally``) cannot replace it. ``call``,
    ``read`` and ``ask`` raise RuntimeError with a message that the plan may see.
    """

    methods: frozenset[str]
    attributes: frozenset[str]
    failure: PlanTermination | None

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Call a method of the agent with plain data."""
        ...

    def read(self, attribute: str) -> object:
        """Return the current value of an attribute of the agent."""
        ...

    def ask(self, question: str) -> str:
        """Ask the model."""
        ...

    def print(self, text: str) -> None:
        """Receive a piece of the plan's output."""
        ...


class CurrentRun:
    """The run's host, its seed, and its random numbers, which are the same for the same seed."""

    host: HostCalls
    seed: int

    def __init__(self) -> None:
        self.generator = random.Random()

    def begin(self, host: HostCalls, seed: int) -> None:
        """Serve this run from now on."""
        self.host, self.seed = host, seed
        self.generator.seed(seed)
