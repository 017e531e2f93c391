"""Takes a plan, or a reply of steps, apart: its steps by number and the statements outside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst
import msgspec

from codeplan.sandbox.analysis.fixes.codemod import solution_of
from codeplan.sandbox.analysis.fixes.guards import guard_bound, split_chain
from codeplan.sandbox.analysis.replies.statements import Statement, describe_statement


class Part(msgspec.Struct, frozen=True, eq=False):
    """A step with its ``number``, or a statement outside the steps: one of the two is there."""

    node: cst.BaseStatement
    number: int | None = None
    statement: Statement | None = None


class PlanParts(msgspec.Struct, frozen=True, eq=False):
    """A plan with a function ``solution``: the statements around it, and the parts of its body."""

    module: cst.Module
    solution: cst.FunctionDef
    around: tuple[Statement, ...]
    body: tuple[Part, ...]

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the steps."""
        return frozenset(p.number for p in self.body if p.number is not None)

    @property
    def names(self) -> frozenset[str]:
        """The names that the code outside the steps binds."""
        every = [*self.around, *(p.statement for p in self.body if p.statement)]
        return frozenset(name for s in every for name in s.names)


def split_plan(module: cst.Module) -> PlanParts | None:
    """Take a plan apart; None if it has no ``solution`` with a body of several lines."""
    solution = solution_of(module)
    if solution is None or not isinstance(solution.body, cst.IndentedBlock):
        return None
    around = tuple(describe_statement(s) for s in _statements(module.body) if not is_solution(s))
    return PlanParts(module, solution, around, tuple(split_parts(solution.body.body)))


def split_parts(statements: Sequence[cst.BaseStatement | cst.BaseSmallStatement]) -> list[Part]:
    """Return the parts in their order; steps written as ``elif`` become parts of their own."""
    return [_part(s) for statement in _statements(statements) for s in split_chain(statement)]


def _part(node: cst.BaseStatement) -> Part:
    bound = guard_bound(node.test) if isinstance(node, cst.If) and node.orelse is None else None
    return Part(node, statement=describe_statement(node)) if bound is None else Part(node, number=bound)


def _statements(found: Iterable[cst.BaseStatement | cst.BaseSmallStatement]) -> list[cst.BaseStatement]:
    return [s for s in found if isinstance(s, cst.BaseStatement)]


def is_solution(statement: cst.CSTNode) -> bool:
    """Return whether a statement defines ``solution``."""
    return isinstance(statement, cst.FunctionDef) and statement.name.value == "solution"
