"""What runs plans: the port that the locked worker implements, and that others may implement beside it.

An executor is right when it passes ``codeplan.testing.backend.ExecutorContract``. Where it cannot do all of that, it
says so: see ``Differs``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol, runtime_checkable

from codeplan.sandbox.limits import Limits
from codeplan.sandbox.protocol.progress import Progress
from codeplan.types.agent import AgentApi
from codeplan.types.plan import Checkpoint, Plan, Rejected
from codeplan.types.run import Failed, Finished, Stopped


class Backend(Protocol):
    """Checks plans that nobody trusts, and runs them."""

    @property
    def limits(self) -> Limits:
        """What each run may use."""
        ...

    def check(self, source: str, api: AgentApi | type) -> Plan | Rejected:
        """Whether the source is a plan for an agent with this API; a class stands for its own. Nothing of it is run."""
        ...

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
    ) -> Finished | Failed | Stopped | Rejected:
        """Run a plan from step ``start_from`` on, with the variables of ``checkpoint``.

        The plan reaches the agent's public methods and attributes and ``ask``, and nothing else of the host. Raises
        CheckpointError for a damaged checkpoint, UsageError for a wrong argument, SandboxError where plans cannot be
        run here at all; exceptions of codeplan's own that ``agent`` or ``ask`` raise pass through, but for AgentError.
        """
        ...


class Capability(StrEnum):
    """What an executor may lack, and must then declare. Everything else that the contract asks is owed by all."""

    ASSERTIONS = "assertions"
    """A failed assertion ends the plan, whatever handlers stand around it."""

    TURNS = "turns"
    """Turns of loops are counted, and limited."""

    RECURSION = "recursion"
    """Too deep a recursion is a limit that cannot be caught, rather than an exception."""

    SAVED_AT_LIMIT = "saved at limit"
    """The variables are saved also where a limit of time or memory ended the run."""

    CYCLES = "cycles"
    """Values that hold themselves are restored from a checkpoint."""

    SURROGATES = "surrogates"
    """Texts with half a surrogate pair go in and out unchanged."""

    DELETION = "del"
    """The ``del`` statement."""

    MODULES = "modules"
    """All that the plan language gives of ``re``, ``json``, ``math``, ``string``, ``random`` and ``collections``."""

    BUILTINS = "builtins"
    """All builtins of the plan language, and all methods of the builtin types."""

    ERRORS = "errors"
    """Exceptions have Python's messages and take any arguments, also those of ``json`` and ``literal_eval``."""

    TYPE_METHODS = "type methods"
    """Methods taken from a type, as in ``map(str.strip, lines)``."""

    GENERATORS = "generators"
    """Generator expressions are computed as they are consumed, and ``next`` takes them."""

    IN_PLACE = "in place"
    """``b += [2]`` and ``b *= 2`` change the list that ``b`` names, for every name that it has."""

    BOUND_METHODS = "bound methods"
    """A method of a value is a value itself, as in ``sorted(d, key=d.get)``."""


@runtime_checkable
class PartialBackend(Protocol):
    """An executor that does not do all that the contract asks."""

    @property
    def differences(self) -> Mapping[Capability, str]:
        """What it lacks, each with the reason, as one sentence."""
        ...
