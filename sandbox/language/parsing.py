"""Parses a plan's text, with caps that keep every later pass quick and safe."""

from __future__ import annotations

import ast
import warnings

from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.syntax_nodes import children

MAX_SOURCE_BYTES = 64_000
"""Maximum size of a plan in bytes of UTF-8. Models write two to five thousand."""

MAX_TREE_NODES = 14_000
"""Maximum number of nodes in a syntax tree. A line of code has about six."""

MAX_TREE_DEPTH = 100
"""Maximum depth of a syntax tree. A chain of a hundred ``+`` is that deep."""

_FENCES = ("```", "~~~")


def parse_plan(source: str) -> ast.Module:
    """Parse a plan as Python itself does. Raises RejectedPlanError with the rule ``size`` or ``syntax``."""
    _check_size(source)
    tree = _parse(source)
    _check_shape(tree, source)
    return tree


def _check_size(source: str) -> None:
    size = len(source.encode("utf-8", "replace"))
    if size > MAX_SOURCE_BYTES:
        message = f"the plan has {size} bytes; at most {MAX_SOURCE_BYTES} are allowed: write a shorter plan"
        _reject(source, 0, 0, "size", message)


def _parse(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source, "<plan>")
    except SyntaxError as error:
        line = min(error.lineno or 0, source.count("\n") + 1)
        text = source.splitlines()[line - 1 : line]
        shown = f": `{text[0].strip()[:120]}`" if text and text[0].strip() else ""
        if line == 1 + _blank_lines(source) and source.lstrip().startswith(_FENCES):
            message = "the plan begins with a Markdown fence; give the code alone, without the lines of ``` around it"
            return _reject(source, line, 0, "syntax", message)
        return _reject(source, line, max(error.offset or 0, 0), "syntax", f"{error.msg}{shown}")
    except (ValueError, MemoryError, RecursionError) as error:
        return _reject(source, 0, 0, "syntax", f"the plan is not readable as Python ({error or 'nested too deeply'})")


def _blank_lines(source: str) -> int:
    """The number of lines before the first that has text."""
    return source[: len(source) - len(source.lstrip())].count("\n")


def _check_shape(tree: ast.Module, source: str) -> None:
    """Check the tree level by level, so that this code needs no deep recursion."""
    level: list[ast.AST] = [tree]
    count = 0
    for _ in range(MAX_TREE_DEPTH):
        count += len(level)
        below = [child for node in level for child in children(node)]
        if count > MAX_TREE_NODES:
            _reject(source, 0, 0, "size", f"the plan has more than {MAX_TREE_NODES} parts; write a shorter plan")
        if not below:
            return
        level = below
    line = max(getattr(node, "lineno", 0) for node in level)
    message = (
        f"this is nested more than {MAX_TREE_DEPTH} levels deep; "
        "split it into several statements, or build long texts in a loop"
    )
    _reject(source, line, 0, "size", message)


def _reject(source: str, line: int, column: int, rule: str, message: str) -> ast.Module:
    problems = DiagnosticCollector(source)
    problems.add_at(line, column, rule, message)
    problems.raise_if_any()
    raise AssertionError("unreachable")
