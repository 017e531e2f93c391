"""Reads a reply that may hold only steps, and decides whether it does."""

from __future__ import annotations

import ast

import libcst as cst
import msgspec

from codeplan.sandbox.analysis.replies.alignment import align_parts
from codeplan.sandbox.analysis.replies.plan_parts import Part, PlanParts, split_parts, split_plan
from codeplan.sandbox.language.bindings import parameter_names
from codeplan.sandbox.language.checking import parse_or_repair
from codeplan.sandbox.language.diagnostics import RejectedPlanError
from codeplan.sandbox.language.syntax_nodes import is_name, walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class StepReply(msgspec.Struct, frozen=True, eq=False):
    """The parts of a reply that changes some steps of a plan, in their order."""

    parts: tuple[Part, ...]

    @property
    def steps(self) -> dict[int, cst.BaseStatement]:
        """The steps by number. Of two with one number the last counts."""
        return {p.number: p.node for p in self.parts if p.number is not None}


def read_reply(source: str, plan: PlanParts) -> StepReply | None:
    """Read a reply to a prompt that showed ``plan``; None if it is a whole plan, or none at all.

    A reply without ``def solution`` holds steps, if it has some, or if it redefines a name that the plan defines
    outside its steps. One with ``def solution`` does so only if it leaves out the first steps of the plan.

    Raises: RejectedPlanError: the reply is not Python.
    """
    text = _readable_source(source, plan)
    module = _with_first_comments(cst.parse_module(text))
    whole = split_plan(module)
    if whole is not None:
        parts = [*(Part(s.node, statement=s) for s in whole.around), *whole.body]
        return StepReply(tuple(parts)) if _omits_first_steps(whole, plan) else None
    if _is_plan_of_other_name(ast.parse(text), plan):
        return None
    parts = split_parts(module.body)
    return StepReply(tuple(parts)) if _changes_plan(parts, plan) else None


def _readable_source(source: str, plan: PlanParts) -> str:
    """Return the source as it is, or with its steps aligned if steps are hidden in it otherwise."""
    text, tree = parse_steps(source)
    if _solutions(tree) or not _hidden_guards(tree) or _is_plan_of_other_name(tree, plan):
        return text
    try:
        aligned, tree = parse_or_repair(align_parts(source))
    except RejectedPlanError:
        return text
    return text if _hidden_guards(tree) else aligned


def parse_steps(source: str) -> tuple[str, ast.Module]:
    """Parse a reply, with its steps aligned if it is not Python otherwise. Raises RejectedPlanError."""
    try:
        return parse_or_repair(source)
    except RejectedPlanError as error:
        refusal = error
    try:
        text, tree = parse_or_repair(align_parts(source))
    except RejectedPlanError:
        raise refusal from None
    if _solutions(tree):
        raise refusal
    return text, tree


def _omits_first_steps(reply: PlanParts, plan: PlanParts) -> bool:
    first = next((p.number for p in reply.body if p.number is not None), 0)
    return first > 1 and plan.numbers.issuperset(range(1, first))


def _changes_plan(parts: list[Part], plan: PlanParts) -> bool:
    if any(p.number is not None for p in parts):
        return True
    statements = [p.statement for p in parts if p.statement and not p.statement.is_idle]
    definitions = all(s.is_import or (s.names and s.head is None) for s in statements)
    return definitions and any(s.names & plan.names for s in statements)


def _is_plan_of_other_name(tree: ast.Module, plan: PlanParts) -> bool:
    """Return whether a function that the plan does not have contains steps."""
    functions = [s for s in tree.body if isinstance(s, _Function) and s.name not in plan.names]
    guarded = any(_is_guard(n) for f in functions for n in walk(f))
    return guarded and any(parameter_names(f) & {"agent", "start_from"} for f in functions)


def _hidden_guards(tree: ast.Module) -> bool:
    """Return whether a guard of a step stands inside something else than a chain of steps."""
    found = [n for n in walk(tree) if _is_guard(n)]
    outer: list[ast.stmt] = []
    waiting = list(tree.body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.If) and _is_guard(statement):
            outer.append(statement)
            waiting += statement.orelse
    return len(outer) < len(found)


def _is_guard(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and any(is_name(n, "start_from") for n in walk(node.test))


def _solutions(tree: ast.Module) -> bool:
    return any(isinstance(s, _Function) and s.name == "solution" for s in tree.body)


def _with_first_comments(module: cst.Module) -> cst.Module:
    """Return the module with the comments at its head in front of its first statement."""
    if not module.body or not module.header:
        return module
    first = module.body[0]
    lines = [*module.header, *getattr(first, "leading_lines", ())]
    return module.with_changes(header=[], body=[first.with_changes(leading_lines=lines), *module.body[1:]])
