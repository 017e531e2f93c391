"""What is surely set after syntax that has several paths, or ends one: states are joined where paths meet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from codeplan.sandbox.language.bindings import bound_names
from codeplan.sandbox.language.syntax_nodes import children

if TYPE_CHECKING:
    from codeplan.sandbox.language.name_flow import AssignmentVisitor

AssignmentState = frozenset[str] | None
"""The names surely set here; None where no path leads here."""


# ------------------------------------------------------------------ expressions


def _bool_op(walker: AssignmentVisitor, node: ast.BoolOp) -> None:
    walker.visit(node.values[0])
    first = walker.state
    walker.visit_all(node.values[1:])
    walker.state = first


def _if_exp(walker: AssignmentVisitor, node: ast.IfExp) -> None:
    walker.visit(node.test)
    start = walker.state
    walker.visit(node.body)
    then, walker.state = walker.state, start
    walker.visit(node.orelse)
    walker.state = _join_states([then, walker.state])


# ------------------------------------------------------------------ branches


def _if(walker: AssignmentVisitor, node: ast.If) -> None:
    walker.visit(node.test)
    start = walker.state
    walker.bind(*_set_when_true(node.test))
    walker.visit_all(node.body)
    then, walker.state = walker.state, start
    walker.visit_all(node.orelse)
    walker.state = _join_states([then, walker.state])


def _match(walker: AssignmentVisitor, node: ast.Match) -> None:
    walker.visit(node.subject)
    start = walker.state
    ends: list[AssignmentState] = []
    for case in node.cases:
        walker.state = start
        walker.bind(*bound_names([case.pattern]))
        walker.visit_all([case.guard, *case.body] if case.guard else case.body)
        ends.append(walker.state)
    last = node.cases[-1]
    catches_all = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    walker.state = _join_states(ends if catches_all else [*ends, start])


def _try(walker: AssignmentVisitor, node: ast.Try) -> None:
    start = walker.state
    walker.visit_all([*node.body, *node.orelse])
    ends = [walker.state]
    for handler in node.handlers:
        walker.state = start
        walker.visit(handler)
        ends.append(walker.state)
    walker.state = start
    walker.visit_all(node.finalbody)
    end, last = _join_states(ends), walker.state
    walker.state = None if end is None or last is None else end | last


def _handler(walker: AssignmentVisitor, node: ast.ExceptHandler) -> None:
    walker.visit(node.type)
    if node.name:
        walker.bind(node.name)
    walker.visit_all(node.body)
    if node.name:
        walker.unset(node.name)


# ------------------------------------------------------------------ loops


def _for(walker: AssignmentVisitor, node: ast.For) -> None:
    walker.visit(node.iter)
    start = walker.state
    walker.visit(node.target)
    breaks = _loop(walker, node.body)
    walker.state = start
    walker.visit_all(node.orelse)
    walker.state = _join_states([walker.state, *breaks])


def _while(walker: AssignmentVisitor, node: ast.While) -> None:
    walker.visit(node.test)
    start = walker.state
    walker.bind(*_set_when_true(node.test))
    breaks = _loop(walker, node.body)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    walker.state = None if endless else start
    walker.visit_all(node.orelse)
    walker.state = _join_states([walker.state, *breaks])


def _loop(walker: AssignmentVisitor, body: list[ast.stmt]) -> list[AssignmentState]:
    walker.break_states.append([])
    walker.visit_all(body)
    return walker.break_states.pop()


# ------------------------------------------------------------------ ends


def _assert(walker: AssignmentVisitor, node: ast.Assert) -> None:
    walker.visit(node.test)
    start = walker.state
    walker.visit(node.msg)
    never = isinstance(node.test, ast.Constant) and not node.test.value
    walker.state = None if never else start
    walker.bind(*_set_when_true(node.test))


def _return(walker: AssignmentVisitor, node: ast.Return) -> None:
    walker.visit(node.value)
    walker.state = None


def _raise(walker: AssignmentVisitor, node: ast.Raise) -> None:
    walker.visit_all(children(node))
    walker.state = None


def _break(walker: AssignmentVisitor, node: ast.Break) -> None:
    if walker.break_states:
        walker.break_states[-1].append(walker.state)
    walker.state = None


def _continue(walker: AssignmentVisitor, node: ast.Continue) -> None:
    walker.state = None


# ------------------------------------------------------------------ states


def _join_states(states: Iterable[AssignmentState]) -> AssignmentState:
    """What is surely set whichever of these paths was taken."""
    alive = [s for s in states if s is not None]
    return frozenset.intersection(*alive) if alive else None


def _set_when_true(test: ast.expr) -> frozenset[str]:
    """Names that ``:=`` has set in a condition if it was true: each part of an ``and`` was then evaluated."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return frozenset().union(*map(_set_when_true, test.values))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _set_when_true(test.left) | _set_when_true(test.comparators[0])
    return frozenset({test.target.id}) if isinstance(test, ast.NamedExpr) else frozenset()


PATH_HANDLERS: dict[type[ast.AST], Callable[[AssignmentVisitor, Any], None]] = {
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_exp,
    ast.If: _if,
    ast.Match: _match,
    ast.Try: _try,
    ast.ExceptHandler: _handler,
    ast.For: _for,
    ast.While: _while,
    ast.Assert: _assert,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _break,
    ast.Continue: _continue,
}
"""How a walker goes through each sort of node that has paths."""
