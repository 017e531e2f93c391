"""A study of a plan: one whole plan out of those that an episode ran in turn.

A plan that was resumed at step k did only its steps from k on; what came before was done by the plans before it. Put
together they are one plan that runs from step 1.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from codeplan.sandbox.language.bindings import bound_names
from codeplan.sandbox.language.nodes import load, walk
from codeplan.sandbox.language.outline import guarded_step, outline
from codeplan.sandbox.language.syntax import parse

_MOST_PLANS = 20
_HEADER = "def solution(agent, start_from=1):\n    pass"
_S = TypeVar("_S", bound=ast.stmt)


class _Piece(NamedTuple):
    """What is taken of one plan: its code outside the steps, and some of its steps."""

    outside: list[ast.stmt]
    steps: list[ast.If]


def merge(source: str, arguments: dict[str, Any]) -> str:
    """One plan of the steps of several, in their order, numbered anew.

    ``source`` is the last plan; ``arguments``: ``steps``, the numbers of those of its steps that are taken, and
    ``before``, the plans that ran before it, each a dict with ``source`` and ``steps``. Code outside the steps is taken
    from each; where two plans give one name different code, the earlier plan's is called differently. No comment stays.
    Raises PlanRefused for what is not Python, ValueError for arguments that do not fit.
    """
    plans = [*_plans(arguments), (source, _numbers(arguments.get("steps")))]
    pieces = [_piece(text, steps) for text, steps in plans]
    solution = ast.parse(_HEADER).body[0]
    assert isinstance(solution, ast.FunctionDef), "a header is a function's"
    solution.body = _merged(pieces) or solution.body
    return ast.unparse(ast.fix_missing_locations(solution)) + "\n"


def _plans(arguments: dict[str, Any]) -> list[tuple[str, list[int]]]:
    before = arguments.get("before")
    if not isinstance(before, list) or len(before) >= _MOST_PLANS:
        raise ValueError(f"the argument 'before' is no list of plans; give fewer than {_MOST_PLANS}")
    found: list[tuple[str, list[int]]] = []
    for plan in before:
        if not isinstance(plan, dict) or not isinstance(plan.get("source"), str):
            raise ValueError("a plan of 'before' has no text 'source'")
        found.append((plan["source"], _numbers(plan.get("steps"))))
    return found


def _numbers(steps: object) -> list[int]:
    if not isinstance(steps, list) or not all(type(n) is int for n in steps):
        raise ValueError("'steps' is no list of whole numbers")
    return steps


def _piece(source: str, steps: Sequence[int]) -> _Piece:
    found = outline(parse(source))
    guards = [p.node for p in found.steps if p.step in steps and isinstance(p.node, ast.If)]
    outside = [
        s for p in found.parts if p.step is None for s in p.body if not isinstance(s, ast.Import | ast.ImportFrom)
    ]
    return _Piece(outside, guards)


def _merged(pieces: Sequence[_Piece]) -> list[ast.stmt]:
    """Code outside the steps first, then all steps. The last plan keeps its names; earlier ones give way."""
    outside: list[ast.stmt] = []
    steps: list[ast.If] = []
    known: dict[str, str] = {}
    for piece in reversed(pieces):
        taken = {n.id for s in [*outside, *steps] for n in walk(s) if isinstance(n, ast.Name)} | known.keys()
        other = {n: _free(n, taken) for n in _clashing(piece.outside, known)}
        own = [_renamed(s, other) for s in piece.outside]
        outside = [s for s in own if not _there(s, known)] + outside
        known |= {name: ast.dump(s) for s in own for name in bound_names([s])}
        steps = [_renamed(s, other) for s in piece.steps] + steps
    return [*outside, *(_numbered(s, i) for i, s in enumerate(steps, 1))]


def _clashing(statements: Iterable[ast.stmt], known: dict[str, str]) -> set[str]:
    """The names that these statements bind, and others bind to something else."""
    return {n for s in statements for n in bound_names([s]) if n in known and known[n] != ast.dump(s)}


def _there(statement: ast.stmt, known: dict[str, str]) -> bool:
    names = bound_names([statement])
    return bool(names) and all(known.get(n) == ast.dump(statement) for n in names)


def _renamed(statement: _S, names: dict[str, str]) -> _S:
    made = copy.deepcopy(statement)
    for node in walk(made) if names else ():
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]
        elif isinstance(node, ast.FunctionDef) and node.name in names:
            node.name = names[node.name]
    return made


def _free(name: str, taken: Iterable[str]) -> str:
    there = set(taken)
    return next(n for i in range(1, 10_000) if (n := f"{name}_before_{i}") not in there)


def _numbered(step: ast.If, number: int) -> ast.If:
    """The step with this number, in its guard and in its texts."""
    before = guarded_step(step)
    step.test = ast.Compare(load("start_from"), [ast.LtE()], [ast.Constant(number)])
    for node in walk(*step.body):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.replace(f"[Step {before}]", f"[Step {number}]")
    return step
