"""Finds the lines of a plan that can run, the basis of coverage."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.language.plan_outline import outline_plan


def runnable_lines(source: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a plan's statements, branches and steps. ``arguments`` is empty.

    ``statements`` are pairs of first and last line (of the head, for a compound statement). ``branches`` are ``[first,
    last, target]``: a condition's lines and the line to which it leads when it holds. ``steps`` are ``[number, line]``.
    Raises RejectedPlanError.
    """
    parts = outline_plan(parse_plan(source)).parts
    nodes = [node for part in parts for statement in part.body for node in _statements(statement)]
    return {
        "statements": sorted(_head_lines(node) for node in nodes if not _is_lone_constant(node)),
        "branches": sorted(branch for node in nodes for branch in _branches(node)),
        "steps": [[part.step, part.node.lineno] for part in parts if part.step is not None],
    }


def _statements(node: ast.stmt | ast.ExceptHandler) -> Iterator[ast.stmt | ast.ExceptHandler]:
    """Yield a statement and those in it. An ``except`` clause counts as one."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from _statements(child)
        elif isinstance(child, ast.match_case):
            yield from (inner for statement in child.body for inner in _statements(statement))


def _head_lines(node: ast.stmt | ast.ExceptHandler) -> list[int]:
    """Return the first and last line of a statement, without its body."""
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
    """Return whether a statement is only a constant, such as a docstring, which never runs."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
