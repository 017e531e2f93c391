"""What a plan's text holds: its functions and values for a skill, the lines that can run, the literals in it."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from codeplan.sandbox.language.extraction import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.sandbox.language.name_flow import Function, bound_names, parameter_names
from codeplan.sandbox.language.parsing import has_no_effect, parse_plan, walk
from codeplan.sandbox.language.plan_outline import outline_plan, step_number
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, find_non_plain

_DIGITS = 16


def plan_shape(source: str, arguments: dict[str, Any]) -> str:
    """Return a digest that ignores names, the parameters' values, layout and comments.

    The plan's own names are numbered in order of appearance. It takes no arguments. Raises RejectedPlanError if the
    source is not Python.
    """
    if arguments:
        raise ValueError(f"there is no argument {min(arguments)!r}")
    tree = parse_plan(source)
    blank = _parameter_lines(source)
    own = bound_names(tree.body).union(*(_scope_names(node) for node in walk(tree)))
    own -= {"solution", "agent", "start_from"}
    text = _ShapeWriter(own, blank).write(tree)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _parameter_lines(source: str) -> range:
    """Return the lines between the comments around a plan's parameters."""
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", source)]
    first = next((i for i, line in enumerate(lines, 1) if line.startswith(PARAMETERS_OPENING)), 0)
    last = next((i for i, line in enumerate(lines, 1) if line == PARAMETERS_CLOSING), 0)
    return range(first, last) if first else range(0)


