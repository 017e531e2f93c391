"""Parses a plan's text, with caps that keep every later pass quick and safe; collects the reasons for a refusal.

Also what all passes over a syntax tree share: walks, tests and new nodes."""

from __future__ import annotations

import ast
import warnings
from typing import TypeVar

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


_T = TypeVar("_T", bound=ast.AST)

_NO_CODE = frozenset({"ctx", "kwd_attrs", "names", "op", "ops", "type_ignores"})
"""Fields that hold names, contexts or operators, but no code."""

_LEAVES = (ast.Constant, ast.Name)


class _CodeFields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields that can hold code, by node type, computed on first use."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = () if kind in _LEAVES else tuple(f for f in kind._fields if f not in _NO_CODE)
        return self[kind]


_CODE_FIELDS = _CodeFields()


def load_name(name: str) -> ast.Name:
    """Make a node that reads a name."""
    return ast.Name(name, ast.Load())


def call_function(name: str, *arguments: ast.expr) -> ast.Call:
    """Make a call of a function by its name."""
    return ast.Call(load_name(name), list(arguments), [])


def call_statement(place: ast.AST, name: str, *arguments: ast.expr) -> ast.Expr:
    """Make a statement, located at ``place``, that calls a function by its name."""
    return with_location(place, ast.Expr(call_function(name, *arguments)))


def with_location(place: ast.AST, node: _T) -> _T:
    """Copy the location of ``place`` to a new node. New nodes below get it when the whole is compiled."""
    return ast.copy_location(node, place)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes directly below a node in source order, without contexts and operators.

    It does the work of ``ast.iter_child_nodes`` in a quarter of the time.
    """
    found: list[ast.AST] = []
    for name in _CODE_FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += value
        elif isinstance(value, ast.AST):
            found.append(value)
    return [child for child in found if child is not None] if None in found else found


def walk(*nodes: ast.AST) -> list[ast.AST]:
    """Return these nodes and all nodes below them, level by level."""
    found: list[ast.AST] = [*nodes]
    for node in found:  # grows while it is walked
        found += children(node)
    return found


def is_name(node: ast.AST, name: str) -> bool:
    """Return whether a node is this name."""
    return isinstance(node, ast.Name) and node.id == name


def has_no_effect(node: object) -> bool:
    """Return whether a statement is ``pass`` or a standalone constant, such as a docstring."""
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def fill_locations(node: ast.AST) -> None:
    """Give every node below ``node`` that has no location that of its parent.

    It does the work of ``ast.fix_missing_locations`` in less than half the time.
    """
    found: list[ast.AST] = [node]
    for above in found:  # grows while it is walked
        below = children(above)
        for child in below:
            if not hasattr(child, "lineno"):
                child.lineno, child.col_offset = above.lineno, above.col_offset  # type: ignore[attr-defined]
                child.end_lineno, child.end_col_offset = above.end_lineno, above.end_col_offset  # type: ignore[attr-defined]
        found += below


MAX_SOURCE_BYTES = 1 << 20
"""Maximum size of a plan in bytes of UTF-8, whatever the limit ``source_bytes``. Models write two to five thousand."""

MAX_TREE_NODES = 40_000
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
