"""Reads an agent's API off its class: as data for the checker and the sandbox, as text for prompts."""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from codeplan.types import AgentApi, AgentAttribute, AgentMethod, AgentParameter
from codeplan.untrusted.texts import escape_surrogates

plan_place: Final[ContextVar[tuple[int | None, int | None]]] = ContextVar("plan_place", default=(None, None))
"""The step and the line of the plan whose call of its agent is answered now; None without a plan, or if unknown."""


class EndedCall(NamedTuple):
    """A call that was begun and has its answer, ``seconds`` after the answer before it.

    ``result`` returns its value, or raises as the agent's method does.
    """

    id: int
    seconds: float
    result: Callable[[], object]


class AgentCalls(Protocol):
    """The calls of one agent that are begun and not waited for. Used by one thread.

    An agent that can have several calls open has it as ``_open_calls_``; the methods of any other are called one by
    one, in the order in which they are begun.
    """

    def begins(self, method: str) -> bool:
        """Whether calls of this method can be begun; the agent does the others itself at once."""
        ...

    def begin(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
        """Begin a call and return its id. Raises as the agent's method, except for what its own work raises."""
        ...

    def cancel(self, id: int) -> bool:
        """Drop an open call that is not made yet. False: it is being made, or is answered."""
        ...

    def next_answer(self, seconds: float | None) -> EndedCall | None:
        """Wait for the next answer; None: ``seconds`` have passed (None: no limit). There is an open call."""
        ...

    def finish(self) -> None:
        """Wait until the calls that are being made are answered, and drop the others. Safe to call twice."""
        ...

    def abandon(self) -> None:
        """Stop waiting: whether the open calls are done stays unknown. Safe to call twice."""
        ...


@lru_cache(maxsize=64)
def agent_api(agent: type) -> AgentApi:
    """The public methods and attributes of an Agent class, in the order of their definition.

    A name is public unless it begins with an underscore. Attributes are annotations, properties, plain class values,
    and what ``__init__`` sets on ``self`` (except its first parameter, the callable that acts). A class may declare
    other names of its methods: ``_aliases = {"press": "press_key"}``. Models often write such names out of habit; the
    check rewrites them. A class that is made at run time declares its whole API: ``_api``, an AgentApi.
    """
    declared = vars(agent).get("_api")
    if isinstance(declared, AgentApi):
        return declared
    methods = tuple(_method(name, f) for name, f in _members(agent) if inspect.isfunction(f))
    aliases = tuple(getattr(agent, "_aliases", {}).items())
    return AgentApi(methods, tuple(_attributes(agent)), _doc(agent), aliases)


def report_of(agent: Any) -> str:
    """What an agent reports. Where a tool has the name ``report``, the agent's own is another."""
    own = getattr(agent, "_report_", None) or agent.report
    return str(own())


def reduced_api(agent: type, names: Collection[str], doc: str) -> AgentApi:
    """The API of an Agent class with these names alone, described by ``doc``: for the ``_api`` of a subclass.

    Raises: ValueError: the class has no such name.
    """
    api = agent_api(agent)
    if unknown := sorted(set(names) - set(api.names)):
        raise ValueError(f"{agent.__name__} has no {', '.join(unknown)}")
    return AgentApi(
        tuple(m for m in api.methods if m.name in names),
        tuple(a for a in api.attributes if a.name in names),
        inspect.cleandoc(doc),
        tuple((other, name) for other, name in api.aliases if name in names),
    )


def describe_api(api: AgentApi) -> str:
    """The API as the class stub that prompts show: signatures and docstrings without bodies.

    The types that its signatures use come before the class, and the methods that are shown briefly come at its end.
    """
    lines = [line for t in api.types for line in (*t.text.splitlines(), "")]
    lines += ["class Agent:"]
    lines += [f"    {line}".rstrip() for line in _docstring(api.doc)]
    for a in api.attributes:
        note = f"  # {a.doc}" if a.doc else ""
        lines.append(f"    {a.name}: {a.type or 'object'}{note}")
    known, hidden = {m.name: m for m in api.methods}, {*api.brief, *api.unlisted}
    for m in (m for m in api.methods if m.name not in hidden):
        rest = m.signature[1:]
        lines += ["", f"    def {m.name}(self{'' if rest.startswith(')') else ', '}{rest}:"]
        lines += [f"        {line}".rstrip() for line in _docstring(_without_types(m)) or ["..."]]
    if hidden:
        lines += ["", f"    # Further methods; agent.{api.describe}(name) returns the whole description of one:"]
    lines += [f"    # {known[name].first_line}" for name in api.brief]
    if api.unlisted:
        lines.append(f"    # and {len(api.unlisted):,} more; agent.{api.describe}('some words') finds those that fit")
    return "\n".join(lines)


def _members(agent: type) -> Iterator[tuple[str, object]]:
    """Public names and their values: base classes first, each name at its first position with its last value."""
    seen: dict[str, object] = {}
    for cls in reversed(agent.__mro__[:-1]):
        seen.update((n, v) for n, v in vars(cls).items() if not n.startswith("_"))
    return iter(seen.items())


def _doc(described: object) -> str:
    """The docstring, without indentation; empty if there is none."""
    return escape_surrogates(inspect.getdoc(described) or "")


def _method(name: str, function: object) -> AgentMethod:
    signature = inspect.signature(function)  # type: ignore[arg-type]  # isfunction() does not narrow
    parameters = list(signature.parameters.values())[1:]
    written = [p.replace(annotation=_as_written(p.annotation)) for p in parameters]
    shown = str(signature.replace(parameters=written, return_annotation=_as_written(signature.return_annotation)))
    return AgentMethod(name, shown, _doc(function), tuple(_parameter(p) for p in parameters))


class _AnnotationText(str):
    """An annotation given as text, which ``inspect`` then shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _as_written(annotation: object) -> object:
    return _AnnotationText(annotation) if isinstance(annotation, str) else annotation


def _parameter(p: inspect.Parameter) -> AgentParameter:
    variadic = p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    return AgentParameter(p.name, p.kind.name, required=p.default is p.empty and not variadic)  # type: ignore[arg-type]


def _attributes(agent: type) -> Iterator[AgentAttribute]:
    types = {n: _type_name(t) for c in reversed(agent.__mro__[:-1]) for n, t in inspect.get_annotations(c).items()}
    found: dict[str, AgentAttribute] = {n: AgentAttribute(n, t) for n, t in types.items() if not n.startswith("_")}
    for name, value in _members(agent):
        if isinstance(value, property):
            returns = getattr(value.fget, "__annotations__", {}).get("return", "")
            found[name] = AgentAttribute(name, _type_name(returns), _first_line(_doc(value)))
        elif not callable(value) and not isinstance(value, (staticmethod, classmethod)):
            found.setdefault(name, AgentAttribute(name, type(value).__name__))
    for name in _set_in_init(agent):
        found.setdefault(name, AgentAttribute(name))
    return iter(found.values())


def _set_in_init(agent: type) -> Iterator[str]:
    """The public names that ``__init__`` sets on ``self``, according to its bytecode."""
    init = vars(agent).get("__init__")
    if not inspect.isfunction(init):
        return
    act = next(iter(list(inspect.signature(init).parameters)[1:]), None)
    for i in dis.get_instructions(init):
        if i.opname == "STORE_ATTR" and not i.argval.startswith("_") and i.argval != act:
            yield i.argval


def _type_name(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _first_line(doc: str | None) -> str:
    return (doc or "").split("\n", 1)[0]


_ARGUMENT: Final = re.compile(r"(?P<name>\s*\*{0,2}\w++) \([^()]*+\):")


def _without_types(method: AgentMethod) -> str:
    """The documentation; if it lists arguments as ``name (type): …``, without the types that the signature has, and
    without blank lines.
    """
    lines = method.doc.splitlines()
    if "Args:" not in map(str.strip, lines):
        return method.doc
    names = {p.name for p in method.parameters if f"{p.name}:" in method.signature}
    shown: list[str] = []
    listed = False
    for line in filter(str.strip, lines):
        listed = line.strip() == "Args:" or (listed and line.strip() != "Returns:")
        found = _ARGUMENT.match(line) if listed else None
        named = found is not None and found["name"].strip(" *") in names
        shown.append(f"{found['name']}:{line[found.end() :]}" if found and named else line)
    return "\n".join(shown)


def _docstring(doc: str) -> list[str]:
    return [*f'"""{doc}'.splitlines(), '"""'] if "\n" in doc else [f'"""{doc}"""'] if doc else []
