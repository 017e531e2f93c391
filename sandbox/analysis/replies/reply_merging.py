"""Merges a reply that holds only steps into the plan before it. Layout and comments of both stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import libcst as cst

from codeplan.sandbox.analysis.replies.broken_plans import leave_out_parts
from codeplan.sandbox.analysis.replies.outside_code import (
    Layout,
    OutsideCode,
    index_by_name,
    order_by_need,
    place_statements,
)
from codeplan.sandbox.analysis.replies.plan_parts import Part, PlanParts, is_solution, split_parts, split_plan
from codeplan.sandbox.analysis.replies.statements import Statement, describe_statement, with_layout, with_space
from codeplan.sandbox.analysis.replies.step_reply import StepReply, parse_steps, read_reply
from codeplan.sandbox.language.checking import parse_or_repair
from codeplan.sandbox.language.diagnostics import RejectedPlanError
from codeplan.sandbox.language.extraction import SOLUTION_HEADER
from codeplan.types import Diagnostic

_GUARD_LINE = re.compile(r"^[ \t]*(?:el)?if\b[^\n]*\bstart_from\b", re.MULTILINE)


def merge_reply(source: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the plan with the reply's steps as ``source``, and their numbers as ``steps``; None for a whole plan.

    ``source`` is the reply's code. ``arguments``: ``before``, the plan that it changes. Steps with a known number
    replace that step, the others are added; so it is with helper functions and constants by their names.

    Raises: RejectedPlanError: the reply is not Python, or holds steps of a plan that is not. ValueError: ``before`` is
    no text.
    """
    before = arguments.get("before")
    if not isinstance(before, str):
        raise ValueError("the analysis needs the argument 'before', the text of a plan")
    text = _readable_plan(before, source)
    if text is None:
        return None
    plan = split_plan(cst.parse_module(text))
    if plan is None or not plan.numbers:
        return None
    reply = read_reply(source, plan)
    if reply is None:
        return None
    return {"source": merge_parts(plan, reply).code, "steps": sorted(reply.steps)}


def merge_parts(plan: PlanParts, reply: StepReply) -> cst.Module:
    """Return the plan's module with the parts of the reply."""
    first = next(i for i, p in enumerate(plan.body) if p.number is not None)
    inside = [p.statement for p in plan.body if p.statement]
    before = len(plan.around) + sum(p.statement is not None for p in plan.body[:first])
    old = (*plan.around, *inside)
    layout = Layout(old, len(plan.around), before, _step_names(plan, reply), index_by_name(old))
    outside = place_statements(layout, _statements_with_numbers(reply))
    groups = iter(outside.groups[before:])
    parts = [(p, next(groups) if p.statement else []) for p in plan.body[first:]]
    lead = [s for group in outside.groups[len(plan.around) : before] for s in group]
    imports = [s for s in outside.new if s.is_import]
    lead = order_by_need([*lead, *(s for s in outside.new if not s.is_import)])
    body = [*_nodes(lead), *_merge_steps(parts, reply, outside)]
    around = [_nodes(group) for group in outside.groups[: len(plan.around)]]
    return _rebuild_module(plan, [*_nodes(imports)], around, body)


def _statements_with_numbers(reply: StepReply) -> list[tuple[Statement, int | None]]:
    """Return the reply's statements outside its steps, each with the number of the step before it."""
    found: list[tuple[Statement, int | None]] = []
    number: int | None = None
    for part in reply.parts:
        number = part.number if part.number is not None else number
        if part.statement:
            found.append((part.statement, number))
    return found


def _step_names(plan: PlanParts, reply: StepReply) -> frozenset[str]:
    """Return the names that only steps set."""
    parts = [*plan.body, *reply.parts]
    in_steps = {n for p in parts if p.number is not None for n in describe_statement(p.node).names}
    return frozenset(in_steps - plan.names - {n for p in reply.parts if p.statement for n in p.statement.names})


def _merge_steps(
    parts: Sequence[tuple[Part, list[Statement]]], reply: StepReply, outside: OutsideCode
) -> list[cst.BaseStatement]:
    """Return the plan's body from the first step on, with the steps of the reply. Statements come with their group.

    Code that binds no name belongs to the step before it and is replaced together with that step, except ``return``.
    """
    waiting = reply.steps
    old_steps = [p for p, _ in parts if p.number is not None]
    done: list[cst.BaseStatement] = []

    def add(numbers: Iterable[int]) -> None:
        for number in sorted(numbers):
            done.extend([with_space(waiting.pop(number), old_steps[-1].node), *_behind(outside, number)])

    is_replaced = False
    for part, group in parts:
        if part.number is not None:
            add([n for n in waiting if n < part.number])
            is_replaced = part.number in reply.steps
            if part.number in waiting:
                done += [with_layout(waiting.pop(part.number), part.node), *_behind(outside, part.number)]
            elif not is_replaced:
                done.append(part.node)
            if part is old_steps[-1]:
                add([*waiting])
        elif part.statement and part.statement.is_return and outside.ending:
            pass
        elif not is_replaced or (part.statement and (part.statement.names or part.statement.is_return)):
            done += _nodes(group)
    return [*done, *_nodes(outside.ending)]


def _behind(outside: OutsideCode, number: int) -> list[cst.BaseStatement]:
    return _nodes(outside.behind.get(number, ()))


def _nodes(statements: Iterable[Statement]) -> list[cst.BaseStatement]:
    return [s.node for s in statements]


def _rebuild_module(
    plan: PlanParts,
    imports: Sequence[cst.BaseStatement],
    around: Sequence[list[cst.BaseStatement]],
    body: Sequence[cst.BaseStatement],
) -> cst.Module:
    """Return the plan's module with this body of ``solution``, and these statements at the places of those around."""
    solution = plan.solution.with_changes(body=plan.solution.body.with_changes(body=body))
    groups = iter(around)
    statements: list[cst.BaseStatement] = [*imports]
    for statement in plan.module.body:
        if statement is plan.solution:
            statements.append(solution)
        elif not is_solution(statement):
            statements += next(groups)
    return plan.module.with_changes(body=statements)


def _readable_plan(before: str, reply: str) -> str | None:
    """Return the plan before as Python, if need be without the parts that the reply replaces.

    None if the reply has all of its steps, and so is the whole plan.
    """
    try:
        return parse_or_repair(before)[0]
    except RejectedPlanError as error:
        refusal = error
    parts = split_parts(cst.parse_module(parse_steps(reply)[0]).body)
    numbers = {p.number for p in parts if p.number is not None}
    names = {name for p in parts if p.statement for name in p.statement.names}
    try:
        return parse_or_repair(leave_out_parts(before, numbers, names))[0]
    except RejectedPlanError:
        if len(numbers) >= max(1, len(_GUARD_LINE.findall(before))):
            return None
    raise _no_plan_before(refusal) from None


def _no_plan_before(error: RejectedPlanError) -> RejectedPlanError:
    message = (
        f"the reply holds only steps, but the plan that they belong to cannot be read: {error.diagnostics[0].message}; "
        f"write the whole plan, from `{SOLUTION_HEADER}` on"
    )
    return RejectedPlanError((Diagnostic(0, 0, "steps-alone", message),))
