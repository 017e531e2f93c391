"""Flows: which data may reach which argument of which call.

    from codeplan.flows import Flows, ask_llm, goal, tool

    flows = Flows(
        trusted=[tool("search_contacts"), tool("list_files").fields("id_")],
        rules={"send_email.recipients|cc": goal | tool("search_contacts"), "delete_*": goal},
        readonly=["get_*", "search_*", "list_*"],
    )

The check says from the plan's text where an argument comes from (``codeplan.sandbox.analysis.origins``). Here stands
what the user allows, and whether a call keeps to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from codeplan.errors import UsageError
from codeplan.untrusted.texts import with_count
from codeplan.untrusted.toml import read_text, require_toml
from codeplan.untrusted.values import in_quotes

__all__ = ["Flows", "Source", "Sources", "anything", "ask_llm", "goal", "tool"]

Way: TypeAlias = Literal["ask", "refuse", "allow"]
"""What happens to a call that does not keep to the flows: the user is asked, it is refused, or it is made."""

MAX_RULES: Final = 1_000
"""Maximum number of rules, and of entries in each list."""

UNKNOWN: Final = "unknown"
REVISION: Final = "revision"


@dataclass(frozen=True)
class Source:
    """Where data may come from. ``|`` joins sources: ``goal | tool("search_contacts").email``.

    ``kind`` is ``goal`` (the goal, and the text of a plan that was written before data was shown), ``tool``,
    ``ask_llm`` or ``anything``. ``pattern`` is one on the names of tools, and ``path`` are the fields of their answers,
    one within the other; empty: the whole answer. ``but`` are patterns of tools that are not meant.
    """

    kind: Literal["goal", "tool", "ask_llm", "anything"]
    pattern: str = ""
    path: tuple[str, ...] = ()
    is_private: bool = False
    only_closed: bool = False
    but: tuple[str, ...] = ()

    def __or__(self, other: Source | Sources) -> Sources:
        return Sources((self,)) | other

    @property
    def private(self) -> Source:
        """The same data, marked as private: it may only leave by an argument whose rule names it."""
        self._require_tool("private")
        return replace(self, is_private=True)

    @property
    def closed(self) -> Source:
        """Answers of ``ask_llm`` whose form has no free text: numbers, dates, choices, and lists and dicts of these."""
        if self.kind != "ask_llm":
            raise AttributeError("only ask_llm has closed answers: ask_llm.closed")
        return replace(self, only_closed=True)

    def fields(self, *names: str) -> Sources:
        """These fields of the answers: ``tool("list_files").fields("id_", "size")``."""
        self._require_tool("fields")
        return Sources(tuple(replace(self, path=(*self.path, *_read_path(name))) for name in names))

    def __getattr__(self, name: str) -> Source:
        if name.startswith("__"):
            raise AttributeError(name)
        self._require_tool(name)
        return replace(self, path=(*self.path, name))

    def covers(self, origin: str) -> bool:
        """Whether data of this origin comes from this source."""
        if self.kind == "tool":
            name, path = read_origin(origin)
            meant = fnmatchcase(name, self.pattern) and not any(fnmatchcase(name, each) for each in self.but)
            return meant and path[: len(self.path)] == self.path
        if self.kind == "ask_llm":
            return origin.startswith("ask:") and (origin.endswith("!") or not self.only_closed)
        return self.kind == "anything"

    def _require_tool(self, name: str) -> None:
        if self.kind != "tool":
            raise AttributeError(f"{self.kind} has no fields, so no {name}; fields are those of a tool's answers")

    def __str__(self) -> str:
        if self.kind == "tool":
            return ".".join((self.pattern, *self.path)) + (" (private)" if self.is_private else "")
        return f"{self.kind}.closed" if self.only_closed else self.kind


@dataclass(frozen=True)
class Sources:
    """Several sources, any of which may be meant."""

    each: tuple[Source, ...]

    def __or__(self, other: Source | Sources) -> Sources:
        return Sources((*self.each, *as_sources(other).each))

    def cover(self, origin: str) -> bool:
        """Whether data of this origin comes from one of the sources."""
        return any(source.covers(origin) for source in self.each)

    def has(self, kind: str) -> bool:
        """Whether one of the sources is of this kind."""
        return any(source.kind == kind for source in self.each)

    def __str__(self) -> str:
        return " | ".join(map(str, self.each)) or "nothing"


goal: Final = Source("goal")
ask_llm: Final = Source("ask_llm")
anything: Final = Source("anything")


def tool(pattern: str) -> Source:
    """The answers of the tools whose names fit the pattern, as ``fnmatch`` reads it.

    Raises: UsageError: the pattern is empty or no text.
    """
    if not isinstance(pattern, str) or not pattern:
        raise UsageError(f"tool(…) takes a tool's name or a pattern, not {in_quotes(pattern)}")
    return Source("tool", pattern)


class FlowRule(NamedTuple):
    """What may reach the parameters of the tools that fit both patterns."""

    tool: str
    parameter: str
    sources: Sources

    def fits(self, name: str, parameter: str) -> bool:
        """Whether the rule is about this parameter of this tool."""
        return fnmatchcase(name, self.tool) and any(fnmatchcase(parameter, p) for p in self.parameter.split("|"))


class FlowFinding(NamedTuple):
    """An argument that does not keep to the flows, and where it comes from. Without ``argument``, the call itself."""

    argument: str
    origins: tuple[str, ...]

    def __str__(self) -> str:
        what = self.argument or "the call"
        return f"{what} comes from {', '.join(self.origins)}"


class FlowVerdict(NamedTuple):
    """What is to happen to a call, with the origins of each argument as ``shown_origins`` has them."""

    way: Way
    origins: Mapping[str, tuple[str, ...]]
    findings: tuple[FlowFinding, ...] = ()

    @property
    def why(self) -> str:
        """The findings in words."""
        return "; ".join(map(str, self.findings))


class ArgumentOrigins(NamedTuple):
    """Where the arguments of one call come from, as the check found it.

    ``arguments`` by parameter, ``control`` what decides about the call, ``asks`` what the questions were given by
    number. ``is_new`` says that no plan before data was shown calls this tool.
    """

    arguments: Mapping[str, Collection[str]]
    control: Collection[str] = ()
    asks: Mapping[str, Collection[str]] = {}
    is_new: bool = False


@dataclass(frozen=True)
class Flows:
    """What the user allows to reach the calls of tools that act.

    ``rules`` say for a parameter where its data may come from: ``"send_email.recipients|cc"``, ``"delete_*"`` (all
    parameters); the longest pattern that fits decides. A parameter without a rule may get the goal's data and that of
    ``trusted``. Without ``trusted`` and ``rules``, all tools are trusted but those in ``untrusted``, and ``ask_llm`` is
    not. ``readonly`` are patterns of tools that only read: they need no rule. Data that a ``private`` source names may
    leave only where a rule names it, whatever the tool. A call that does not keep to this is asked for, refused or made
    as ``otherwise`` says. ``strict`` also counts what decides whether the call is made.

    Raises: UsageError: something in it is none of this.
    """

    trusted: Iterable[Source | Sources] | None = None
    rules: Mapping[str, Source | Sources] = field(default_factory=dict)
    otherwise: Way = "ask"
    readonly: Iterable[str] = ()
    untrusted: Iterable[str] = ()
    strict: bool = False
    _rules: tuple[FlowRule, ...] = field(init=False, repr=False, compare=False)
    _trusted: Sources = field(init=False, repr=False, compare=False)
    _private: tuple[Source, ...] = field(init=False, repr=False, compare=False)
    _cared_for: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if self.otherwise not in get_args(Way):
            raise UsageError(f"otherwise is ask, refuse or allow, not {in_quotes(self.otherwise)}")
        if not isinstance(self.strict, bool):
            raise UsageError(f"strict is True or False, not {in_quotes(self.strict)}")
        trusted = _entries("trusted", () if self.trusted is None else self.trusted)
        untrusted = _read_patterns("untrusted", self.untrusted)
        sources = [replace(source, but=untrusted) for each in trusted for source in as_sources(each).each]
        rules = _read_rules(self.rules)
        marked = (source for each in (Sources(tuple(sources)), *(r.sources for r in rules)) for source in each.each)
        self._set("trusted", None if self.trusted is None else tuple(trusted))
        self._set("readonly", _read_patterns("readonly", self.readonly))
        self._set("untrusted", untrusted)
        self._set("_rules", rules)
        self._set("_trusted", Sources((goal, *sources)))
        self._set("_private", tuple(source for source in marked if source.is_private))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def is_default(self) -> bool:
        """Whether only what is marked as untrusted is not trusted."""
        return self.trusted is None and not self._rules

    def acts(self, name: str) -> bool:
        """Whether a tool acts, by the user's word."""
        return not any(fnmatchcase(name, pattern) for pattern in self.readonly)

    def cares_for(self, name: str) -> bool:
        """Whether calls of a tool are judged: it acts, or private data could leave by it."""
        known = self._cared_for.get(name)
        if known is None:
            known = self._cared_for[name] = bool(self._private) or self.acts(name)
        return known

    def trusts(self, origin: str) -> bool:
        """Whether data of this origin is trusted where no rule says otherwise."""
        if self.is_default and origin.startswith("tool:"):
            name = read_origin(origin)[0]
            return not any(fnmatchcase(name, pattern) for pattern in self.untrusted)
        return self._trusted.cover(origin)

    def rule_for(self, name: str, parameter: str) -> FlowRule | None:
        """The rule about a parameter: of those that fit, the one with the longest patterns."""
        fitting = (rule for rule in self._rules if rule.fits(name, parameter))
        return max(fitting, key=lambda rule: (len(rule.tool), len(rule.parameter)), default=None)

    def judge(
        self,
        name: str,
        arguments: Mapping[str, Any],
        origins: ArgumentOrigins,
        is_known: Callable[[object, Sources], bool],
    ) -> FlowVerdict:
        """What is to happen to a call of a tool.

        ``is_known(value, sources)`` says whether all parts of a value stand in the goal, or in an answer that the
        sources name: then it does not matter which way they came.
        """
        given = {parameter: origins.arguments.get(parameter, ()) for parameter in arguments}
        shown = {parameter: shown_origins(found, origins.asks) for parameter, found in given.items()}
        acts = self.acts(name)
        found = [
            FlowFinding(parameter, shown[parameter])
            for parameter, value in arguments.items()
            if not self._keeps(name, parameter, value, origins, is_known, acts)
        ]
        if acts and self.strict and not all(map(self.trusts, origins.control)):
            found.append(FlowFinding("", shown_origins(origins.control, origins.asks)))
        if acts and origins.is_new:
            found.append(FlowFinding("", (REVISION,)))
        return FlowVerdict(self.otherwise if found else "allow", shown, tuple(found))

    def _keeps(
        self,
        name: str,
        parameter: str,
        value: object,
        origins: ArgumentOrigins,
        is_known: Callable[[object, Sources], bool],
        acts: bool,
    ) -> bool:
        given, rule = origins.arguments.get(parameter, ()), self.rule_for(name, parameter)
        if self._leaks(given, origins.asks, rule) and not is_known(value, Sources((goal,))):
            return False
        if not acts:
            return True
        if rule is None:
            return all(map(self.trusts, given)) or is_known(value, self._trusted)
        sources = rule.sources
        covered = all(map(sources.cover, given)) if given else sources.has("goal") or sources.has("anything")
        return covered or is_known(value, sources)

    def _leaks(self, given: Iterable[str], asks: Mapping[str, Collection[str]], rule: FlowRule | None) -> bool:
        """Whether private data would leave where no rule names it."""
        if not self._private:
            return False
        named = tuple(s for s in rule.sources.each if s.kind == "tool") if rule else ()
        every = {*given, *(each for origin in given for each in _given_to(origin, asks))}
        private = (origin for origin in every if any(source.covers(origin) for source in self._private))
        return any(not Sources(named).cover(origin) for origin in private)

    def tool_patterns(self) -> Iterator[tuple[str, str]]:
        """Each pattern on tools' names, with the option that has it."""
        for source in self._trusted.each:
            if source.kind == "tool":
                yield "flows.trusted", source.pattern
        for rule in self._rules:
            yield "flows.rules", rule.tool
            yield from (("flows.rules", source.pattern) for source in rule.sources.each if source.kind == "tool")
        yield from (("flows.readonly", pattern) for pattern in self.readonly)
        yield from (("flows.untrusted", pattern) for pattern in self.untrusted)

    def require_parameters(self, tools: Mapping[str, Collection[str]]) -> None:
        """Check that each rule is about a parameter of a tool that it fits; ``tools`` has the parameters of each.

        Raises: UsageError: a rule is about none.
        """
        for rule in self._rules:
            fitting = {name: given for name, given in tools.items() if fnmatchcase(name, rule.tool)}
            for part in rule.parameter.split("|"):
                if fitting and not any(fnmatchcase(p, part) for given in fitting.values() for p in (*given, "*")):
                    there = ", ".join(sorted({p for given in fitting.values() for p in given})) or "none"
                    raise UsageError(
                        f"flows: no tool {in_quotes(rule.tool)} has a parameter {in_quotes(part)}; {there}"
                    )


