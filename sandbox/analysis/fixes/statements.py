"""Mends single statements: assertions written as a tuple, helper functions inside steps, redundant ``global``."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TypeVar

import libcst as cst
from libcst.metadata import PositionProvider

from codeplan.sandbox.analysis.fixes.codemod import Codemod, solution_of
from codeplan.sandbox.analysis.fixes.guards import guard_bound
from codeplan.sandbox.analysis.fixes.plan_facts import PlanFacts
from codeplan.sandbox.language.bindings import bound_names
from codeplan.sandbox.language.syntax_nodes import walk

_Declaration = TypeVar("_Declaration", cst.Global, cst.Nonlocal)
_HOLDERS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_TEXT = cst.SimpleString | cst.FormattedString | cst.ConcatenatedString


class AssertedTuples(Codemod):
    """Rewrites ``assert (condition, "message")``, which always holds, as ``assert condition, "message"``."""

    rule = "assert-tuple"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether an assertion tests a pair."""
        asserted = (n.test for n in facts.nodes if isinstance(n, ast.Assert))
        return any(isinstance(test, ast.Tuple) and len(test.elts) == 2 for test in asserted)

    def leave_Assert(self, original_node: cst.Assert, updated_node: cst.Assert) -> cst.Assert:
        """Take the tuple apart."""
        pair = updated_node.test
        if not is_asserted_tuple(updated_node) or not isinstance(pair, cst.Tuple):
            return updated_node
        condition, message = (_on_one_line(element.value) for element in pair.elements)
        new = cst.Assert(test=condition, msg=message, semicolon=updated_node.semicolon)
        self.note(original_node, original_node, new)
        return new


def is_asserted_tuple(node: cst.Assert) -> bool:
    """Return whether the assertion tests a pair of a condition and a text."""
    pair = node.test
    return (
        node.msg is None
        and isinstance(pair, cst.Tuple)
        and len(pair.elements) == 2
        and all(isinstance(e, cst.Element) for e in pair.elements)
        and isinstance(pair.elements[1].value, _TEXT)
    )


def _on_one_line(expression: cst.BaseExpression) -> cst.BaseExpression:
    """Return the expression so that it can stand outside of brackets: one of several lines gets brackets."""
    inner = cst.Module([]).code_for_node(expression)
    if "\n" in inner and not expression.lpar:
        return expression.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return expression


class HelperFunctions(Codemod):
    """Moves functions that one step defines and another uses to the place before the first step.

    Functions are not part of a checkpoint, so a plan that resumes at the other step would lack them.
    """

    rule = "helper-function"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether a step defines a function."""
        return any(isinstance(s, ast.FunctionDef) for guard in facts.guards for s in guard.body)

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        """Move the functions out of the steps."""
        if original_node is not solution_of(self.module) or not isinstance(original_node.body, cst.IndentedBlock):
            return updated_node
        statements = list(original_node.body.body)
        steps = [s for s in statements if isinstance(s, cst.If) and guard_bound(s.test) is not None]
        moved = _shared_functions(statements, steps)
        if not moved:
            return updated_node
        for function in moved:
            self.note(function, f"def {function.name.value} in a step", f"def {function.name.value} before the steps")
        kept = [_without(s, moved) if isinstance(s, cst.If) and s in steps else s for s in statements]
        first = statements.index(steps[0])
        body = [*kept[:first], *moved, *kept[first:]]
        return updated_node.with_changes(body=original_node.body.with_changes(body=body))


def _shared_functions(statements: list[cst.BaseStatement], steps: list[cst.If]) -> list[cst.FunctionDef]:
    """Return the functions that a step defines, no other code binds, and other statements read."""
    trees = {id(s): _tree(s) for s in statements}
    readers = Counter(name for tree in trees.values() for name in _names_read(tree))
    bound = Counter(name for tree in trees.values() for name in _bindings(tree))
    found: list[cst.FunctionDef] = []
    for step in steps:
        own = _names_read(trees[id(step)])
        for function in step.body.body:
            if isinstance(function, cst.FunctionDef) and _is_movable(function):
                name = function.name.value
                if bound[name] == 1 and readers[name] > (name in own):
                    found.append(function)
    return found


def _is_movable(function: cst.FunctionDef) -> bool:
    """Return whether the function means the same elsewhere: its defaults are evaluated where it is defined."""
    given = [p.default for p in (*function.params.params, *function.params.kwonly_params) if p.default is not None]
    return not function.decorators and all(isinstance(d, cst.BaseNumber | cst.BaseString | cst.Name) for d in given)


def _without(step: cst.If, functions: list[cst.FunctionDef]) -> cst.If:
    body = [s for s in step.body.body if s not in functions]
    return step.with_changes(body=step.body.with_changes(body=body))


def _tree(statement: cst.BaseStatement) -> ast.Module:
    return ast.parse(cst.Module([]).code_for_node(statement))


def _names_read(tree: ast.Module) -> set[str]:
    return {n.id for n in walk(tree) if isinstance(n, ast.Name)}


def _bindings(tree: ast.Module) -> list[str]:
    """Return the names that code binds: functions as often as it defines them, others once."""
    functions = [n.name for n in walk(tree) if isinstance(n, ast.FunctionDef)]
    return [*functions, *(bound_names(tree.body) - set(functions))]


class RedundantGlobals(Codemod):
    """Removes ``global`` and ``nonlocal`` where they change nothing: a plan's names are shared anyway."""

    rule = "redundant-global"

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__(module, facts)
        self._redundant = _redundant_places(facts.tree)

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether there is such a statement."""
        return any(isinstance(n, ast.Global | ast.Nonlocal) for n in facts.nodes)

    def leave_Global(self, original_node: cst.Global, updated_node: cst.Global) -> cst.Global | cst.RemovalSentinel:
        """Remove the statement."""
        return self._removed(original_node, updated_node)

    def leave_Nonlocal(
        self, original_node: cst.Nonlocal, updated_node: cst.Nonlocal
    ) -> cst.Nonlocal | cst.RemovalSentinel:
        """Remove the statement."""
        return self._removed(original_node, updated_node)

    def _removed(self, original: _Declaration, updated: _Declaration) -> _Declaration | cst.RemovalSentinel:
        start = self.get_metadata(PositionProvider, original).start
        if (start.line, start.column) not in self._redundant:
            return updated
        self.note(original, original, "")
        return cst.RemoveFromParent()


def _redundant_places(tree: ast.Module) -> set[tuple[int, int]]:
    """Return line and column of the statements whose names their function does not bind, or that stand in the plan."""
    found: set[tuple[int, int]] = set()
    scopes: list[ast.Module | ast.FunctionDef] = [tree]
    scopes += [n for n in walk(tree) if isinstance(n, ast.FunctionDef)]
    for scope in scopes:
        for node in _own_nodes(scope):
            if isinstance(node, ast.Global | ast.Nonlocal):
                outermost = isinstance(scope, ast.Module) or scope.name == "solution"
                if outermost or not bound_names(scope.body) & set(node.names):
                    found.add((node.lineno, node.col_offset))
    return found


def _own_nodes(scope: ast.Module | ast.FunctionDef) -> list[ast.AST]:
    """Return the statements of a scope, at any depth, without those of the functions in it."""
    found: list[ast.AST] = []
    rest: list[ast.AST] = list(scope.body)
    while rest:
        node = rest.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            rest += [
                c for c in ast.iter_child_nodes(node) if isinstance(c, ast.stmt | ast.ExceptHandler | ast.match_case)
            ]
    return found
