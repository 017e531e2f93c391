"""Definite assignment across branches, loops and jumps: states are joined where paths meet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from codeplan.sandbox.language.bindings import bound_names
from codeplan.sandbox.language.syntax_nodes import children
from codeplan.sandbox.runtime.names import ENDING_NAMES

AssignmentState = frozenset[str] | None
"""The names that are certainly set here; None if no path leads here."""


class Visitor(Protocol):
    """Visits nodes in execution order and tracks which names are set."""

    state: AssignmentState
    break_states: list[list[AssignmentState]]

    def visit(self, node: ast.AST | None) -> None: ...
    def visit_all(self, body: Iterable[ast.AST]) -> None: ...
    def bind(self, *names: str) -> None: ...
    def unset(self, name: str) -> None: ...


def _bool_op(visitor: Visitor, node: ast.BoolOp) -> None:
    visitor.visit(node.values[0])
    first = visitor.state
    visitor.visit_all(node.values[1:])
    visitor.state = first


def _if_exp(visitor: Visitor, node: ast.IfExp) -> None:
    visitor.visit(node.test)
    _fork(visitor, [node.body], [node.orelse])


def _if(visitor: Visitor, node: ast.If) -> None:
    visitor.visit(node.test)
    _fork(visitor, node.body, node.orelse, _set_when_true(node.test))


def _fork(
    visitor: Visitor, body: Iterable[ast.AST], orelse: Iterable[ast.AST], set_in_body: frozenset[str] = frozenset()
) -> None:
    start = visitor.state
    visitor.bind(*set_in_body)
    visitor.visit_all(body)
    then, visitor.state = visitor.state, start
    visitor.visit_all(orelse)
    visitor.state = _join_states([then, visitor.state])


def _match(visitor: Visitor, node: ast.Match) -> None:
    visitor.visit(node.subject)
    start = visitor.state
    ends: list[AssignmentState] = []
    for case in node.cases:
        visitor.state = start
        visitor.bind(*bound_names([case.pattern]))
        visitor.visit_all([case.guard, *case.body] if case.guard else case.body)
        ends.append(visitor.state)
    last = node.cases[-1]
    catches_all = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    visitor.state = _join_states(ends if catches_all else [*ends, start])


def _try(visitor: Visitor, node: ast.Try) -> None:
    start = visitor.state
    visitor.visit_all([*node.body, *node.orelse])
    ends = [visitor.state]
    for handler in node.handlers:
        visitor.state = start
        visitor.visit(handler)
        ends.append(visitor.state)
    visitor.state = start
    visitor.visit_all(node.finalbody)
    end, last = _join_states(ends), visitor.state
    visitor.state = None if end is None or last is None else end | last


def _handler(visitor: Visitor, node: ast.ExceptHandler) -> None:
    visitor.visit(node.type)
    if node.name:
        visitor.bind(node.name)
    visitor.visit_all(node.body)
    if node.name:
        visitor.unset(node.name)


def _for(visitor: Visitor, node: ast.For) -> None:
    visitor.visit(node.iter)
    start = visitor.state
    visitor.visit(node.target)
    breaks = _loop(visitor, node.body)
    visitor.state = start
    visitor.visit_all(node.orelse)
    visitor.state = _join_states([visitor.state, *breaks])


def _while(visitor: Visitor, node: ast.While) -> None:
    visitor.visit(node.test)
    start = visitor.state
    visitor.bind(*_set_when_true(node.test))
    breaks = _loop(visitor, node.body)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    visitor.state = None if endless else start
    visitor.visit_all(node.orelse)
    visitor.state = _join_states([visitor.state, *breaks])


def _loop(visitor: Visitor, body: list[ast.stmt]) -> list[AssignmentState]:
    visitor.break_states.append([])
    visitor.visit_all(body)
    return visitor.break_states.pop()


def _assert(visitor: Visitor, node: ast.Assert) -> None:
    visitor.visit(node.test)
    start = visitor.state
    visitor.visit(node.msg)
    never = isinstance(node.test, ast.Constant) and not node.test.value
    visitor.state = None if never else start
    visitor.bind(*_set_when_true(node.test))


def _return(visitor: Visitor, node: ast.Return) -> None:
    visitor.visit(node.value)
    visitor.state = None


def _expr(visitor: Visitor, node: ast.Expr) -> None:
    visitor.visit(node.value)
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
        visitor.state = None if node.value.func.id in ENDING_NAMES else visitor.state


def _raise(visitor: Visitor, node: ast.Raise) -> None:
    visitor.visit_all(children(node))
    visitor.state = None


def _break(visitor: Visitor, node: ast.Break) -> None:
    if visitor.break_states:
        visitor.break_states[-1].append(visitor.state)
    visitor.state = None


def _continue(visitor: Visitor, node: ast.Continue) -> None:
    visitor.state = None


def _join_states(states: Iterable[AssignmentState]) -> AssignmentState:
    """Return the names that are set on every one of these paths."""
    alive = [s for s in states if s is not None]
    return frozenset.intersection(*alive) if alive else None


def _set_when_true(test: ast.expr) -> frozenset[str]:
    """Return the names that ``:=`` has set if the condition is true. In that case every part of an ``and`` was
    evaluated.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return frozenset().union(*map(_set_when_true, test.values))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _set_when_true(test.left) | _set_when_true(test.comparators[0])
    return frozenset({test.target.id}) if isinstance(test, ast.NamedExpr) else frozenset()


PATH_HANDLERS: dict[type[ast.AST], Callable[[Visitor, Any], None]] = {
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_exp,
    ast.If: _if,
    ast.Match: _match,
    ast.Try: _try,
    ast.ExceptHandler: _handler,
    ast.For: _for,
    ast.While: _while,
    ast.Assert: _assert,
    ast.Expr: _expr,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _break,
    ast.Continue: _continue,
}
"""How a visitor handles each node type that has several paths or ends one."""
