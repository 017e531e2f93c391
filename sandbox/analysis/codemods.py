"""The base of all fixes, a transformer that records its changes, and what fixes know about a plan and its guards."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Final, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from codeplan.sandbox.language.guard_insertion import find_imports, import_problem
from codeplan.sandbox.language.name_flow import Function, bound_names, function_names, outer_names, target_names
from codeplan.sandbox.language.parsing import walk
from codeplan.sandbox.language.plan_outline import step_number
from codeplan.sandbox.protocol.limits import MAX_FIX_CHARS
from codeplan.sandbox.runtime.names import PREDEFINED_NAMES, RESERVED_NAMES
from codeplan.types import AgentApi, Fix


class NamesBefore(NamedTuple):
    """Names of the run before: variables that it ``kept`` for the next one, and those that its plan ``set``."""

    kept: frozenset[str] = frozenset()
    set: frozenset[str] = frozenset()


class PlanFacts:
    """A plan's tree, all of its nodes, the agent's API, and the names of the run before."""

    def __init__(self, source: str, api: AgentApi, before: NamesBefore = NamesBefore()) -> None:  # noqa: B008  # frozen
        self.tree, self.api, self.before = ast.parse(source), api, before
        self.nodes = walk(self.tree)

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions at the top level."""
        return [s for s in self.tree.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]

    @cached_property
    def solutions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions called ``solution``."""
        return [f for f in self.functions if f.name == "solution"]

    @cached_property
    def guards(self) -> list[ast.If]:
        """The statements of the last ``solution`` that are an ``if`` about ``start_from``."""
        body = self.solutions[-1].body if self.solutions else []
        return [s for s in body if isinstance(s, ast.If) and _mentions_start(s.test)]

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the plan binds in any scope but a class's: by assignment, definition, parameter or pattern."""
        scopes = [function_names(n) | outer_names([n]) for n in self.nodes if isinstance(n, Function)]
        inside = [target_names(n.target) for n in self.nodes if isinstance(n, ast.comprehension)]
        return bound_names(self.tree.body).union(*scopes, *inside)

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that allowed imports bind."""
        names = ((n, a) for n in find_imports(self.nodes) for a in n.names)
        return frozenset((a.asname or a.name).split(".")[0] for n, a in names if import_problem(n, a) is None)

    @cached_property
    def known(self) -> frozenset[str]:
        """Every name that has a meaning somewhere in the plan."""
        runtime = PREDEFINED_NAMES | RESERVED_NAMES
        return self.bound | self.class_names | self.imported | self.before.kept | runtime

    @cached_property
    def class_names(self) -> frozenset[str]:
        """The names that classes bind in their own bodies, such as methods."""
        return frozenset().union(*(bound_names(n.body) for n in self.nodes if isinstance(n, ast.ClassDef)))

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the plan, bound or read."""
        return self.bound | {n.id for n in self.nodes if isinstance(n, ast.Name)}


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of the parameters that stand for one value, in their order."""
    given = function.args
    return [p.arg for p in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _mentions_start(test: ast.expr) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "start_from" for n in walk(test))


_EMPTY: Final = cst.Module([])


class Codemod(cst.CSTTransformer):
    """Changes a plan by one rule, and keeps layout and comments. ``fixes`` are the changes, in their order."""

    METADATA_DEPENDENCIES = (PositionProvider,)
    rule: ClassVar[str]

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__()
        self.module, self.facts = module, facts
        self.fixes: list[Fix] = []

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return False if the rule certainly changes nothing in this plan. The answer must be cheap."""
        raise NotImplementedError

    def apply(self) -> cst.Module:
        """Return the changed module, or the given one if there is nothing to change."""
        changed = MetadataWrapper(self.module, unsafe_skip_copy=True).visit(self)
        return cst.parse_module(changed.code) if self.fixes else self.module

    def note(self, node: cst.CSTNode, was: cst.CSTNode | str, now: cst.CSTNode | str) -> None:
        """Note a change of ``node``, a node of the module as given: its code before and after ("": removed)."""
        line = self.get_metadata(PositionProvider, node).start.line
        self.fixes.append(Fix(self.rule, line, code_line(was), code_line(now)))


