"""Collects the reasons why a plan is rejected."""

from __future__ import annotations

import ast

from codeplan.types import Diagnostic


class RejectedPlanError(Exception):
    """A plan cannot be compiled. ``diagnostics`` holds one or more, sorted by position."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


class DiagnosticCollector:
    """Collects the diagnostics of one plan. Columns count characters, as people do."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        self._found: set[Diagnostic] = set()

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, node: ast.AST | None, rule: str, message: str) -> None:
        """Add a problem at ``node``; None stands for the whole plan."""
        line, offset = getattr(node, "lineno", 0), getattr(node, "col_offset", -1)
        self.add_at(line, self._column(line, offset), rule, message)

    def add_at(self, line: int, column: int, rule: str, message: str) -> None:
        """Add a problem at a position, counted from 1; 0 stands for the whole plan."""
        self._found.add(Diagnostic(line, column, rule, message))

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Return all diagnostics in source order, each once."""
        return tuple(sorted(self._found, key=lambda d: (d.line, d.column, d.rule, d.message)))

    def raise_if_any(self) -> None:
        """Raise RejectedPlanError if there is a diagnostic."""
        if self._found:
            raise RejectedPlanError(self.sorted())

    def _column(self, line: int, offset: int) -> int:
        """Convert an offset in UTF-8 bytes, as ``ast`` counts, to a column in characters."""
        if not 0 < line <= len(self._lines):
            return offset + 1
        return (
            len(self._lines[line - 1].encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")) + 1
            if offset >= 0
            else 0
        )
