"""Finds a plan's literals and their positions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.language.plan_outline import outline_plan, step_number
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, find_non_plain

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