def as_sources(given: Source | Sources) -> Sources:
    """One source or several as Sources. Raises: UsageError: it is neither."""
    if isinstance(given, Source):
        return Sources((given,))
    if not isinstance(given, Sources):
        raise UsageError(f"flows name sources such as goal or tool(…), not {in_quotes(given)}")
    return given


def read_origin(origin: str) -> tuple[str, tuple[str, ...]]:
    """The tool's name and the fields of an origin; an empty name if it is no tool's."""
    if not origin.startswith("tool:"):
        return "", ()
    name, *path = origin.removeprefix("tool:").removesuffix(".*").split(".")
    return name, tuple(path)


def shown_origins(origins: Collection[str], asks: Mapping[str, Collection[str]] = {}) -> tuple[str, ...]:
    """Origins as the user reads them: ``read_file.content``, ``read_file through ask_llm``, ``goal``."""
    return tuple(sorted({_shown(origin, asks) for origin in origins})) or ("goal",)


def _shown(origin: str, asks: Mapping[str, Collection[str]]) -> str:
    if origin.startswith("ask:"):
        given = sorted({_shown(each, {}) for each in _given_to(origin, asks)} - {"ask_llm"})
        return f"{' and '.join(given)} through ask_llm" if given else "ask_llm"
    return origin.removeprefix("tool:").removesuffix(".*")


