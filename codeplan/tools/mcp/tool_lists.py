"""Collects a server's list of tools, which comes in parts, within limits on the whole."""

from __future__ import annotations

from typing import Any, Final

from codeplan.tools.mcp.unsolicited import MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES, FloodError

MAX_TOOLS: Final = 2_000
"""Maximum number of tools of all servers."""

MAX_PAGES: Final = 100
"""Maximum number of parts of a list of tools."""


class ToolList:
    """The tools of one server. The first MAX_TOOLS are kept.

    The parts before the last one may together be as large as one message. The last one is a message, with its limits.
    """

    def __init__(self) -> None:
        self.tools: list[Any] = []
        self.count = 0
        """The number of tools in the parts that were read."""
        self.has_more = False
        """Whether the server has further parts, which nothing reads: there are too many tools already."""
        self._pages = self._characters = self._values = 0

    def add(self, page: Any) -> str | None:
        """Keep a part's tools. Returns the cursor of the next part; None if no other is to be read.

        Raises: FloodError: there are too many parts, or they are too large together.
        """
        self.tools += page.tools[: MAX_TOOLS - self.count] if self.count < MAX_TOOLS else []
        self.count += len(page.tools)
        self._pages += 1
        cursor: str | None = page.next_cursor
        if cursor is None:
            return None
        if self.count > MAX_TOOLS:
            self.has_more = True
            return None
        if self._pages >= MAX_PAGES:
            raise FloodError(f"lists its tools in more than {MAX_PAGES} parts")
        self._weigh(page.tools)
        if self._characters > MAX_MESSAGE_BYTES or self._values > MAX_MESSAGE_VALUES:
            most = f"{MAX_MESSAGE_BYTES >> 20} MiB or {MAX_MESSAGE_VALUES:,} JSON values"
            raise FloodError(f"sent a list of tools of more than {most}")
        return cursor

    def _weigh(self, tools: list[Any]) -> None:
        """Count the values and characters in tools, without recursion: their schemas may be nested deeply."""
        rest: list[Any] = list(tools)
        while rest:
            value = rest.pop()
            self._values += 1
            if isinstance(value, str):
                self._characters += len(value)
            elif isinstance(value, list):
                rest += value
            elif fields := value if isinstance(value, dict) else getattr(value, "__dict__", None):
                self._characters += sum(map(len, fields))
                rest += (part for part in fields.values() if part is not None)
