"""Tool sets: functions, objects, modules and files become tools with unique names, and with what holds for all."""

from __future__ import annotations

import inspect
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import FunctionType, GeneratorType, ModuleType
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from codeplan.errors import UsageError
from codeplan.tools.approvals import GivenPattern, read_patterns, require_fitting
from codeplan.tools.arguments import TypeWriter
from codeplan.tools.python_tools import PythonCall, build_tool, functions_of, things_of_file, with_settings
from codeplan.tools.tool import (
    REPORT,
    ErrorTest,
    Tool,
    ToolSettings,
    ToolsWithSettings,
    name_fault,
    own_method,
    require_at_once,
    require_error_test,
    require_timeout,
)
from codeplan.types import AgentApi, AgentTool, AgentType
from codeplan.untrusted.texts import echo_message, with_article, with_count
from codeplan.untrusted.values import in_quotes

DOC: Final = "The tools that you may call. Results are plain data: values of the classes shown here are dicts."
"""The text that models read above the tools."""

AT_ONCE: Final = 8
"""How many calls run at the same time, unless the user says otherwise."""


@dataclass(frozen=True, eq=False, init=False)
class Toolset:
    """Tools with unique names: of a function, an object (its public methods), a module, a file, or a list of these.

    ``only`` are the names of the tools to take, ``without`` of those to leave out. ``rename`` gives tools other names,
    and ``prefix`` stands before each name then, so that two objects of one class can stand side by side. ``readonly``
    and ``once`` are True for all tools, or name some; ``timeout`` and ``error_if`` hold for all: see
    ``codeplan.tool``. What a tool says itself wins. Names are those before ``rename`` and ``prefix``; all but those in
    ``rename`` may be patterns, such as ``"list_*"``.

    ``doc`` is the text that models read above the tools. ``at_once`` is how many calls of all of them together run at
    the same time, if a plan begins several; None: 8, or the smallest number that a tool set within says.

    Raises: UsageError: there is no tool, two have the same name, or an option is wrong or names no tool.
    """

    tools: tuple[Tool, ...]
    doc: str
    at_once: int

    def __init__(
        self,
        tools: object,
        doc: str = DOC,
        at_once: int | None = None,
        *,
        prefix: str = "",
        only: Iterable[str] | None = None,
        without: Iterable[str] = (),
        rename: Mapping[str, str] | None = None,
        error_if: ErrorTest | None = None,
        readonly: bool | Iterable[str] = False,
        once: bool | Iterable[str] = False,
        timeout: float | None = None,
    ) -> None:
        things = things_of(tools)
        found = python_tools(*things)
        given = [each.name for each in found]
        marks = {"once": _patterns_of("once", once, given), "readonly": _patterns_of("readonly", readonly, given)}
        settings = ToolSettings(timeout=require_timeout(timeout, "timeout"), error_if=require_error_test(error_if))
        chosen = []
        for each in _chosen(found, only, without):
            once_here, only_reads = (_fits(each.name, marks[mark]) for mark in ("once", "readonly"))
            chosen.append(with_settings(each, settings._replace(once=once_here, readonly=only_reads)))
        object.__setattr__(self, "tools", _with_distinct_types(_with_names(chosen, prefix, rename, given)))
        object.__setattr__(self, "doc", doc)
        object.__setattr__(self, "at_once", require_at_once(at_once) or at_once_of(things))
        self._require_unique_names()

    def _require_unique_names(self) -> None:
        if not self.tools:
            raise UsageError("there are no tools; give at least one function, object or file")
        if len(self._by_name) < len(self.tools):
            names = [tool.name for tool in self.tools]
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(
                f"two tools have the name {in_quotes(twice)}; rename one, or give the tools of one thing a prefix: "
                "codeplan.Toolset(thing, prefix='my_')"
            )

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.tools}

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in order."""
        return tuple(self._by_name)

    def without(self, denied: Iterable[str]) -> Toolset:
        """The tools whose names fit none of these patterns. Raises: UsageError: none is left."""
        patterns = tuple(denied)
        kept = [tool for tool in self.tools if not any(fnmatchcase(tool.name, pattern) for pattern in patterns)]
        if len(kept) == len(self.tools):
            return self
        if not kept:
            raise UsageError(f"all tools are denied ({', '.join(map(in_quotes, patterns[:5]))}); deny fewer")
        return Toolset(kept, self.doc, self.at_once)

    def get(self, name: str) -> Tool | None:
        """The tool of this name, or None."""
        return self._by_name.get(name)

    @cached_property
    def described(self) -> tuple[AgentTool, ...]:
        """The tools as data, for a trace."""
        return tuple(AgentTool(tool.method, tool.types) for tool in self.tools)

    @cached_property
    def first_lines(self) -> tuple[str, ...]:
        """Each tool on one line, for models that plan in words."""
        return tuple(tool.method.first_line for tool in self.tools)

    @cached_property
    def api(self) -> AgentApi:
        """The API that prompt, check and sandbox share. If a tool is called ``report``, the agent's is ``report_``."""
        types = dict.fromkeys(each for tool in self.tools for each in tool.types)
        report = own_method(REPORT, self._by_name)
        methods = (*(tool.method for tool in self.tools), report)
        return AgentApi(methods, doc=self.doc, types=tuple(types), report=report.name)


