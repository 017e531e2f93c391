"""Merges the plans that an episode ran one after the other into one plan.

A plan resumed at step k ran only its steps from k on; earlier plans ran the steps before. Together they form one plan
that runs from step 1. A ``replan`` that ends a step is removed if another step follows, because it is already
answered.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from codeplan.sandbox.language.checking import has_test, testing_functions
from codeplan.sandbox.language.extraction import SOLUTION_HEADER
from codeplan.sandbox.language.name_flow import Function, analyse_flow, bound_names, parameter_names
from codeplan.sandbox.language.parsing import load_name, parse_plan, walk
from codeplan.sandbox.language.plan_outline import find_final_replan, outline_plan, step_number

_MAX_PLANS = 20
_NAMED = (
    *(ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)
_S = TypeVar("_S", bound=ast.stmt)


class _PlanPiece(NamedTuple):
    """The contribution of one plan: its imports, its code outside the steps, and some of its steps."""

    imports: list[ast.stmt]
    outside: list[ast.stmt]
    steps: list[ast.If]


def merge_plans(source: str, arguments: dict[str, Any]) -> str:
    """Return one plan with the steps of several, in their order and renumbered.

    ``source`` is the last plan. ``arguments``: ``steps``, the numbers of its steps to keep; ``before``, the earlier
    plans, each a dict with ``source`` and ``steps``. Code outside the steps comes from every plan. If two plans give
    one name different code, the earlier plan's name changes. Comments are lost.

    Raises: RejectedPlanError: a source is not Python. ValueError: wrong arguments.
    """
    plans = [*_earlier_plans(arguments), (source, _step_numbers(arguments.get("steps")))]
    pieces = [_take_piece(text, steps) for text, steps in plans]
    solution = ast.parse(f"{SOLUTION_HEADER}\n    pass").body[0]
    assert isinstance(solution, ast.FunctionDef), "a header is a function's"
    solution.body = _merge_pieces(pieces) or solution.body
    imports = {ast.dump(s): s for piece in pieces for s in piece.imports}
    future = [s for s in imports.values() if getattr(s, "module", None) == "__future__"]
    head = [*future, *(s for s in imports.values() if s not in future)]
    return ast.unparse(ast.fix_missing_locations(ast.Module([*head, solution], []))) + "\n"


def _earlier_plans(arguments: dict[str, Any]) -> list[tuple[str, list[int]]]:
    before = arguments.get("before")
    if not isinstance(before, list) or len(before) >= _MAX_PLANS:
        raise ValueError(f"the argument 'before' must be a list of fewer than {_MAX_PLANS} plans")
    found: list[tuple[str, list[int]]] = []
    for plan in before:
        if not isinstance(plan, dict) or not isinstance(plan.get("source"), str):
            raise ValueError("each plan of 'before' needs a text 'source'")
        found.append((plan["source"], _step_numbers(plan.get("steps"))))
    return found


def _step_numbers(steps: object) -> list[int]:
    if not isinstance(steps, list) or not all(type(n) is int for n in steps):
        raise ValueError("'steps' must be a list of integers")
    return steps


def _take_piece(source: str, steps: Sequence[int]) -> _PlanPiece:
    found = outline_plan(parse_plan(source))
    guards = [p.node for p in found.steps if p.step in steps and isinstance(p.node, ast.If)]
    around = [s for p in found.parts if p.step is None for s in p.body]
    imports = [s for s in around if isinstance(s, ast.Import | ast.ImportFrom)]
    return _PlanPiece([*imports], [s for s in around if s not in imports], guards)


def _merge_pieces(pieces: Sequence[_PlanPiece]) -> list[ast.stmt]:
    """Return the code outside the steps, then all steps. The last plan keeps its names; earlier ones change.

    Code that two plans share outside the steps stays at the earlier position, so that later code finds it.
    """
    outside: list[ast.stmt] = []
    steps: list[ast.If] = []
    for piece in reversed(pieces):
        taken = {n.id for s in [*outside, *steps] for n in walk(s) if isinstance(n, ast.Name)} | bound_names(outside)
        other = {n: _unused_name(n, taken) for n in _clashing_names(piece.outside, outside)}
        own = [_rename_copy(s, other) for s in piece.outside]
        outside = own + _remove_statements(outside, own)
        steps = [_rename_copy(s, other) for s in piece.steps] + steps
    groups = _without_answered_replans(steps, testing_functions(walk(*outside, *steps)))
    return [*outside, *(_join_steps(group, i) for i, group in enumerate(groups, 1))]


def _without_answered_replans(steps: Sequence[ast.If], testing: frozenset[str]) -> list[list[ast.If]]:
    """Remove each ``replan`` that ends a step before another one. A step without a test then belongs to the next one.

    ``testing`` are the functions that test something. Returns the steps that belong together.
    """
    groups: list[list[ast.If]] = [[]]
    for step in steps:
        groups[-1].append(step)
        call = find_final_replan(step.body) if step is not steps[-1] else None
        if call is not None:
            step.body = [s for s in step.body if getattr(s, "value", None) is not call] or [ast.Pass()]
        if call is None or has_test(step.body, testing):
            groups.append([])
    return groups[:-1]


def _join_steps(steps: Sequence[ast.If], number: int) -> ast.If:
    """Return steps that belong together as one."""
    *before, last = [_renumber_step(s, number) for s in steps]
    last.body = [s for step in (*before, last) for s in step.body if not isinstance(s, ast.Pass)] or [ast.Pass()]
    return last


def _clashing_names(statements: Sequence[ast.stmt], later: Sequence[ast.stmt]) -> set[str]:
    """Return the names to which later statements bind something else, directly or through such a name."""
    own, others = _statements_by_name(statements), _statements_by_name(later)
    shared = own.keys() & others.keys()
    found = {n for n in shared if [ast.dump(s) for s in own[n]] != [ast.dump(s) for s in others[n]]}
    while more := {n for n in shared - found if found & {m.id for m in walk(*own[n]) if isinstance(m, ast.Name)}}:
        found |= more
    return found


def _statements_by_name(statements: Iterable[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """Return the statements that bind each name."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in statements:
        for name in bound_names([statement]):
            found.setdefault(name, []).append(statement)
    return found