def _given_to(origin: str, asks: Mapping[str, Collection[str]]) -> Collection[str]:
    """What the question behind an origin was given."""
    return asks.get(origin.removeprefix("ask:").removesuffix("!"), ()) if origin.startswith("ask:") else ()


# ------------------------------------------------------------------ reading


def _entries(name: str, given: object) -> tuple[Any, ...]:
    if isinstance(given, Source | Sources):
        return (given,)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"flows: {name} is a list, not {in_quotes(given)}")
    entries = tuple(given)
    if len(entries) > MAX_RULES:
        raise UsageError(f"flows: {name} has {with_count(len(entries), 'entry', 'entries')}, more than {MAX_RULES:,}")
    return entries


def _read_patterns(name: str, given: object) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else _entries(name, given)
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern:
            raise UsageError(f"flows: {name} has a pattern that is no name of a tool: {in_quotes(pattern)}")
    return patterns


def _read_rules(given: object) -> tuple[FlowRule, ...]:
    if not isinstance(given, Mapping):
        raise UsageError(f"flows: rules is a dict of TOOL.PARAMETER and sources, not {in_quotes(given)}")
    return tuple(
        _read_rule(key, sources) for key, sources in zip(_entries("rules", given), given.values(), strict=True)
    )


def _read_rule(key: object, sources: Source | Sources) -> FlowRule:
    name, _, parameter = key.partition(".") if isinstance(key, str) else ("", "", "")
    if not name or (isinstance(key, str) and key.endswith(".")):
        raise UsageError(f"flows: a rule is for TOOL.PARAMETER, or for TOOL, not {in_quotes(key)}")
    return FlowRule(name, parameter or "*", as_sources(sources))


