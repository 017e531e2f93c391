"""Finds the plan's function and gives it the signature ``solution(agent, start_from=1)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from codeplan.sandbox.analysis.fixes.codemod import Codemod, head_line, solution_of
from codeplan.sandbox.analysis.fixes.names import RenamedNames
from codeplan.sandbox.analysis.fixes.plan_facts import PlanFacts, parameters_of
from codeplan.sandbox.runtime.names import RESERVED_NAMES


class SolutionName(RenamedNames):
    """Renames the only function that takes ``agent`` to ``solution``, if no function has that name."""

    rule = "solution-name"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether there is just one candidate."""
        return not facts.solutions and len(_takers(facts)) == 1

    def choose_names(self) -> dict[str, str]:
        """Return the function's new name."""
        return {_takers(self.facts)[0].name: "solution"}


def _takers(facts: PlanFacts) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [f for f in facts.functions if "agent" in parameters_of(f)]


class EarlierSolutions(Codemod):
    """Removes all functions ``solution`` but the last, which is the one that Python would call."""

    rule = "solution-twice"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether there is more than one."""
        return len(facts.solutions) > 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef | cst.RemovalSentinel:
        """Remove an earlier function."""
        on_top = original_node.name.value == "solution" and original_node in self.module.body
        if not on_top or original_node is solution_of(self.module):
            return updated_node
        self.note(original_node, head_line(original_node), "")
        return cst.RemoveFromParent()


class SolutionSignature(Codemod):
    """Rewrites other signatures: other orders and defaults, and extra parameters, which become variables."""

    rule = "solution-signature"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan's parameters are others; annotations do not matter."""
        return bool(facts.solutions) and not _is_regular(facts.solutions[-1])

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        """Rewrite the signature of the plan."""
        if original_node is not solution_of(self.module):
            return updated_node
        assignments = _extra_assignments(original_node)
        if assignments is None:
            return updated_node
        new = updated_node.with_changes(
            params=_signature(), returns=None, asynchronous=None, body=_with_first(updated_node.body, assignments)
        )
        self.note(original_node.name, head_line(original_node), head_line(new))
        return new


def _is_regular(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = function.args
    plain = not given.kwonlyargs and not given.posonlyargs and isinstance(function, ast.FunctionDef)
    stars = given.vararg or given.kwarg
    # A default other than 1 is the model's opinion on where to resume.
    number = not given.defaults or isinstance(given.defaults[-1], ast.Constant)
    return plain and not stars and number and parameters_of(function) == ["agent", "start_from"]


def _extra_assignments(function: cst.FunctionDef) -> list[str] | None:
    """Return the statements that set the extra parameters; None if one has no value or stands for many."""
    given = function.params
    if isinstance(given.star_arg, cst.Param) or given.star_kwarg is not None:
        return None
    statements: list[str] = []
    rest = list(_parameters(function))
    if not any(p.name.value == "agent" for p in rest) and rest and rest[0].default is None:
        statements.append(f"{rest.pop(0).name.value} = agent")
    for p in rest:
        name = p.name.value
        if name in ("agent", "start_from"):
            continue
        if p.default is None or name in RESERVED_NAMES:
            return None
        statements.append(f"{name} = {cst.Module([]).code_for_node(p.default)}")
    return statements


def _parameters(function: cst.FunctionDef) -> Iterator[cst.Param]:
    given = function.params
    yield from (*given.posonly_params, *given.params, *given.kwonly_params)


def _signature() -> cst.Parameters:
    function = cst.parse_statement("def solution(agent, start_from=1): pass")
    assert isinstance(function, cst.FunctionDef), "a header is a function's"
    return function.params


def _with_first(body: cst.BaseSuite, statements: list[str]) -> cst.BaseSuite:
    """Return the body with these statements first, after a docstring."""
    if not statements or not isinstance(body, cst.IndentedBlock):
        return body
    first = body.body[0]
    documented = (
        isinstance(first, cst.SimpleStatementLine)
        and isinstance(first.body[0], cst.Expr)
        and isinstance(first.body[0].value, cst.SimpleString)
    )
    new = [cst.parse_statement(s) for s in statements]
    return body.with_changes(body=[*body.body[:documented], *new, *body.body[documented:]])
