"""Splits a plan into its steps and the code outside them, in execution order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from codeplan.sandbox.language.parsing import has_no_effect, is_name

MAX_STEP = 1_000_000
"""A condition with a larger number is ordinary code, not a step."""


FunctionDefinition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class PlanPart(NamedTuple):
    """A run of statements: a step's block with its number and guard, or code outside the steps (``step`` is None)."""

    step: int | None
    node: ast.stmt
    body: list[ast.stmt]


class PlanOutline(NamedTuple):
    """A plan's parts. ``solution`` is None if the plan does not define it."""

    solution: FunctionDefinition | None
    parts: tuple[PlanPart, ...]

    @property
    def steps(self) -> tuple[PlanPart, ...]:
        """The steps alone."""
        return tuple(p for p in self.parts if p.step is not None)


def outline_plan(tree: ast.Module) -> PlanOutline:
    """Split a plan: first the module's code, which runs before ``solution``, then the body of ``solution``."""
    solutions = [s for s in tree.body if isinstance(s, FunctionDefinition) and s.name == "solution"]
    solution = solutions[-1] if solutions else None
    outside = [s for s in tree.body if s not in solutions and not is_solution_call(s)]
    statements = outside + (solution.body if solution else [])
    return PlanOutline(solution, tuple(_split_parts(statements)))


def is_solution_call(statement: ast.stmt) -> bool:
    """Return whether a statement of the module only calls the plan. Such a call is left out, because the runtime calls
    the plan.
    """
    if isinstance(statement, ast.If):
        names = {n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)}
        return names == {"__name__"}
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "asyncio.run" and len(value.args) == 1:
        value = value.args[0]
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "solution"


def step_number(statement: ast.stmt) -> int | None:
    """Return the k of ``if start_from <= k:`` without an else; None for any other statement."""
    k = guard_number(statement.test) if isinstance(statement, ast.If) and not statement.orelse else None
    return k if k is not None and k <= MAX_STEP else None


def guard_number(test: ast.expr) -> int | None:
    """Return the k of the condition ``start_from <= k``; None for any other condition."""
    match test:
        case ast.Compare(ast.Name("start_from"), [ast.LtE()], [ast.Constant(k)]) if type(k) is int:
            return k
    return None


def find_final_replan(body: list[ast.stmt]) -> ast.Call | None:
    """Return the call of ``replan`` that is the last statement of a block; None if the block ends otherwise.

    Statements without effect may follow it, and it may be the value of a ``return``.
    """
    last = next((s for s in reversed(body) if not has_no_effect(s)), None)
    call = last.value if isinstance(last, ast.Expr | ast.Return) else None
    return call if isinstance(call, ast.Call) and is_name(call.func, "replan") else None


def _split_parts(statements: list[ast.stmt]) -> Iterator[PlanPart]:
    """Yield the parts. Adjacent statements outside the steps form one part."""
    run: list[ast.stmt] = []
    for s in statements:
        step = step_number(s)
        if step is None:
            run.append(s)
            continue
        if run:
            yield PlanPart(None, run[0], run)
            run = []
        assert isinstance(s, ast.If)
        yield PlanPart(step, s, s.body)
    if run:
        yield PlanPart(None, run[0], run)
