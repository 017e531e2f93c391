"""Collecting the reasons why a plan is refused."""

from __future__ import annotations

import ast

from codeplan.types.plan import Diagnostic


class RejectedPlanError(Exception):
    """A plan that cannot be compiled. ``diagnostics`` are sorted by place; there is at least one."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


class DiagnosticCollector:
    """The diagnostics of one plan, as they are found. Columns are given in characters, as a person counts them."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        self._found: set[Diagnostic] = set()

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, node: ast.AST | None, rule: str, message: str) -> None:
        """Refuse what stands at ``node``; None means the whole plan."""
        line, offset = getattr(node, "lineno", 0), getattr(node, "col_offset", -1)
        self.add_at(line, self._column(line, offset), rule, message)

    def add_at(self, line: int, column: int, rule: str, message: str) -> None:
        """Refuse what stands at a place; both count from 1, and 0 means the whole plan."""
        self._found.add(Diagnostic(line, column, rule, message))

    def sorted(self) -> tuple[Diagnostic, ...]:
        """All that was found, in the order of the source, each once."""
        return tuple(sorted(self._found, key=lambda d: (d.line, d.column, d.rule, d.message)))

    def raise_if_any(self) -> None:
        """Raises PlanRefused where anything was found."""
        if self._found:
            raise RejectedPlanError(self.sorted())

    def _column(self, line: int, offset: int) -> int:
        """ast counts the bytes of a line's UTF-8; people count its characters."""
        if not 0 < line <= len(self._lines):
            return offset + 1
        return (
            len(self._lines[line - 1].encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")) + 1
            if offset >= 0
            else 0
        )
