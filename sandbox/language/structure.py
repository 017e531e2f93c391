"""Judges a plan's structure on libcst's tree: one ``solution`` with the right signature, and guarded steps from 1 on.

Positions are computed only when there is something to report: they cost more than everything else here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.extraction import SOLUTION_HEADER
from codeplan.sandbox.language.plan_outline import MAX_STEP

STEP_GUARD = "if start_from <= {k}:"

cst.parse_module("")  # loads the parser now: a locked worker can load no modules


class _Problem(NamedTuple):
    """What is wrong at a node; None stands for the whole plan."""

    node: cst.CSTNode | None
    rule: str
    message: str


def check_structure(module: cst.Module, mentions: int, problems: DiagnosticCollector) -> None:
    """Check the structure of a whole plan. ``mentions`` is how often the plan reads ``start_from``."""
    found = list(_structure_problems(module, mentions))
    if not found:
        return
    places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for problem in found:
        start = places[problem.node].start if problem.node is not None else None
        line, column = (start.line, start.column + 1) if start else (0, 0)
        problems.add_at(line, column, problem.rule, problem.message)


def guard_number(test: cst.BaseExpression) -> int | None:
    """Return the k of the condition ``start_from <= k``; None for any other condition."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    operator, right = test.comparisons[0].operator, test.comparisons[0].comparator
    if not isinstance(operator, cst.LessThanEqual) or not isinstance(right, cst.Integer):
        return None
    known = isinstance(test.left, cst.Name) and test.left.value == "start_from" and len(right.value) < 20
    return right.evaluated_value if known and right.evaluated_value <= MAX_STEP else None


def _structure_problems(module: cst.Module, mentions: int) -> Iterator[_Problem]:
    solutions = [s for s in module.body if isinstance(s, cst.FunctionDef) and s.name.value == "solution"]
    if not solutions:
        message = f"there is no function `solution`; put the plan into `{SOLUTION_HEADER}`"
        yield _Problem(None, "solution-missing", message)
        return
    for extra in solutions[:-1]:
        yield _Problem(extra, "solution-twice", "`solution` is defined more than once; keep one definition")
    solution = solutions[-1]
    yield from _signature_problems(solution)
    guards = [s for s in solution.body.body if isinstance(s, cst.If) and _mentions_start(s.test)]
    for guard in guards:
        yield from _guard_problems(guard)
    yield from _order_problems([(g, k) for g in guards if (k := guard_number(g.test)) is not None and not g.orelse])
    if mentions > len(guards):
        # The elif of a guard is reported already.
        yield from _nested_guards(s.body if isinstance(s, cst.If) and s in guards else s for s in solution.body.body)


def _signature_problems(solution: cst.FunctionDef) -> Iterator[_Problem]:
    given = solution.params
    names = [p.name.value for p in (*given.posonly_params, *given.params)]
    stars = given.kwonly_params or isinstance(given.star_arg, cst.Param) or given.star_kwarg
    if names != ["agent", "start_from"] or stars or solution.asynchronous:
        message = f"the signature must be `{SOLUTION_HEADER}`; set other values in the body"
        yield _Problem(solution, "solution-signature", message)


def _guard_problems(guard: cst.If) -> Iterator[_Problem]:
    k = guard_number(guard.test)
    if k is None:
        wanted = STEP_GUARD.format(k="k")
        message = f"start each step with `{wanted}`, where k is a literal number; other conditions are not allowed"
        yield _Problem(guard.test, "step-guard", message)
    elif guard.orelse is not None:
        wanted = STEP_GUARD.format(k=k)
        message = f"a step has no elif or else; write `{wanted}` alone, and the next step as an if of its own"
        yield _Problem(guard.orelse, "step-guard", message)


def _order_problems(steps: Iterable[tuple[cst.If, int]]) -> Iterator[_Problem]:
    for i, (guard, k) in enumerate(steps, 1):
        if k != i:
            wanted = STEP_GUARD.format(k=i)
            message = f"steps are numbered 1, 2, 3 … in their order; this one is number {i}: write `{wanted}`"
            yield _Problem(guard, "step-order", message)
            return


def _nested_guards(code: Iterable[cst.CSTNode]) -> Iterator[_Problem]:
    """Yield a problem for each ``if`` about ``start_from`` in this code, which is below the level of the steps."""
    finder = _GuardFinder()
    for node in code:
        node.visit(finder)
    wanted = STEP_GUARD.format(k="k")
    message = f"steps stand side by side in the body of solution; move this `{wanted}` out to that level"
    for guard in finder.found:
        yield _Problem(guard, "step-guard", message)


class _GuardFinder(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[cst.If] = []

    def visit_If(self, node: cst.If) -> None:
        if _mentions_start(node.test):
            self.found.append(node)


def _mentions_start(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Comparison):
        sides = (node.left, *(c.comparator for c in node.comparisons))
        if any(isinstance(side, cst.Name) and side.value == "start_from" for side in sides):
            return True
    finder = _StartFinder()
    node.visit(finder)
    return finder.found


class _StartFinder(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def visit_Name(self, node: cst.Name) -> None:
        self.found = self.found or node.value == "start_from"
