"""Parses a plan with libcst as well, whose tree keeps layout and comments.

Fixes and merged replies are made on this tree. CPython's reading of the plan is the one that runs, so the two parsers
must agree: on the statements, how they are nested, the lines that they start on, the functions with their parameters,
and the steps' numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final, NoReturn, TypeAlias, cast

import libcst as cst

from codeplan.sandbox.language.parsing import DiagnosticCollector, RejectedPlanError
from codeplan.sandbox.language.plan_outline import guard_number

_Compound: TypeAlias = cst.BaseCompoundStatement
_Statement: TypeAlias = "cst.SimpleStatementLine | _Compound"
_Part: TypeAlias = tuple[Sequence[ast.stmt], "cst.Else | cst.Finally | cst.ExceptHandler | cst.ExceptStarHandler"]

_CPYTHON_NAMES: Final = {"Del": "Delete"}
"""The kinds of statements that have another name in ``ast``."""


class _Difference(Exception):
    """The parsers read the statement on this line differently."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def parse_layout(source: str, tree: ast.Module) -> cst.Module:
    """Parse with libcst a plan that CPython has parsed to ``tree``.

    Raises: RejectedPlanError: libcst cannot read the plan, or reads it differently.
    """
    try:
        module = cst.parse_module(source)
        _compare_block(tree.body, module.body, 1 + len(module.header))
    except cst.ParserSyntaxError as error:
        _reject(source, error.raw_line, "libcst, the parser for fixes, cannot read this line")
    except _Difference as difference:
        _reject(source, difference.line, "Python and libcst, the parser for fixes, read this statement differently")
    except Exception:  # libcst raises no error class of its own for text that it cannot handle
        _reject(source, 0, "libcst, the parser for fixes, cannot read this plan")
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the exception that a failure inside the native parser raises
            raise
        _reject(source, 0, "libcst, the parser for fixes, failed on this plan")
    return module


def _reject(source: str, line: int, problem: str) -> NoReturn:
    text = source.splitlines()[line - 1 : line] if line else []
    shown = f": `{text[0].strip()[:120]}`" if text and text[0].strip() else ""
    problems = DiagnosticCollector(source)
    problems.add_at(min(line, source.count("\n") + 1), 0, "syntax", f"{problem}; write it in a simpler way{shown}")
    raise RejectedPlanError(problems.sorted())


def _compare_block(nodes: Sequence[ast.stmt], statements: Sequence[_Statement], line: int) -> int:
    """Compare the statements of a block, which begins on this line. Return the line after them."""
    i = 0
    for statement in statements:
        line += len(statement.leading_lines)
        count = len(statement.body) if isinstance(statement, cst.SimpleStatementLine) else 1
        own = nodes[i : i + count]
        if len(own) < count:
            raise _Difference(line)
        if isinstance(statement, cst.SimpleStatementLine):
            _require(own[0].lineno == line, own[0])
            line = _compare_line(own, statement)
        else:
            line = _compare_compound(own[0], statement, line)
        i += count
    _require(i == len(nodes), nodes[-1] if nodes else None)
    return line


def _compare_line(nodes: Sequence[ast.stmt], line: cst.SimpleStatementLine | cst.SimpleStatementSuite) -> int:
    """Compare small statements on one line. Return the line after them."""
    _require(len(nodes) == len(line.body), nodes[0])
    for node, small in zip(nodes, line.body, strict=True):
        _require(_same_kind(node, small), node)
    return (nodes[-1].end_lineno or 0) + _newlines(line.trailing_whitespace)


def _compare_compound(node: ast.stmt, statement: _Compound, line: int) -> int:
    """Compare statements with blocks. Return the line after the last block."""
    _require(_same_kind(node, statement) and _same_head(node, statement), node)
    _require(node.lineno == line or bool(getattr(node, "decorator_list", ())), node)
    if isinstance(node, ast.Match):
        assert isinstance(statement, cst.Match), "they are of the same kind"
        return _compare_cases(node, statement)
    assert isinstance(node, _WITH_BODY), "every other kind has a body"
    line = _compare_suite(node.body, statement.body, node.lineno)
    if isinstance(node, ast.If) and isinstance(statement, cst.If) and isinstance(statement.orelse, cst.If):
        _require(len(node.orelse) == 1, node)
        return _compare_compound(node.orelse[0], statement.orelse, line + len(statement.orelse.leading_lines))
    for nodes, part in _later_parts(node, statement):
        line = _compare_suite(nodes, part.body, line + len(part.leading_lines))
    return line