def python_tools(*things: object) -> tuple[Tool, ...]:
    """The tools of functions, objects (their public methods) and modules (their public functions), in this order.

    A Tool stands for itself, and an object that can be called but has no public methods for a function. Parameters are
    described and checked by their annotations; one without an annotation takes any plain data. A parameter that has a
    default, and a type that plain data cannot stand for, keeps its default.

    Raises: UsageError: something offers no tool, or its signature cannot be read or not be called with plain data.
    """
    types = TypeWriter()
    return tuple(tool for thing in things for tool in _tools_of(thing, types))


def things_of(given: object) -> tuple[object, ...]:
    """What the user gives as tools: the things of a list, with those of files that are named in it.

    Raises: UsageError: a file cannot be imported, or has no such thing.
    """
    things = tuple(given) if isinstance(given, list | tuple | GeneratorType) else (given,)
    return tuple(each for thing in things for each in _named_in_file(thing))


def _named_in_file(thing: object) -> Sequence[object]:
    if not isinstance(thing, str | Path):
        return (thing,)
    module, named = things_of_file(str(thing))
    for name, each in named.items():
        _tell_foreign_object(name, each, module)
    return (*named.values(),) if named else (module,)


def at_once_of(things: Iterable[object]) -> int:
    """How many calls of these run at the same time: the smallest number that one of the Toolsets says."""
    return min((thing.at_once for thing in things if isinstance(thing, Toolset)), default=AT_ONCE)


def _tools_of(thing: object, types: TypeWriter) -> Iterator[Tool]:
    if isinstance(thing, Tool):
        yield thing
        return
    if isinstance(thing, Toolset):
        yield from thing.tools
        return
    if isinstance(thing, ToolsWithSettings):
        for part in things_of(thing.thing):
            yield from (with_settings(tool, thing.settings) for tool in _tools_of(part, types))
        return
    if isinstance(thing, FunctionType) and thing in _plain_tools:
        yield _plain_tools[thing]
        return
    for name, function in functions_of(thing):
        tool = build_tool(name, function, types)
        if isinstance(thing, FunctionType) and not tool.types:
            _plain_tools[thing] = tool
        yield tool


_plain_tools: Final[WeakKeyDictionary[FunctionType, Tool]] = WeakKeyDictionary()
"""The tools of functions whose signatures use no classes: read once for a function, not for each toolset."""


def _tell_foreign_object(name: str, thing: object, module: ModuleType) -> None:
    """Tell the user how many methods of an object become tools, if its class is not of the file: it may be there for
    another purpose, such as a path.
    """
    kind = type(thing)
    said = inspect.isroutine(thing) or isinstance(thing, ToolsWithSettings | Toolset)
    if said or kind.__module__ in ("builtins", "functools", module.__name__):
        return
    tools = with_count(len(python_tools(thing)), "tool")
    echo_message(f"{name} is {with_article(kind.__name__)}, with its public methods as {tools}", "codeplan: ", err=True)


# ---------------------------------------------------------------------- what a set says about its tools