def _read_path(name: object) -> tuple[str, ...]:
    if not isinstance(name, str) or not name:
        raise UsageError(f"flows: the name of a field is a text, not {in_quotes(name)}")
    return tuple(name.split("."))


_NAMED: Final[Mapping[str, Source]] = {
    "goal": goal,
    "ask_llm": ask_llm,
    "ask_llm.closed": ask_llm.closed,
    "anything": anything,
}


def source_of_text(text: object) -> Source:
    """A source as a file names it: ``goal``, ``ask_llm``, ``ask_llm.closed``, ``anything``, ``TOOL.FIELD`` or
    ``private TOOL.FIELD``. Raises: UsageError: it is none of these.
    """
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"flows: a source is a text such as goal or TOOL.FIELD, not {in_quotes(text)}")
    if text in _NAMED:
        return _NAMED[text]
    is_private, rest = text.startswith("private "), text.removeprefix("private ").strip()
    name, *path = rest.split(".")
    if not name or not re.fullmatch(r"[\w*?\[\]!.-]+", rest):
        raise UsageError(f"flows: {in_quotes(text)} names no source; write goal, ask_llm, anything, or TOOL.FIELD")
    return replace(tool(name), path=tuple(path), is_private=is_private)


def flows_of_table(table: Mapping[str, Any]) -> Flows:
    """Flows as a TOML file has them; ``trusted`` and each rule are lists of texts (see ``source_of_text``).

    Raises: UsageError: it has another setting, or a value is wrong.
    """
    known = ("trusted", "rules", "otherwise", "readonly", "untrusted", "strict")
    if odd := [name for name in table if name not in known]:
        raise UsageError(f"flows: there is no setting {in_quotes(odd[0])}; there are: {', '.join(known)}")
    given = dict(table)
    if "trusted" in given:
        given["trusted"] = [source_of_text(text) for text in _entries("trusted", given["trusted"])]
    rules = given.get("rules", {})
    if not isinstance(rules, Mapping):
        raise UsageError(f"flows: rules is a table, not {in_quotes(rules)}")
    given["rules"] = {key: _sources_of_texts(texts) for key, texts in rules.items()}
    return Flows(**given)


def _sources_of_texts(texts: object) -> Sources:
    each = (texts,) if isinstance(texts, str) else _entries("rules", texts)
    return Sources(tuple(map(source_of_text, each)))


def flows_of_file(path: Path) -> Flows:
    """The flows that a TOML file has. Raises: UsageError: it cannot be read, or something in it is wrong."""
    return flows_of_table(require_toml(read_text(path, "the flows"), str(path)))
