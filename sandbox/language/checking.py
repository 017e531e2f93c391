"""Checks a plan before it runs and reports everything that is wrong at once.

The order is a safety measure: first the text is capped, then Python parses it, then the tree is capped, then libcst
parses it. Hostile text may still attack the parsers, so this runs in the worker, never in the host.
"""

from __future__ import annotations

import ast

from codeplan.sandbox.language.agent_calls import check_agent_calls
from codeplan.sandbox.language.compilation import Program, build_program
from codeplan.sandbox.language.diagnostics import DiagnosticCollector, RejectedPlanError
from codeplan.sandbox.language.digest import step_digests, step_title
from codeplan.sandbox.language.extraction import holds_code
from codeplan.sandbox.language.fstring_repair import repair_fstrings
from codeplan.sandbox.language.imports import find_imports
from codeplan.sandbox.language.layout_tree import parse_layout
from codeplan.sandbox.language.name_flow import NameFlow, analyse_flow
from codeplan.sandbox.language.name_resolution import PlanNames
from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.language.plan_outline import PlanOutline, PlanPart, find_final_replan, outline_plan
from codeplan.sandbox.language.plan_warnings import find_warnings, header_start
from codeplan.sandbox.language.structure import check_structure
from codeplan.sandbox.language.syntax_nodes import walk
from codeplan.sandbox.limits import MAX_NAME_CHARS
from codeplan.types import AgentApi, Diagnostic, Plan, Rejected, Step

_NO_PYTHON = Diagnostic(
    0, 0, "no-python", "the reply contains no Python; answer with one fenced python block that holds the whole program"
)


def check_source(source: str, api: AgentApi) -> Plan | Rejected:
    """Check a plan against the language and the agent's API. See ``check_and_compile``."""
    found = check_and_compile(source, api)
    return found if isinstance(found, Rejected) else found[0]


def check_and_compile(source: str, api: AgentApi) -> tuple[Plan, Program] | Rejected:
    """Check a plan against the language and the agent's API, and compile it.

    The Plan keeps the given source, unless an f-string's inner quotes had to change for this Python.
    """
    try:
        source, tree = parse_or_repair(source)
    except RejectedPlanError as refused:
        size = any(d.rule == "size" for d in refused.diagnostics)
        return Rejected(source, refused.diagnostics if size or holds_code(source) else (_NO_PYTHON,))
    if not holds_code(source):
        return Rejected(source, (_NO_PYTHON,))
    try:
        parse_layout(source, tree)
    except RejectedPlanError as refused:
        return Rejected(source, refused.diagnostics)
    problems = DiagnosticCollector(source)
    outline, nodes = outline_plan(tree), walk(tree)
    check_structure(tree, source.split("\n"), problems)
    check_agent_calls(nodes, api, problems)
    flows = [analyse_flow(p.body) for p in outline.parts]
    imported = find_imports(nodes)
    names = PlanNames(imported, outline, flows)
    names.check(problems)
    warnings = DiagnosticCollector(source)
    find_warnings(outline, nodes, warnings)
    plan = Plan(
        source,
        _make_steps(outline, flows, names),
        names.provides,
        warnings=warnings.sorted(),
        start_from=header_start(outline.solution),
    )
    _check_name_lengths(plan, problems)
    program = build_program(imported, outline, flows, problems)
    return Rejected(source, problems.sorted()) if problems else (plan, program)


def parse_or_repair(source: str) -> tuple[str, ast.Module]:
    """Return the source and its tree. Raises RejectedPlanError about the source as given."""
    try:
        return source, parse_plan(source)
    except RejectedPlanError:
        other = repair_fstrings(source)
        if other == source:
            raise
        try:
            return other, parse_plan(other)
        except RejectedPlanError:
            pass
        raise


def _check_name_lengths(plan: Plan, problems: DiagnosticCollector) -> None:
    names = {*plan.provides, *(name for s in plan.steps for name in (*s.needs, *s.sets))}
    for name in sorted(name for name in names if len(name) > MAX_NAME_CHARS):
        message = f"the name `{name[:20]}…` has {len(name):,} characters; use at most {MAX_NAME_CHARS}"
        problems.add(None, "size", message)


def _replan_line(part: PlanPart) -> int | None:
    call = find_final_replan(part.body)
    return call.lineno if call else None


def _make_steps(outline: PlanOutline, flows: list[NameFlow], names: PlanNames) -> tuple[Step, ...]:
    digests = step_digests(outline, flows)
    return tuple(
        Step(
            number=p.step,
            line=p.node.lineno,
            end_line=p.node.end_lineno or p.node.lineno,
            title=step_title(p),
            digest=digests[p.step],
            needs=names.needs(p, f),
            sets=tuple(sorted(f.sets)),
            replan_line=_replan_line(p),
        )
        for p, f in zip(outline.parts, flows, strict=True)
        if p.step is not None
    )
