"""Checks the structure of a plan: one ``solution``, and guarded steps numbered from 1."""

from __future__ import annotations

import ast
from typing import TypeAlias

from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.extraction import SOLUTION_HEADER
from codeplan.sandbox.language.plan_outline import guard_number
from codeplan.sandbox.language.syntax_nodes import is_name, walk

STEP_GUARD = "if start_from <= {k}:"

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def check_structure(tree: ast.Module, lines: list[str], problems: DiagnosticCollector) -> None:
    """Check the structure of a whole plan; ``lines`` are the source's."""
    solutions = [s for s in tree.body if isinstance(s, _Function) and s.name == "solution"]
    if not solutions:
        message = f"there is no function `solution`; put the plan into `{SOLUTION_HEADER}`"
        problems.add(None, "solution-missing", message)
        return
    for extra in solutions[:-1]:
        problems.add(extra, "solution-twice", "`solution` is defined more than once; keep one definition")
    solution = solutions[-1]
    _check_signature(solution, problems)
    guards = [s for s in solution.body if isinstance(s, ast.If) and _mentions_start(s.test)]
    within = {s: walk(*(s.body if isinstance(s, ast.If) and s in guards else [s])) for s in solution.body}
    for s in solution.body:
        _check_nested_guards(s, within[s], problems)
    steps = [(g, k) for g in guards if (k := _check_guard(g, lines, problems)) is not None]
    _check_order(steps, problems)


def _check_signature(solution: _Function, problems: DiagnosticCollector) -> None:
    a = solution.args
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    plain = not a.kwonlyargs and a.vararg is None and a.kwarg is None and isinstance(solution, ast.FunctionDef)
    if names != ["agent", "start_from"] or not plain:
        message = f"the signature must be `{SOLUTION_HEADER}`; set other values in the body"
        problems.add(solution, "solution-signature", message)


def _mentions_start(node: ast.AST) -> bool:
    return any(is_name(n, "start_from") for n in walk(node))


def _check_guard(guard: ast.If, lines: list[str], problems: DiagnosticCollector) -> int | None:
    """Return the step's number, or report a malformed guard and return None."""
    k = guard_number(guard.test)
    if k is None:
        wanted = STEP_GUARD.format(k="k")
        message = f"start each step with `{wanted}`, where k is a literal number; other conditions are not allowed"
        problems.add(guard.test, "step-guard", message)
    elif guard.orelse:
        wanted = STEP_GUARD.format(k=k)
        message = f"a step has no elif or else; write `{wanted}` alone, and the next step as an if of its own"
        problems.add_at(_else_line(guard, lines), guard.col_offset + 1, "step-guard", message)
        return None
    return k


def _else_line(guard: ast.If, lines: list[str]) -> int:
    """Return the line of ``else`` or ``elif``; the syntax tree does not hold that of ``else``."""
    first = guard.orelse[0].lineno
    between = range(guard.body[-1].end_lineno or first, first)
    return next((n + 1 for n in between if lines[n].lstrip().startswith("el")), first)


def _check_nested_guards(statement: ast.stmt, within: list[ast.AST], problems: DiagnosticCollector) -> None:
    for node in within:
        if isinstance(node, ast.If) and node is not statement and _mentions_start(node.test):
            wanted = STEP_GUARD.format(k="k")
            message = f"steps stand side by side in the body of solution; move this `{wanted}` out to that level"
            problems.add(node, "step-guard", message)


def _check_order(steps: list[tuple[ast.If, int]], problems: DiagnosticCollector) -> None:
    for i, (guard, k) in enumerate(steps, 1):
        if k != i:
            wanted = STEP_GUARD.format(k=i)
            message = f"steps are numbered 1, 2, 3 … in their order; this one is number {i}: write `{wanted}`"
            problems.add(guard, "step-order", message)
            return
