"""A plan's parts: what stands outside the steps, and the steps, in the order in which they run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

MAX_STEP = 1_000_000
"""A condition with a larger number guards no step: it is code like any other."""


class PlanPart(NamedTuple):
    """A run of statements: a step's block (``step`` its number, ``node`` its guard), or code outside steps (None)."""

    step: int | None
    node: ast.stmt
    body: list[ast.stmt]


class PlanOutline(NamedTuple):
    """A plan taken apart. ``solution`` is None where the plan has no such function."""

    solution: ast.FunctionDef | None
    parts: tuple[PlanPart, ...]

    @property
    def steps(self) -> tuple[PlanPart, ...]:
        """The steps alone."""
        return tuple(p for p in self.parts if p.step is not None)


def outline_plan(tree: ast.Module) -> PlanOutline:
    """Take a plan apart: module level first (it runs before ``solution`` is called), then the body of ``solution``."""
    solutions = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "solution"]
    solution = solutions[-1] if solutions else None
    outside = [s for s in tree.body if s not in solutions and not is_solution_call(s)]
    statements = outside + (solution.body if solution else [])
    return PlanOutline(solution, tuple(_split_parts(statements)))


def is_solution_call(statement: ast.stmt) -> bool:
    """Whether a statement of the module only calls the plan: the runtime does that, so it is left out."""
    if isinstance(statement, ast.If):
        names = {n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)}
        return names == {"__name__"}
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "solution"


def step_number(statement: ast.stmt) -> int | None:
    """The k of ``if start_from <= k:`` without an else; None for any other statement."""
    if not isinstance(statement, ast.If) or statement.orelse or not isinstance(statement.test, ast.Compare):
        return None
    test = statement.test
    left, right = test.left, test.comparators[-1]
    exact = isinstance(left, ast.Name) and left.id == "start_from" and [type(op) for op in test.ops] == [ast.LtE]
    if not exact or not isinstance(right, ast.Constant) or type(right.value) is not int:
        return None
    return right.value if right.value <= MAX_STEP else None


def _split_parts(statements: list[ast.stmt]) -> Iterator[PlanPart]:
    """Neighbouring statements outside the steps make one part."""
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
