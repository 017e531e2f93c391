"""The port for whatever runs plans, and the capabilities that an implementation may lack.

An implementation is correct if it passes ``BackendContract`` in ``tests/support``. A backend that lacks parts of
it declares them as a ``PartialBackend``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, Protocol, TypeAlias, runtime_checkable

import msgspec

from codeplan.sandbox.limits import Limits
from codeplan.types import AgentApi, Checkpoint, Outcome, Plan, Rejected
from codeplan.types.value import Value


class StepEntry(msgspec.Struct, frozen=True):
    """The plan entered a step. ``title`` is empty if unknown; ``checkpoint`` holds the variables at that moment."""

    step: int
    title: str
    checkpoint: Checkpoint


class OutputChunk(msgspec.Struct, frozen=True):
    """Text that the plan printed. Chunks arrive in order, before the next call, step or end."""

    text: str


class LineCoverage(msgspec.Struct, frozen=True):
    """Pairs of plan lines that ran one after the other in one function, each reported once. Untrusted.

    Lines count from 1. Line 0 stands for outside: a function is entered from 0 and left to 0.
    """

    arcs: list[tuple[int, int]]


Progress: TypeAlias = StepEntry | OutputChunk
"""The events that ``on_event`` receives."""


STEPS_ALONE: Final = "steps-alone"
"""The check's rule for steps without a plan to merge them into."""


class MergedReply(Value, frozen=True):
    """The previous plan with the reply's ``steps`` (their numbers) in place of its own."""

    source: str
    steps: tuple[int, ...]


class Backend(Protocol):
    """Checks and runs untrusted plans."""

    @property
    def limits(self) -> Limits:
        """The limits of each run."""

    def check(self, source: str, api: AgentApi | type) -> Plan | Rejected:
        """Check a plan for an agent with this API, given as data or as the agent's class. Nothing of the plan runs."""

    def run(
        self,
        plan: Plan | str,
        agent: object,
        ask: Callable[[str], str],
        start_from: int = 1,
        checkpoint: Checkpoint | None = None,
        *,
        on_event: Callable[[Progress], None] | None = None,
        seed: int = 0,
    ) -> Outcome | Rejected:
        """Run a plan from step ``start_from`` with the variables of ``checkpoint``.

        The plan reaches the agent's public methods and attributes and ``ask``, and nothing else of the host. Exceptions
        of codeplan that ``agent`` or ``ask`` raise pass through, except AgentError.

        Raises CheckpointError if the checkpoint is damaged, UsageError if an argument is wrong, SandboxError if this
        machine cannot run plans.
        """


class Capability(StrEnum):
    """The capabilities that a backend may declare as missing. Everything else in the contract is mandatory.

    - ASSERTIONS: A failed assertion ends the plan, whatever handlers surround it.
    - TURNS: Loop iterations are counted and limited.
    - RECURSION: Too deep a recursion ends the plan as a limit, not as an exception that it can catch.
    - SAVED_AT_LIMIT: The variables are saved when a limit of time or memory ends the run.
    - CYCLES: Checkpoints restore values that contain themselves.
    - SURROGATES: Texts with half a surrogate pair pass unchanged in both directions.
    - DELETION: The ``del`` statement.
    - MODULES: The plan language's members of ``re``, ``json``, ``math``, ``string``, ``random`` and ``collections``.
    - BUILTINS: All builtins of the plan language, and all methods of the builtin types.
    - ERRORS: Exceptions have Python's messages and take any arguments, also in ``json`` and ``literal_eval``.
    - TYPE_METHODS: Methods taken from a type, as in ``map(str.strip, lines)``.
    - GENERATORS: Generator expressions, ``map`` and ``filter`` are lazy.
    - CALLBACKS: A function that a method calls, as in ``places.sort(key=…)``, reaches agent and model.
    - IN_PLACE: ``b += [2]`` and ``b *= 2`` change the list itself, under all its names.
    - BOUND_METHODS: A bound method is a value, as in ``sorted(d, key=d.get)``.
    """

    ASSERTIONS = "assertions"
    TURNS = "turns"
    RECURSION = "recursion"
    SAVED_AT_LIMIT = "saved at limit"
    CYCLES = "cycles"
    SURROGATES = "surrogates"
    DELETION = "del"
    MODULES = "modules"
    BUILTINS = "builtins"
    ERRORS = "errors"
    TYPE_METHODS = "type methods"
    GENERATORS = "generators"
    CALLBACKS = "callbacks"
    IN_PLACE = "in place"
    BOUND_METHODS = "bound methods"


@runtime_checkable
class PartialBackend(Protocol):
    """A backend that does not fulfil the whole contract."""

    @property
    def differences(self) -> Mapping[Capability, str]:
        """The missing capabilities, each with the reason in one sentence."""
