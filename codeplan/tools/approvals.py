"""Decides by patterns on the tools' names which calls are made, which need approval, and which are refused."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeAlias

from codeplan.errors import UsageError
from codeplan.tools.tool import Approval, Tool
from codeplan.untrusted.values import in_quotes

Approver: TypeAlias = (
    Callable[[str, Mapping[str, Any]], bool | Awaitable[bool]]
    | Callable[[str, Mapping[str, Any], str], bool | Awaitable[bool]]
)
"""Says whether a call of this tool with these arguments may be made. A function with a third parameter also gets the
server's hint about the tool (``Tool.hint``).
"""

MAX_PATTERNS = 1_000
"""Maximum number of patterns of one kind."""


class Rule(NamedTuple):
    """What a call needs, and the pattern that decides it; empty for the tool's own setting."""

    approval: Approval
    pattern: str = ""


class Approvals:
    """The user's patterns, as ``fnmatch`` reads them: ``delete_*``, ``*``. ``approve`` decides on calls to be asked.

    ``deny`` wins. Of ``ask`` and ``allow`` the longer pattern wins, and ``ask`` if both are equally long. A tool
    without a pattern has its own setting. With an ``approve`` and without ``ask``, every tool is asked for.

    Raises: UsageError: a pattern is empty or no text, there are too many, or ``approve`` can be called with neither two
    nor three arguments.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        ask: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        approve: Approver | None = None,
    ) -> None:
        if approve is not None:
            self._count = require_callable(approve, "approve", "approve(tool, arguments)", (2, 3))
        if ask is None:
            ask = () if approve is None else ("*",)
        self._allow, self._ask, self._deny = (
            read_patterns("allow", allow),
            read_patterns("ask", ask),
            read_patterns("deny", deny),
        )
        self.approve = approve
        self._rules: dict[tuple[str, Approval], Rule] = {}

    def rule_for(self, tool: Tool) -> Rule:
        """What a call of this tool needs."""
        key = tool.name, tool.approval
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = self._find_rule(tool)
        return rule

    def ask(self, tool: Tool, arguments: Mapping[str, Any]) -> object:
        """The answer of ``approve`` about a call, which may be awaitable. Raises the exceptions of ``approve``.

        It gets a copy of the arguments, because the call must be made as the trace records it.
        """
        approve: Any = self.approve
        shown = deepcopy(dict(arguments))
        return approve(tool.name, shown, tool.hint) if self._count == 3 else approve(tool.name, shown)

    def _find_rule(self, tool: Tool) -> Rule:
        for pattern in self._deny:
            if fnmatchcase(tool.name, pattern):
                return Rule("deny", pattern)
        asked, allowed = longest_match(self._ask, tool.name), longest_match(self._allow, tool.name)
        if asked is not None and (allowed is None or len(asked) >= len(allowed)):
            return Rule("ask", asked)
        return Rule(tool.approval) if allowed is None else Rule("allow", allowed)

    def unused(self, tools: Iterable[Tool]) -> list[tuple[str, str]]:
        """The patterns that name none of the tools, each after the option that has it."""
        names = [tool.name for tool in tools]
        given = {"allow": self._allow, "ask": self._ask, "deny": self._deny}
        pairs = [(option, pattern) for option, patterns in given.items() for pattern in patterns]
        return [(option, pattern) for option, pattern in pairs if not any(fnmatchcase(n, pattern) for n in names)]


def read_patterns(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """The patterns of the option ``name``. Raises: UsageError: one is no text or empty, or there are too many."""
    if not isinstance(given, Iterable):
        raise UsageError(f"{name} takes a pattern or several, not {in_quotes(given)}")
    patterns = (given,) if isinstance(given, str) else tuple(given)
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern:
            raise UsageError(f"{name} has a pattern that is no name of a tool: {in_quotes(pattern)}")
    if len(patterns) > MAX_PATTERNS:
        raise UsageError(f"{name} has {len(patterns):,} patterns, more than {MAX_PATTERNS:,}")
    return patterns


def longest_match(patterns: Iterable[str], name: str) -> str | None:
    """The longest of the patterns that fits the name; None if none fits."""
    return max((p for p in patterns if fnmatchcase(name, p)), key=len, default=None)


def require_callable(given: object, name: str, form: str, counts: tuple[int, ...]) -> int:
    """The first of these ``counts`` of arguments that the callable accepts.

    Raises: UsageError: it is no callable, or takes none of these numbers.
    """
    if not callable(given) or isinstance(given, type):
        raise UsageError(f"{name} must be a function {form}, not {in_quotes(given)}")
    try:
        signature = inspect.signature(given)
    except (ValueError, TypeError):
        return counts[0]
    for count in counts:
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    raise UsageError(f"{name} must be a function {form}; its signature is another one")