def _patterns_of(option: str, given: bool | Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """The patterns of an option that is True for all tools. Raises: UsageError: one fits no tool."""
    if isinstance(given, bool):
        return ("*",) if given else ()
    patterns = read_patterns(option, given)
    require_fitting((GivenPattern(option, pattern) for pattern in patterns), names)
    return patterns


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _chosen(tools: Sequence[Tool], only: Iterable[str] | None, without: Iterable[str]) -> list[Tool]:
    names = [tool.name for tool in tools]
    taken = ("*",) if only is None else _patterns_of("only", only, names)
    left_out = _patterns_of("without", without, names)
    return [tool for tool in tools if _fits(tool.name, taken) and not _fits(tool.name, left_out)]


def _with_names(
    tools: Sequence[Tool], prefix: str, rename: Mapping[str, str] | None, given: Sequence[str]
) -> list[Tool]:
    """The tools under their new names. Raises: UsageError: a name is unknown, or no name of a tool."""
    if not isinstance(prefix, str):
        raise UsageError(f"prefix is a text, not {in_quotes(prefix)}")
    if not isinstance(rename, Mapping | None):
        raise UsageError(f"rename is a dict of names, such as {{'ls': 'list_files'}}, not {in_quotes(rename)}")
    names = dict(rename or {})
    if unknown := [name for name in names if name not in given]:
        require_fitting((GivenPattern("rename", name) for name in read_patterns("rename", unknown)), given)
        raise UsageError(f"rename takes names and no patterns, such as {in_quotes(unknown[0])}")
    return [_under_name(tool, prefix, names.get(tool.name, tool.name)) for tool in tools]


def _under_name(tool: Tool, prefix: str, name: str) -> Tool:
    if not isinstance(name, str):
        raise UsageError(f"rename gives {tool.name} a name that is no text: {in_quotes(name)}")
    name = prefix + name
    if name == tool.name:
        return tool
    if fault := name_fault(name):
        raise UsageError(f"{tool.name} cannot be renamed to {in_quotes(name)}: {fault}")
    call = tool.call.with_name(name) if isinstance(tool.call, PythonCall) else tool.call
    return replace(tool, method=msgspec.structs.replace(tool.method, name=name), call=call)


# ---------------------------------------------------------------------- types of one name


def _with_distinct_types(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools, with other names for types where an earlier tool has another type of that name."""
    known: dict[str, str] = {}
    found = []
    for tool in tools:
        if names := _new_type_names(tool.types, known):
            types = tuple(AgentType(names.get(t.name, t.name), _with_new_names(t.text, names)) for t in tool.types)
            signature = _with_new_names(tool.method.signature, names)
            tool = replace(tool, types=types, method=msgspec.structs.replace(tool.method, signature=signature))
        known.update((t.name, t.text) for t in tool.types)
        found.append(tool)
    return tuple(found)


def _new_type_names(types: Sequence[AgentType], known: Mapping[str, str]) -> dict[str, str]:
    """New names for those types whose names stand for others; a type that has one in its text is another one, too."""
    if all(known.get(t.name, t.text) == t.text for t in types):
        return {}
    names: dict[str, str] = {}
    while clash := next((t for t in reversed(types) if _clashes(t, names, known)), None):
        number = 2
        while _clashes(clash, names | {clash.name: f"{clash.name}{number}"}, known, is_new=True):
            number += 1
        names[clash.name] = f"{clash.name}{number}"
    return names


def _clashes(type: AgentType, names: Mapping[str, str], known: Mapping[str, str], *, is_new: bool = False) -> bool:
    if type.name in names and not is_new:
        return False
    text = _with_new_names(type.text, names)
    return known.get(names.get(type.name, type.name), text) != text


def _with_new_names(text: str, names: Mapping[str, str]) -> str:
    """Python's text with other names of types; strings, comments and the names of fields and parameters stay."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    lines = text.splitlines(keepends=True)
    for token, after in reversed(list(pairwise(tokens))):
        if token.type == tokenize.NAME and token.string in names and after.string != ":":
            row, start, end = token.start[0] - 1, token.start[1], token.end[1]
            lines[row] = lines[row][:start] + names[token.string] + lines[row][end:]
    return "".join(lines)