_WITH_BODY: Final = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While),
    *(ast.Try, ast.TryStar, ast.With, ast.AsyncWith),
)


def _later_parts(node: ast.stmt, statement: _Compound) -> Iterator[_Part]:
    """Yield what follows the first block of a statement: except, else and finally."""
    handlers = getattr(statement, "handlers", None) or ()
    own = getattr(node, "handlers", [])
    _require(len(handlers) == len(own), node)
    for handler, part in zip(own, handlers, strict=True):
        yield handler.body, part
    for field in ("orelse", "finalbody"):
        nodes, last = getattr(node, field, []), getattr(statement, field, None)
        _require(bool(nodes) == (last is not None), node)
        if last is not None:
            yield nodes, last


def _compare_cases(node: ast.Match, statement: cst.Match) -> int:
    _require(len(node.cases) == len(statement.cases), node)
    line = node.lineno
    for case, part in zip(node.cases, statement.cases, strict=True):
        line = _compare_suite(case.body, part.body, line + len(part.leading_lines))
    return line + len(statement.footer)


def _compare_suite(nodes: Sequence[ast.stmt], suite: cst.BaseSuite, head: int) -> int:
    """Compare a block after a head that begins on line ``head`` or, in parentheses, further down."""
    if isinstance(suite, cst.SimpleStatementSuite):
        return _compare_line(nodes, suite)
    assert isinstance(suite, cst.IndentedBlock), "there are two kinds of blocks"
    statements = cast("Sequence[_Statement]", suite.body)
    first = nodes[0].lineno - len(statements[0].leading_lines) if statements else 0
    decorated = bool(getattr(nodes[0], "decorator_list", ()))  # such a statement has two first lines
    _require(decorated or first >= head + _newlines(suite.header), nodes[0])
    return _compare_block(nodes, statements, first) + len(suite.footer)


def _newlines(end: cst.TrailingWhitespace) -> int:
    return 1 + end.whitespace.value.count("\n")


def _same_kind(node: ast.stmt, statement: cst.CSTNode) -> bool:
    name = type(statement).__name__
    asynchronous = getattr(statement, "asynchronous", None) is not None
    return type(node).__name__ == ("Async" if asynchronous else "") + _CPYTHON_NAMES.get(name, name)


def _same_head(node: ast.stmt, statement: _Compound) -> bool:
    if isinstance(node, ast.If) and isinstance(statement, cst.If):
        return guard_number(node.test) == layout_guard_number(statement.test)
    if isinstance(node, ast.ClassDef) and isinstance(statement, cst.ClassDef):
        return node.name == statement.name.value
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(statement, cst.FunctionDef):
        return node.name == statement.name.value and _parameters(node.args) == _layout_parameters(statement.params)
    return True


def layout_guard_number(test: cst.BaseExpression) -> int | None:
    """Return the k of the condition ``start_from <= k``; None for any other condition."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    target = test.comparisons[0]
    known = isinstance(test.left, cst.Name) and test.left.value == "start_from"
    if (
        not known
        or not isinstance(target.operator, cst.LessThanEqual)
        or not isinstance(target.comparator, cst.Integer)
    ):
        return None
    return int(target.comparator.value, 0)


def _parameters(given: ast.arguments) -> list[str]:
    extra = [p for p in (given.vararg, given.kwarg) if p is not None]
    return [p.arg for p in (*given.posonlyargs, *given.args, *given.kwonlyargs, *extra)]


def _layout_parameters(given: cst.Parameters) -> list[str]:
    extra = [p for p in (given.star_arg, given.star_kwarg) if isinstance(p, cst.Param)]
    return [p.name.value for p in (*given.posonly_params, *given.params, *given.kwonly_params, *extra)]


def _require(agree: bool, node: ast.stmt | None) -> None:
    if not agree:
        raise _Difference(node.lineno if node is not None else 0)