def _remove_statements(statements: Iterable[ast.stmt], others: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Return the statements without the others; each of them removes one."""
    there = Counter(ast.dump(s) for s in others)
    kept: list[ast.stmt] = []
    for statement in statements:
        text = ast.dump(statement)
        if there[text]:
            there[text] -= 1
        else:
            kept.append(statement)
    return kept


def _rename_copy(statement: _S, names: dict[str, str]) -> _S:
    if not names:
        return statement
    made = copy.deepcopy(statement)
    _rename(made, names)
    return made


def _rename(node: ast.AST, names: dict[str, str], around: dict[str, str] | None = None) -> None:
    """Rename bindings and reads, except in functions that have a parameter of that name, and a class's own names.

    In a class's body ``around`` are the names that change in its functions, which do not see the names of the class.
    """
    around = names if around is None else around
    for field in ("id", "name", "rest") if isinstance(node, _NAMED) else ():
        name = getattr(node, field, None)
        if isinstance(name, str):
            setattr(node, field, names.get(name, name))
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        node.names = [around.get(n, n) for n in node.names]
    own = _own_names(node)
    inner = {n: new for n, new in around.items() if n not in own} if isinstance(node, _SCOPES) else names
    inner_around = around if isinstance(node, ast.ClassDef) or not isinstance(node, _SCOPES) else inner
    for child in ast.iter_child_nodes(node):
        outside = isinstance(node, _SCOPES) and child not in _scope_body(node)
        _rename(child, *((names, around) if outside else (inner, inner_around)))
    if isinstance(node, ast.ClassDef):
        _rename_reads_of_outer_values(node, own, around)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _scope_body(node: ast.AST) -> list[ast.AST]:
    return [node.body] if isinstance(node, ast.Lambda) else list(getattr(node, "body", []))


def _own_names(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.ClassDef):
        return bound_names(node.body)
    return parameter_names(node) if isinstance(node, Function) else frozenset()


def _rename_reads_of_outer_values(node: ast.ClassDef, own: frozenset[str], around: dict[str, str]) -> None:
    """Rename in ``size = size`` of a class the value that stands outside of it."""
    for name, read in analyse_flow(node.body).read_before_set.items():
        if name in own and isinstance(read, ast.Name):
            read.id = around.get(name, name)


def _unused_name(name: str, taken: Iterable[str]) -> str:
    there = set(taken)
    return next(n for i in range(1, 10_000) if (n := f"{name}_before_{i}") not in there)


def _renumber_step(step: ast.If, number: int) -> ast.If:
    """Put a new number into the step's guard and texts."""
    before = step_number(step)
    step.test = ast.Compare(load_name("start_from"), [ast.LtE()], [ast.Constant(number)])
    for node in walk(*step.body):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.replace(f"[Step {before}]", f"[Step {number}]")
    return step
