"""Checking a plan before any of it runs: everything that is wrong with it, in one go.

The order matters for safety: the text is capped, then Python's own parser judges it, then the tree is capped; only what
passed all this is given to libcst, which deep or long input can bring down. For the same reason this runs in the
worker, never in the host.
"""

from __future__ import annotations

import ast

import libcst as cst

from codeplan.sandbox.language.agentcalls import check_agent_calls
from codeplan.sandbox.language.digest import step_digests, title
from codeplan.sandbox.language.flow import Flow, flow
from codeplan.sandbox.language.outline import Outline, outline
from codeplan.sandbox.language.program import build
from codeplan.sandbox.language.quotes import repaired
from codeplan.sandbox.language.refusals import PlanRefused, Refusals
from codeplan.sandbox.language.resolve import Names
from codeplan.sandbox.language.structure import Found, check_structure
from codeplan.sandbox.language.syntax import parse
from codeplan.types import AgentApi, Plan, Rejected, Step


def check_source(source: str, api: AgentApi) -> Plan | Rejected:
    """Check a plan against the language and the agent's API.

    The Plan's source is the one that was given, but where an f-string's inner quotes had to be changed for this Python.
    """
    try:
        source, tree = _parsed(source)
    except PlanRefused as refused:
        return Rejected(source, refused.diagnostics)
    refusals = Refusals(source)
    parts = outline(tree)
    _check_shape(source, api, refusals)
    flows = [flow(p.body) for p in parts.parts]
    names = Names(tree, parts, flows)
    names.check(refusals)
    plan = Plan(source, _steps(parts, flows, names), names.provides)
    build(tree, parts, refusals)
    return Rejected(source, refusals.sorted()) if refusals else plan


def _parsed(source: str) -> tuple[str, ast.Module]:
    """The tree, with the source that it is of. Raises PlanRefused with what Python says of the source as given."""
    try:
        return source, parse(source)
    except PlanRefused:
        other = repaired(source)
        if other == source:
            raise
        try:
            return other, parse(other)
        except PlanRefused:
            pass
        raise


def _check_shape(source: str, api: AgentApi, refusals: Refusals) -> None:
    found = Found()
    try:
        module = cst.parse_module(source)
    except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
        line = error.raw_line if isinstance(error, cst.ParserSyntaxError) else 0
        why = str(error).split("\n", 1)[0] if isinstance(error, cst.CSTValidationError) else "it is too unusual"
        refusals.add_at(
            line, 0, "syntax", f"Python can read this, but the plan checker cannot ({why}); write it in a plainer way"
        )
        return
    check_structure(module, found)
    check_agent_calls(module, api, found)
    found.report(module, refusals)


def _steps(parts: Outline, flows: list[Flow], names: Names) -> tuple[Step, ...]:
    digests = step_digests(parts, flows)
    return tuple(
        Step(
            number=p.step,
            line=p.node.lineno,
            end_line=p.node.end_lineno or p.node.lineno,
            title=title(p),
            digest=digests[p.step],
            needs=names.needs(p, f),
            sets=tuple(sorted(f.sets)),
        )
        for p, f in zip(parts.parts, flows, strict=True)
        if p.step is not None
    )
