"""The shape of a plan, from its concrete syntax: one ``solution``, guarded steps from 1 on, an assertion in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from codeplan.sandbox.language.refusals import Refusals

_LAYOUT = frozenset(
    {"comma", "footer", "header", "leading_lines", "lines_after_decorators", "lpar", "rpar", "semicolon"}
)

HEADER = "def solution(agent, start_from=1):"
GUARD = "if start_from <= {k}:"


@dataclass
class Found:
    """Diagnostics with the nodes they stand at. Positions are worked out only where there is something to say."""

    items: list[tuple[cst.CSTNode | None, str, str]] = field(default_factory=list)

    def add(self, node: cst.CSTNode | None, rule: str, message: str) -> None:
        """Refuse what stands at ``node``; None means the whole plan."""
        self.items.append((node, rule, message))

    def report(self, module: cst.Module, refusals: Refusals) -> None:
        """Hand everything over, with lines and columns."""
        if not self.items:
            return
        positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        for node, rule, message in self.items:
            place = positions.get(node) if node is not None else None
            start = place.start if isinstance(place, CodeRange) else None
            refusals.add_at(start.line if start else 0, start.column + 1 if start else 0, rule, message)


def check_structure(module: cst.Module, found: Found) -> None:
    """Check the shape of a whole plan."""
    solutions = [s for s in module.body if isinstance(s, cst.FunctionDef) and s.name.value == "solution"]
    if not solutions:
        found.add(None, "solution-missing", f"there is no function `solution`; put the plan into `{HEADER}`")
        return
    for extra in solutions[:-1]:
        found.add(extra, "solution-twice", "`solution` is defined more than once; keep one definition")
    solution = solutions[-1]
    _check_signature(solution, found)
    body = list(solution.body.body)
    guards = [s for s in body if isinstance(s, cst.If) and _mentions_start(s.test)]
    for s in body:
        _check_nested_guards(s, s in guards, found)
    steps = [(g, k) for g in guards if (k := _check_guard(g, found)) is not None]
    _check_order([(g, k) for g, k in steps], found)
    asserting = _asserting_functions(module)
    for guard, k in steps:
        if not _asserts(guard.body, asserting):
            example = f"assert <what must hold now>, f'Error in [Step {k}]: … {{agent.report()}}'"
            message = f"step {k} has no assertion; end it with `{example}`"
            found.add(guard, "step-assertion", message)


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all code below it, in the order of the source; white space, commas and brackets are left out."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        for name in reversed(_parts(type(current))):
            value = getattr(current, name)
            if isinstance(value, cst.CSTNode):
                waiting.append(value)
            elif isinstance(value, (list, tuple)):
                waiting += [v for v in reversed(value) if isinstance(v, cst.CSTNode)]


@cache
def _parts(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a sort of node that can hold code."""
    names = [f.name for f in fields(kind)]
    return tuple(n for n in names if "whitespace" not in n and n not in _LAYOUT)


def _check_signature(solution: cst.FunctionDef, found: Found) -> None:
    p = solution.params
    names = [x.name.value for x in (*p.posonly_params, *p.params)]
    plain = not p.kwonly_params and not isinstance(p.star_arg, cst.Param) and p.star_kwarg is None
    if solution.asynchronous is not None or names != ["agent", "start_from"] or not plain:
        found.add(solution, "solution-signature", f"the signature must be `{HEADER}`; set other values in the body")


def _mentions_start(node: cst.CSTNode) -> bool:
    return any(isinstance(n, cst.Name) and n.value == "start_from" for n in walk(node))


def _check_guard(guard: cst.If, found: Found) -> int | None:
    """The step's number; None, and a diagnostic, where the guard is not as it must be."""
    k = _number(guard.test)
    if k is None:
        wanted = GUARD.format(k="k")
        message = (
            f"a step begins with `{wanted}`, where k is its number written as a number; not with another condition"
        )
        found.add(guard.test, "step-guard", message)
    elif guard.orelse is not None:
        message = (
            f"a step has no elif or else; write `{GUARD.format(k=k)}` alone, and the next step as an if of its own"
        )
        found.add(guard.orelse, "step-guard", message)
        return None
    return k


def _number(test: cst.BaseExpression) -> int | None:
    if not (isinstance(test, cst.Comparison) and len(test.comparisons) == 1):
        return None
    target = test.comparisons[0]
    right = target.comparator
    exact = (
        isinstance(test.left, cst.Name)
        and test.left.value == "start_from"
        and isinstance(target.operator, cst.LessThanEqual)
    )
    return right.evaluated_value if exact and isinstance(right, cst.Integer) else None


def _check_nested_guards(statement: cst.CSTNode, is_guard: bool, found: Found) -> None:
    inner = statement.body if is_guard and isinstance(statement, cst.If) else statement
    for node in walk(inner):
        if isinstance(node, cst.If) and _mentions_start(node.test) and node is not statement:
            message = (
                f"steps stand side by side in the body of solution; move this `{GUARD.format(k='k')}` out to that level"
            )
            found.add(node, "step-guard", message)


def _check_order(steps: list[tuple[cst.If, int]], found: Found) -> None:
    for i, (guard, k) in enumerate(steps, 1):
        if k != i:
            message = (
                f"steps are numbered 1, 2, 3 … in their order; this one is number {i}: write `{GUARD.format(k=i)}`"
            )
            found.add(guard, "step-order", message)
            return


def _asserts(node: cst.CSTNode, functions: frozenset[str]) -> bool:
    """Whether something below asserts, or calls a function of the plan that does."""
    return any(
        isinstance(n, cst.Assert)
        or (isinstance(n, cst.Call) and isinstance(n.func, cst.Name) and n.func.value in functions)
        for n in walk(node)
    )


def _asserting_functions(module: cst.Module) -> frozenset[str]:
    functions = [n for n in walk(module) if isinstance(n, cst.FunctionDef) and n.name.value != "solution"]
    names: frozenset[str] = frozenset()
    for _ in functions:
        more = frozenset(f.name.value for f in functions if _asserts(f.body, names))
        if more == names:
            break
        names = more
    return names