def code_line(code: cst.CSTNode | str) -> str:
    """Return the first line of the code, shortened."""
    text = code if isinstance(code, str) else _EMPTY.code_for_node(code)
    line = next(iter(text.strip().splitlines()), "")
    return line if len(line) <= MAX_FIX_CHARS else line[: MAX_FIX_CHARS - 1] + "…"


def head_line(statement: cst.If | cst.FunctionDef) -> str:
    """Return the first line of a compound statement, without its comments and its body."""
    empty = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])])
    bare = statement.with_changes(leading_lines=[], body=empty)
    return code_line(bare.with_changes(orelse=None) if isinstance(bare, cst.If) else bare)


def solution_of(module: cst.Module) -> cst.FunctionDef | None:
    """Return the last function ``solution`` of the module."""
    found = [s for s in module.body if isinstance(s, cst.FunctionDef) and s.name.value == "solution"]
    return found[-1] if found else None


def is_name(node: cst.CSTNode | None, name: str) -> bool:
    """Return whether the node is this name."""
    return isinstance(node, cst.Name) and node.value == name


_FLIPPED = {
    cst.LessThan: cst.GreaterThan,
    cst.LessThanEqual: cst.GreaterThanEqual,
    cst.GreaterThan: cst.LessThan,
    cst.GreaterThanEqual: cst.LessThanEqual,
}


class StepConditions(Codemod):
    """Takes a guard and a further condition apart: ``if start_from <= 2 and late:`` has its second half inside."""

    rule = "step-condition"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether a guard has a further condition."""
        return any(isinstance(guard.test, ast.BoolOp) for guard in facts.guards)

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        """Take apart the guards in the body of the plan."""
        if original_node is not solution_of(self.module) or not isinstance(original_node.body, cst.IndentedBlock):
            return updated_node
        body = [self._apart(s) if isinstance(s, cst.If) else s for s in original_node.body.body]
        return (
            updated_node.with_changes(body=original_node.body.with_changes(body=body)) if self.fixes else updated_node
        )

    def _apart(self, step: cst.If) -> cst.If:
        guard, condition = _guard_and_rest(step.test)
        if condition is None or step.orelse is not None:
            return step
        space = cst.SimpleWhitespace(" ")
        inner = step.with_changes(test=condition, leading_lines=[], whitespace_before_test=space)
        outer = step.with_changes(test=guard, body=cst.IndentedBlock([inner]), whitespace_before_test=space)
        self.note(step, head_line(step), head_line(outer))
        return outer


def _guard_and_rest(test: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression | None]:
    """Return the guard that a condition begins with, and what else it asks for; None where there is nothing else."""
    if not isinstance(test, cst.BooleanOperation) or not isinstance(test.operator, cst.And):
        return test, None
    guard, rest = _guard_and_rest(test.left)
    if rest is not None:
        return guard, test.with_changes(left=rest)
    return guard, test.right if guard_bound(guard) is not None else None


class StepGuards(Codemod):
    """Rewrites other spellings of a guard (``k >= start_from``, ``start_from < k + 1``, ``elif``), and renumbers."""

    rule = "step-guard"

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__(module, facts)
        self._elif_tests: set[cst.BaseExpression] = set()

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether a step is not in its form, or not numbered as its place says."""
        return any(step_number(guard) != i for i, guard in enumerate(facts.guards, 1))

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        """Rewrite the guards in the body of the plan."""
        if original_node is not solution_of(self.module) or not isinstance(original_node.body, cst.IndentedBlock):
            return updated_node
        statements = [part for s in original_node.body.body for part in split_chain(s)]
        found = [guard_bound(s.test) if isinstance(s, cst.If) and s.orelse is None else None for s in statements]
        given = [k for k in found if k is not None]
        numbers = given if any(map(_is_unreadable_guard, statements)) else _step_numbers(given)
        if numbers is None:
            return updated_node
        fresh = iter(numbers)
        body = [
            self._rewritten(s, next(fresh)) if isinstance(s, cst.If) and k is not None else s
            for s, k in zip(statements, found, strict=True)
        ]
        if not self.fixes:
            return updated_node
        return updated_node.with_changes(body=original_node.body.with_changes(body=body))

    def _rewritten(self, step: cst.If, number: int) -> cst.If:
        test = cst.parse_expression(f"start_from <= {number}")
        new = step.with_changes(test=test, whitespace_before_test=cst.SimpleWhitespace(" "))
        was = f"el{head_line(step)}" if step.test in self._elif_tests else head_line(step)
        if was == head_line(new):
            return step
        self.note(step.test, was, head_line(new))
        return new

    def visit_If(self, node: cst.If) -> None:
        """Remember the conditions that follow an ``elif``."""
        if isinstance(node.orelse, cst.If):
            self._elif_tests.add(node.orelse.test)


