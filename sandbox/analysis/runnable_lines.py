"""What of a plan can run, line by line: what coverage is measured against."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from codeplan.sandbox.language.outline import outline_plan
from codeplan.sandbox.language.parsing import parse_plan


def runnable_lines(source: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The statements, branches and steps of a plan. ``arguments`` is empty.

    ``statements`` are ``[first, last]`` line, of a compound one those of its head; ``branches`` are
    ``[first, last, target]``, the lines of a condition and the line that it leads to when it holds; ``steps`` are
    ``[number, line]``. Raises PlanRefused.
    """
    parts = outline_plan(parse_plan(source)).parts
    nodes = [node for part in parts for statement in part.body for node in _statements(statement)]
    return {
        "statements": sorted(_head_lines(node) for node in nodes if not _is_lone_constant(node)),
        "branches": sorted(branch for node in nodes for branch in _branches(node)),
        "steps": [[part.step, part.node.lineno] for part in parts if part.step is not None],
    }


def _statements(node: ast.stmt | ast.ExceptHandler) -> Iterator[ast.stmt | ast.ExceptHandler]:
    """A statement and those in it. A clause ``except`` counts as one."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from _statements(child)
        elif isinstance(child, ast.match_case):
            yield from (inner for statement in child.body for inner in _statements(statement))


def _head_lines(node: ast.stmt | ast.ExceptHandler) -> list[int]:
    """The first and the last line of a statement, or of what stands before its body."""
    last = node.end_lineno or node.lineno
    if isinstance(node, (ast.If, ast.While)):
        last = node.test.end_lineno or last
    elif isinstance(node, ast.For):
        last = node.iter.end_lineno or last
    elif isinstance(node, ast.Match):
        last = node.subject.end_lineno or last
    elif isinstance(node, (ast.FunctionDef, ast.With, ast.Try, ast.ExceptHandler)):
        last = max(node.lineno, node.body[0].lineno - 1)
    return [node.lineno, last]


def _branches(node: ast.stmt | ast.ExceptHandler) -> Iterator[list[int]]:
    if not isinstance(node, (ast.If, ast.While, ast.For)):
        return
    first, last = _head_lines(node)
    target = next((s.lineno for s in node.body if not isinstance(s, (ast.Import, ast.ImportFrom))), last)
    endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
    if target > last and not endless:
        yield [first, last, target]


def _is_lone_constant(node: ast.stmt | ast.ExceptHandler) -> bool:
    """Whether a statement is a constant alone, such as a docstring, which never runs."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
