"""The port for whatever runs plans, the value that describes a run, and what is reported of it.

``BackendContract`` in ``tests/support`` says what an implementation must do, except for what it declares to lack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from codeplan.errors import UsageError
from codeplan.sandbox.protocol.limits import Limits
from codeplan.types import Checkpoint, Outcome, Plan, Rejected
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    from codeplan.sandbox.host.plan_texts import PlanTexts


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


@dataclass(frozen=True)
class RunRequest:
    """One run of a plan, from step ``start_from`` with the variables of ``checkpoint``.

    The plan reaches the public methods and attributes of ``agent``, and ``ask`` as ``ask_llm``; ``seed`` seeds its
    random numbers. Its clock begins at ``started``, Unix time in seconds (None: now), and it sleeps if ``waits``, which
    a replay need not. ``on_event`` receives each step and each piece of output at once. ``on_coverage`` receives the
    lines that run; it slows the plan down. Raises: UsageError: ``start_from`` or ``seed`` is not a number of 64 bits.
    """

    plan: Plan | str
    agent: object
    ask: Callable[[str], str]
    start_from: int = 1
    checkpoint: Checkpoint | None = None
    on_event: Callable[[Progress], None] | None = None
    seed: int = 0
    on_coverage: Callable[[LineCoverage], None] | None = None
    started: float | None = None
    waits: bool = True

    def __post_init__(self) -> None:
        for name, value in {"start_from": self.start_from, "seed": self.seed}.items():
            if type(value) is not int or not -(2**63) <= value < 2**63:
                raise UsageError(f"{name} must be a whole number of at most 64 bits, not {in_quotes(value, 80)}")


class Backend(Protocol):
    """Checks and runs untrusted plans. Thread-safe."""

    @property
    def limits(self) -> Limits:
        """The limits of each run."""

    @property
    def differences(self) -> Mapping[Capability, str]:
        """The missing capabilities, each with the reason in one sentence."""

    @property
    def missing_layers(self) -> tuple[str, ...]:
        """The layers of protection that should be there and are not."""

    @property
    def texts(self) -> PlanTexts:
        """What checks plans and analyses their texts."""

    def run(self, run: RunRequest) -> Outcome | Rejected:
        """Run a plan. One given as text is Rejected if it cannot run; one that was checked is not checked again.

        Exceptions of codeplan that the agent or ``ask`` raise pass through, except AgentError.

        Raises CheckpointError if the checkpoint is damaged, UsageError if an argument is wrong, SandboxError if this
        machine cannot run plans.
        """


class Capability(StrEnum):
    """The capabilities that a backend may declare as missing. Everything else in the contract is mandatory.

    - ASSERTIONS: A failed assertion ends the plan, whatever handlers surround it.
    - TURNS: Loop iterations are counted and limited.
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
    - CONCURRENCY: Calls at the same time: ``async def``, ``await``, ``asyncio``, ``concurrent.futures`` and ``each``.
    - BOUND_METHODS: A bound method is a value, as in ``sorted(d, key=d.get)``.
    - INHERITANCE: Classes with bases: a plan's own, exceptions, ``Enum``, ``NamedTuple``; ``super``.
    - METHOD_DECORATORS: ``property``, ``classmethod``, ``staticmethod`` and other decorators of methods.
    - YIELD: Generator functions, and ``contextmanager``.
    - ERROR_GROUPS: ``except*``.
    - FUNCTION_ATTRIBUTES: A function has attributes that the plan writes.
    - FORMS: ``ask_llm`` takes ``data`` and ``form``, and may return ``NotKnown``; without it, a question alone.
    """

    ASSERTIONS = "assertions"
    TURNS = "turns"
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
    CONCURRENCY = "calls at the same time"
    BOUND_METHODS = "bound methods"
    INHERITANCE = "inheritance"
    METHOD_DECORATORS = "method decorators"
    YIELD = "yield"
    ERROR_GROUPS = "error groups"
    FUNCTION_ATTRIBUTES = "function attributes"
    FORMS = "forms of answers"
