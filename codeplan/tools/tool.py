"""The port of a tool: its description for plans, and the function that the host calls."""

from __future__ import annotations

import inspect
import keyword
import unicodedata
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from codeplan.errors import AgentError, UsageError
from codeplan.tools.tool_settings import ErrorTest
from codeplan.types import AgentMethod, AgentParameter, AgentType
from codeplan.untrusted.values import in_quotes

Need: TypeAlias = Literal["allow", "ask"]
"""What happens to a call: it is made, or it is made if the user approves it."""

ToolCall: TypeAlias = Callable[[Mapping[str, Any]], object | Awaitable[object]]
"""Calls a tool with its arguments by parameter name, ``*args`` as a list and ``**kwargs`` as a dict.

The arguments are plain data that a plan made: the tool checks them before anything happens. The result becomes plain
data (see ``results.pack_result``). A tool raises AgentError to tell the plan what was wrong with the call; any other
exception is a failure of the tool, which the developer sees with its traceback.
"""

MAX_TOOL_NAME_CHARS = 100
"""Maximum length of a tool's name, in characters."""

RESERVED_PARAMETER_NAMES = frozenset({"_agent_", "self"})
"""Names of the agent itself: in a call, and in the description that models read."""


@dataclass(frozen=True)
class Tool:
    """A function that plans may call as a method of their agent.

    ``name`` is the name by which plans call it. ``method`` is its description for plans and models; its ``parameters``
    decide which calls fit. ``types`` explain the names that its signature uses. ``approval`` holds unless the user's
    patterns say otherwise. ``hint`` is the server's own description of the tool's effects: it is shown to the user who
    approves a call, and codeplan does not rely on it. ``prepare`` does preparations for a call: if it raises, the call
    has not begun, and is not in doubt. ``once``, ``timeout``, ``error_if``, ``readonly`` and ``untrusted`` are as in
    ``codeplan.tool``.
    ``keeps_deadline``: ``call`` itself ends when ``budget.seconds_left`` is over, with DeadlinePassed; other calls with
    a limit run in a thread. ``at_once`` is how many of its calls may run at the same time, None if nothing is said:
    then as many as the tool set allows if it ``is_asynchronous``, otherwise one. ``misfit`` says what a result has in
    place of the declared type; empty if it fits.

    Raises: UsageError: the name cannot be a method's name in a plan.
    """

    method: AgentMethod
    call: ToolCall
    types: tuple[AgentType, ...] = ()
    approval: Need = "allow"
    hint: str = ""
    prepare: Callable[[], None] | None = None
    once: bool = False
    timeout: float | None = None
    error_if: ErrorTest | None = None
    keeps_deadline: bool = False
    misfit: Callable[[Any], str] | None = None
    at_once: int | None = None
    is_asynchronous: bool = False
    readonly: bool = False
    untrusted: bool = False
    name: str = field(init=False, repr=False, compare=False)
    signature: inspect.Signature = field(init=False, repr=False, compare=False)
    _required: dict[str, bool] = field(init=False, repr=False, compare=False)
    _positional: tuple[str, ...] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.method.name)
        if fault := name_fault(self.name):
            raise UsageError(f"a tool cannot have the name {in_quotes(self.name)}: {fault}")
        if reserved := [p.name for p in self.method.parameters if p.name in RESERVED_PARAMETER_NAMES]:
            raise UsageError(
                f"the tool {self.name} has a parameter {reserved[0]}, which stands for the agent; rename it"
            )
        if odd := [p.name for p in self.method.parameters if not p.name.isidentifier()]:
            raise UsageError(f"the tool {self.name} has a parameter {in_quotes(odd[0])}, which is no Python name")
        object.__setattr__(self, "signature", _signature(self.method))
        object.__setattr__(self, "_required", {p.name: p.required for p in self.method.parameters})
        object.__setattr__(self, "_positional", _positional_names(self.method))

    def require_fit(self, arguments: Mapping[str, Any]) -> None:
        """Check the arguments' names. Raises: AgentError: one is unknown, or a required one is missing."""
        for name in arguments:
            if name not in self._required:
                raise AgentError(f"{self._form} has no parameter {in_quotes(name)}", "TypeError")
        for name, required in self._required.items():
            if required and name not in arguments:
                raise AgentError(f"{self._form} was called without {name}", "TypeError")

    @property
    def runs_alone(self) -> bool:
        """Whether its calls run one after the other, in the thread of the episode."""
        return self.at_once == 1 or (self.at_once is None and not self.is_asynchronous)

    def bind_simply(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name, as ``signature.bind`` finds them; None if that must look, or would refuse them.

        ``bind`` would cost more than the rest of a quick call.
        """
        names = self._positional
        if names is None or len(args) > len(names):
            return None
        found = dict(zip(names, args, strict=False))
        if kwargs:
            if not found.keys().isdisjoint(kwargs) or not kwargs.keys() <= self._required.keys():
                return None
            found |= kwargs
        fits = all(name in found for name, required in self._required.items() if required)
        return found if fits else None

    @property
    def _form(self) -> str:
        return self.name + self.method.signature.split(" -> ")[0]


def name_fault(name: str) -> str:
    """Why a tool cannot have this name; empty if it can."""
    if not name.isidentifier() or keyword.iskeyword(name) or unicodedata.normalize("NFKC", name) != name:
        return "it is no Python name"
    if name.startswith("_"):
        return "names that begin with an underscore are private"
    if len(name) > MAX_TOOL_NAME_CHARS:
        return f"it has {len(name):,} characters, more than {MAX_TOOL_NAME_CHARS}"
    return ""


def _signature(method: AgentMethod) -> inspect.Signature:
    """The signature of the agent's method, with the agent in front. The tool itself applies its defaults."""
    agent = inspect.Parameter("_agent_", inspect.Parameter.POSITIONAL_ONLY)
    own = (
        inspect.Parameter(p.name, getattr(inspect.Parameter, p.kind), default=_default(p)) for p in method.parameters
    )
    return inspect.Signature([agent, *own])


def _positional_names(method: AgentMethod) -> tuple[str, ...] | None:
    """The parameters that arguments by position fill, in order; None if some take no or many arguments by name."""
    kinds = {p.kind for p in method.parameters}
    if not kinds <= {"POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY"}:
        return None
    return tuple(p.name for p in method.parameters if p.kind == "POSITIONAL_OR_KEYWORD")


def _default(parameter: AgentParameter) -> object:
    """A default only says that the parameter may be left out."""
    optional = not parameter.required and not parameter.kind.startswith("VAR")
    return None if optional else inspect.Parameter.empty


REPORT = AgentMethod("report", "() -> str", "The last call and its answer in a sentence.")
"""The agent's own method, which the messages of assertions use."""


def own_method(method: AgentMethod, taken: Container[str]) -> AgentMethod:
    """A method of the agent's own, under a name that no tool has: underscores are appended until it is free."""
    name = method.name
    while name in taken:
        name += "_"
    return method if name == method.name else replace(method, name=name)
