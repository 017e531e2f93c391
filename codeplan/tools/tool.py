"""The port of a tool: its description for plans, the function that the host calls, and what ``codeplan.tool`` says."""

from __future__ import annotations

import functools
import inspect
import keyword
import unicodedata
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, overload

from msgspec.structs import replace

from codeplan.errors import AgentError, UsageError
from codeplan.types import AgentMethod, AgentParameter, AgentType
from codeplan.untrusted.values import in_quotes

_T = TypeVar("_T")

ErrorTest: TypeAlias = str | Callable[[Any], bool | str | Awaitable[bool | str | None] | None]
"""Says which answers of a tool are errors.

A text is the name of a key: a dict whose value under that key is true is an error. A function gets the value as the
plan would; it returns True or a text, which is the message, for an error, and False for none.
"""

MAX_TIMEOUT: Final = 86_400.0
"""The longest limit for a call, in seconds."""

_MARK: Final = "__codeplan_tool__"


class ToolSettings(NamedTuple):
    """What is said about tools; a field that is None or False says nothing.

    ``once``: an equal call that was answered is not made again. ``timeout`` is how many seconds a call may take.
    ``error_if`` says which answers are errors. ``at_once`` is how many of its calls may run at the same time.
    ``readonly`` says, for flows, that it only reads, ``untrusted`` that strangers write what it answers.
    """

    once: bool = False
    timeout: float | None = None
    error_if: ErrorTest | None = None
    at_once: int | None = None
    readonly: bool = False
    untrusted: bool = False

    def filled_from(self, other: ToolSettings) -> ToolSettings:
        """These settings, with the other ones where these say nothing."""
        timeout = other.timeout if self.timeout is None else self.timeout
        error_if = other.error_if if self.error_if is None else self.error_if
        at_once = other.at_once if self.at_once is None else self.at_once
        readonly, untrusted = self.readonly or other.readonly, self.untrusted or other.untrusted
        return ToolSettings(self.once or other.once, timeout, error_if, at_once, readonly, untrusted)


class ToolsWithSettings:
    """A function, an object, a module or a list of these, with settings for all of its tools.

    For everybody else it is what it wraps: it can be called, and has its attributes.
    """

    def __init__(self, thing: Any, settings: ToolSettings) -> None:
        self.thing, self.settings = thing, settings

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.thing(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.thing, name)


@overload
def tool(
    function: None = None,
    *,
    once: bool = False,
    timeout: float | None = None,
    error_if: ErrorTest | None = None,
    at_once: int | None = None,
    readonly: bool = False,
    untrusted: bool = False,
) -> Callable[[_T], _T]: ...


@overload
def tool(
    function: _T,
    *,
    once: bool = False,
    timeout: float | None = None,
    error_if: ErrorTest | None = None,
    at_once: int | None = None,
    readonly: bool = False,
    untrusted: bool = False,
) -> _T: ...


def tool(
    function: Any = None,
    *,
    once: bool = False,
    timeout: float | None = None,
    error_if: ErrorTest | None = None,
    at_once: int | None = None,
    readonly: bool = False,
    untrusted: bool = False,
) -> Any:
    """Say how codeplan treats a tool: ``@codeplan.tool(timeout=3)``, or ``tools=[codeplan.tool(send, once=True)]``.

    The function stays what it is for everybody else. ``codeplan.tool(thing, …)`` also takes an object, a module or a
    list, and holds for all of its tools; what a function says itself wins.

    ``once``: an equal call that was answered is not made again. ``timeout`` is how many seconds a call may take; then
    the plan gets a TimeoutError, and the call is in doubt. ``error_if`` is a key or a function (see ``ErrorTest``):
    an answer that it names is an error for the plan. ``at_once`` is how many of its calls may run at the same time, if
    a plan begins several: an ordinary function that says more than 1 is safe for threads, and runs in them. Without
    it, asynchronous functions run together, and calls of others one after the other. For flows (``codeplan.flows``),
    ``readonly`` says that it only reads, and ``untrusted`` that strangers may write what it answers.

    Raises: UsageError: a value is wrong, or the decorated thing is not a function.
    """
    limits = require_timeout(timeout, "timeout"), require_error_test(error_if), require_at_once(at_once)
    marks = require_mark(readonly, "readonly"), require_mark(untrusted, "untrusted")
    settings = ToolSettings(require_mark(once, "once"), *limits, *marks)
    if function is None:
        return functools.partial(_mark, settings)
    return function if settings == ToolSettings() else ToolsWithSettings(function, settings)


def _mark(settings: ToolSettings, function: Any) -> Any:
    """Keep the settings on the function itself. Raises: UsageError: it cannot keep them."""
    kept = inspect.unwrap(function.__func__) if isinstance(function, staticmethod | classmethod) else function
    try:
        if isinstance(kept, type) or not callable(kept):
            raise TypeError
        setattr(kept, _MARK, settings.filled_from(settings_of(kept)))
    except (AttributeError, TypeError):
        raise UsageError(
            f"codeplan.tool decorates functions and methods, not {in_quotes(function)}; for anything else, write "
            "tools=[codeplan.tool(…, timeout=3)]"
        ) from None
    return function


def settings_of(function: Any) -> ToolSettings:
    """What the decorator said about a function, inside partial objects and methods."""
    while isinstance(function, functools.partial):
        function = function.func
    found = getattr(getattr(function, "__func__", function), "__dict__", {}).get(_MARK)
    return found if isinstance(found, ToolSettings) else ToolSettings()


def require_mark(given: object, name: str) -> bool:
    """Raises: UsageError: it is not True or False."""
    if not isinstance(given, bool):
        raise UsageError(f"{name} is True or False, not {in_quotes(given)}")
    return given


def require_timeout(seconds: Any, name: str) -> float | None:
    """The limit for a call, None for none. Raises: UsageError: it is not a number of seconds."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MAX_TIMEOUT:
        raise UsageError(f"{name} is a number of seconds up to {MAX_TIMEOUT:,.0f}, not {in_quotes(seconds)}")
    return float(seconds)


MAX_AT_ONCE: Final = 64
"""The most calls that may run at the same time."""


def require_at_once(at_once: Any) -> int | None:
    """How many calls may run at the same time, None for nothing said. Raises: UsageError: it is not such a number."""
    if at_once is not None and (type(at_once) is not int or not 1 <= at_once <= MAX_AT_ONCE):
        raise UsageError(f"at_once is a whole number from 1 to {MAX_AT_ONCE}, not {in_quotes(at_once)}")
    return at_once


def require_error_test(test: Any) -> ErrorTest | None:
    """Raises: UsageError: it is neither a key nor a function."""
    is_function = callable(test) and not isinstance(test, type)
    if test is None or is_function or (isinstance(test, str) and test):
        return test  # type: ignore[no-any-return]
    raise UsageError(f"error_if is the name of a key, or a function error_if(value), not {in_quotes(test)}")


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
