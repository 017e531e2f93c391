"""The tools that one episode offers, in order, and their API."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from codeplan.errors import UsageError
from codeplan.tools.tool import Tool
from codeplan.types import AgentApi, AgentMethod
from codeplan.untrusted.values import in_quotes

REPORT = AgentMethod("report", "() -> str", "The last call and its answer in a sentence.")
"""The agent's own method, which the messages of assertions use."""

DOC = "The tools that you may call. Results are plain data: values of the classes shown here are dicts."
"""The text that models read above the tools."""


class Toolset:
    """Tools with unique names. ``doc`` is the text that models read above them.

    Raises: UsageError: there is no tool, or two have the same name.
    """

    def __init__(self, tools: Iterable[Tool], doc: str = DOC) -> None:
        self.tools = tuple(tools)
        self.doc = doc
        self._by_name = {tool.name: tool for tool in self.tools}
        if not self.tools:
            raise UsageError("there are no tools; give at least one function, object or file")
        if len(self._by_name) < len(self.tools):
            names = [tool.name for tool in self.tools]
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"two tools have the name {in_quotes(twice)}; rename one")

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in order."""
        return tuple(self._by_name)

    def get(self, name: str) -> Tool | None:
        """The tool of this name, or None."""
        return self._by_name.get(name)

    @cached_property
    def api(self) -> AgentApi:
        """The API that prompt, check and sandbox share."""
        types = dict.fromkeys(each for tool in self.tools for each in tool.types)
        return AgentApi((*(tool.method for tool in self.tools), REPORT), doc=self.doc, types=tuple(types))