def _scope_names(node: ast.AST) -> frozenset[str]:
    """Return the names that a scope binds. Those of a class are attributes, which keep their names."""
    if isinstance(node, Function):
        return parameter_names(node) | (frozenset() if isinstance(node, ast.Lambda) else bound_names(node.body))
    if isinstance(node, ast.comprehension):
        return frozenset(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
    return frozenset()


class _ShapeWriter:
    """Writes a tree as text: names as numbers, without standalone strings and parameter values."""

    def __init__(self, own: frozenset[str], blank: range) -> None:
        self._own, self._blank = own, blank
        self._numbers: dict[str, str] = {}

    def write(self, node: object) -> str:
        """Return the text of a node or of a list of nodes."""
        if isinstance(node, list):
            return "[" + ",".join(self.write(n) for n in node if not has_no_effect(n)) + "]"
        if isinstance(node, str):
            return self._name(node)
        if not isinstance(node, ast.AST):
            return f"{type(node).__name__}:{node!r}"
        if isinstance(node, ast.Constant):
            return f"constant:{node.value!r}"
        if isinstance(node, ast.Assign) and node.lineno in self._blank and _is_value(node.value):
            return f"parameter({self.write(node.targets)})"
        if isinstance(node, ast.Attribute):  # attribute names are not the plan's own
            return f"Attribute({self.write(node.value)},{node.attr!r})"
        if isinstance(node, ast.Call):
            return self._call(node)
        parts = (self.write(v) for n, v in ast.iter_fields(node) if n not in ("ctx", "kind", "type_comment"))
        return f"{type(node).__name__}({','.join(parts)})"

    def _call(self, call: ast.Call) -> str:
        """Return a call. Keyword names are the plan's own if the function is."""
        own = isinstance(call.func, ast.Name) and call.func.id in self._own
        head = f"{self.write(call.func)},{self.write(call.args)}"
        named = [f"keyword({self._argument(k.arg, own)},{self.write(k.value)})" for k in call.keywords]
        return f"Call({head},[{','.join(named)}])"

    def _argument(self, name: str | None, own: bool) -> str:
        return self.write(name) if own or name is None else repr(name)

    def _name(self, name: str) -> str:
        return self._numbers.setdefault(name, f"name{len(self._numbers)}") if name in self._own else repr(name)


def _is_value(node: ast.expr) -> bool:
    """Return whether it is a valid parameter value: a text, a number, or a list of these."""
    if isinstance(node, ast.List):
        return not any(isinstance(p, ast.List) for p in node.elts) and all(map(_is_value, node.elts))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_number(node.operand)
    return _is_number(node) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def runnable_lines(source: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a plan's statements, branches and steps. ``arguments`` is empty.

    ``statements`` are pairs of first and last line (of the head, for a compound statement). ``branches`` are ``[first,
    last, target]``: a condition's lines and the line to which it leads when it holds. ``steps`` are ``[number, line]``.
    Raises RejectedPlanError.
    """
    parts = outline_plan(parse_plan(source)).parts
    nodes = [node for part in parts for statement in part.body for node in _statements(statement)]
    return {
        "statements": sorted(_head_lines(node) for node in nodes if not _never_runs(node)),
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
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        last = node.iter.end_lineno or last
    elif isinstance(node, ast.Match):
        last = node.subject.end_lineno or last
    elif isinstance(node, _WITH_BLOCK):
        last = max(node.lineno, _first_line(node.body[0]) - 1)
    return [_first_line(node), last]


_WITH_BLOCK = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.With, ast.AsyncWith),
    *(ast.Try, ast.TryStar, ast.ExceptHandler),
)


def _first_line(node: ast.stmt | ast.ExceptHandler) -> int:
    """Return a statement's first line, that of its first decorator if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _branches(node: ast.stmt | ast.ExceptHandler) -> Iterator[list[int]]:
    if not isinstance(node, (ast.If, ast.While, ast.For, ast.AsyncFor)):
        return
    first, last = _head_lines(node)
    target = next((_first_line(s) for s in node.body if not isinstance(s, _WITHOUT_CODE)), last)
    endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
    if target > last and not endless:
        yield [first, last, target]


_DECLARATIONS = (ast.Global, ast.Nonlocal)
_WITHOUT_CODE = (ast.Import, ast.ImportFrom, *_DECLARATIONS)


def _never_runs(node: ast.stmt | ast.ExceptHandler) -> bool:
    """Return whether a statement is a declaration, or only a constant, such as a docstring."""
    return isinstance(node, _DECLARATIONS) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


LiteralRecord: TypeAlias = dict[str, Any]

_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def find_literals(source: str, arguments: dict[str, Any]) -> list[LiteralRecord]:
    """Return every text and number in ``solution`` in source order, without the steps' guards.

    Each is a dict. ``kind`` is ``"str"``, ``"int"``, ``"float"``, ``"complex"`` or ``"bytes"``. ``value`` is the value
    of a text, a 64-bit int or a finite float, and None otherwise. ``source[start:end]`` is the literal as written;
    ``line`` and ``column`` count from 1. ``step`` is the step's number, None outside the steps. ``docstring`` marks a
    text that stands alone. ``f_string`` marks a part of an f-string, whose position is that of the whole f-string.

    It takes no arguments. Raises RejectedPlanError if the source is not Python.
    """
    if arguments:
        raise ValueError(f"there is no argument {min(arguments)!r}")
    solution, places = outline_plan(parse_plan(source)).solution, _SourcePositions(source)
    found = [
        _literal_record(literal, step, places)
        for statement in (solution.body if solution else [])
        for step, body in [_split_step(statement)]
        for part in body
        for literal in _literals_below(part)
    ]
    return sorted(found, key=lambda f: (f["start"], f["end"]))


class _Literal(NamedTuple):
    """A constant with its outermost f-string, if any. ``alone`` marks a constant that is a statement."""

    node: ast.Constant
    outer: ast.JoinedStr | None
    alone: bool


class _SourcePositions:
    """Converts lines and byte columns, as ``ast`` counts, to offsets in the source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0, *(m.end() for m in _LINE_ENDS.finditer(source))]

    def offset_of(self, line: int, offset: int) -> int:
        start = self._starts[min(line, len(self._starts)) - 1]
        text = self._source[start : start + offset]  # a character has at least one byte
        return start + len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore"))

    def column_of(self, line: int, place: int) -> int:
        return place - self._starts[min(line, len(self._starts)) - 1] + 1


def _split_step(statement: ast.stmt) -> tuple[int | None, list[ast.stmt]]:
    step = step_number(statement)
    return (step, statement.body) if step is not None and isinstance(statement, ast.If) else (None, [statement])


def _literals_below(statement: ast.AST) -> Iterator[_Literal]:
    waiting: list[tuple[ast.AST, ast.JoinedStr | None]] = [(statement, None)]
    while waiting:
        node, outer = waiting.pop()
        constant = node.value if isinstance(node, ast.Expr) else node
        if not isinstance(constant, ast.Constant):
            inner = outer or (node if isinstance(node, ast.JoinedStr) else None)
            waiting += reversed([(child, inner) for child in ast.iter_child_nodes(node)])
        elif type(constant.value) in (str, int, float, complex, bytes):
            yield _Literal(constant, outer, constant is not node)


def _literal_record(literal: _Literal, step: int | None, places: _SourcePositions) -> LiteralRecord:
    node, where = literal.node, literal.outer or literal.node
    start = places.offset_of(where.lineno, where.col_offset)
    return {
        "kind": type(node.value).__name__,
        "value": node.value if find_non_plain(node.value, ANALYSIS_RULES) is None else None,
        "line": where.lineno,
        "column": places.column_of(where.lineno, start),
        "start": start,
        "end": places.offset_of(where.end_lineno or where.lineno, where.end_col_offset or where.col_offset),
        "step": step,
        "docstring": literal.alone and isinstance(node.value, str),
        "f_string": literal.outer is not None,
    }