def split_chain(statement: cst.BaseStatement) -> Iterator[cst.BaseStatement]:
    """Yield the steps of a chain ``if … elif …`` that consists of steps only; otherwise the statement itself."""
    links: list[cst.If] = []
    link: cst.BaseStatement | cst.Else | None = statement
    while isinstance(link, cst.If) and guard_bound(link.test) is not None:
        links.append(link)
        link = link.orelse
    if link is None and len(links) > 1:
        yield links[0].with_changes(orelse=None)
        yield from (each.with_changes(orelse=None) for each in links[1:])
    else:
        yield statement


def guard_bound(test: cst.BaseExpression) -> int | None:
    """Return the k of a condition that means ``start_from <= k``, in any spelling; None for other conditions."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = _comparison(test.expression)
        return None if inner is None else _bound(_negated(inner[0]), inner[1])
    found = _comparison(test)
    return None if found is None else _bound(*found)


def _is_unreadable_guard(statement: cst.BaseStatement) -> bool:
    """Return whether a condition reads ``start_from`` but gives no step's number, such as ``if start_from <= True:``.

    The statement may be a step, so no step beside it is renumbered.
    """
    return (
        isinstance(statement, cst.If)
        and guard_bound(statement.test) is None
        and _comparison(statement.test) is None
        and _reads_start(statement.test)
    )


def _reads_start(node: cst.CSTNode) -> bool:
    return is_name(node, "start_from") or any(map(_reads_start, node.children))


def _comparison(test: cst.BaseExpression) -> tuple[type[cst.BaseCompOp], int] | None:
    """Return operator and number of a comparison of ``start_from`` with a number, as if the name stood on the left."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    operator, right = type(test.comparisons[0].operator), test.comparisons[0].comparator
    if operator not in _FLIPPED:
        return None
    if is_name(test.left, "start_from"):
        number = _whole_number(right)
        return None if number is None else (operator, number)
    number = _whole_number(test.left) if is_name(right, "start_from") else None
    return None if number is None else (_FLIPPED[operator], number)


def _negated(operator: type[cst.BaseCompOp]) -> type[cst.BaseCompOp]:
    opposite = {
        cst.GreaterThan: cst.LessThanEqual,
        cst.GreaterThanEqual: cst.LessThan,
        cst.LessThan: cst.GreaterThanEqual,
        cst.LessThanEqual: cst.GreaterThan,
    }
    return opposite[operator]


def _bound(operator: type[cst.BaseCompOp], number: int) -> int | None:
    if operator is cst.LessThanEqual:
        return number
    return number - 1 if operator is cst.LessThan else None


def _whole_number(node: cst.BaseExpression) -> int | None:
    """Return the value of a literal, or of a sum or difference of two; None for anything else."""
    if isinstance(node, cst.Integer):
        return node.evaluated_value if len(node.value) < 10 else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add | cst.Subtract):
        left, right = _whole_number(node.left), _whole_number(node.right)
        if left is not None and right is not None:
            return left + right if isinstance(node.operator, cst.Add) else left - right
    return None


def _step_numbers(found: Sequence[int]) -> list[int] | None:
    """Return the numbers 1, 2, 3 … for steps that are numbered upwards; None if the order is unclear."""
    if any(k < 0 or k >= later for k, later in pairwise([*found, 1 << 40])):
        return None
    return list(range(1, len(found) + 1))
