"""Applies the fixes to a plan, one rule after the other."""

from __future__ import annotations

from typing import Any

import libcst as cst

from codeplan.sandbox.analysis.fixes.codemod import Codemod
from codeplan.sandbox.analysis.fixes.guards import StepGuards
from codeplan.sandbox.analysis.fixes.imports import UnusedImports
from codeplan.sandbox.analysis.fixes.names import AgentAliases, AskSpellings, EndingNames, UnderscoreNames
from codeplan.sandbox.analysis.fixes.plan_facts import PlanFacts
from codeplan.sandbox.analysis.fixes.solution import EarlierSolutions, SolutionName, SolutionSignature
from codeplan.sandbox.analysis.fixes.statements import AssertedTuples, HelperFunctions, RedundantGlobals
from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.limits import MAX_FIXES
from codeplan.types import AgentApi, AgentMethod, Fix

_CODEMODS: tuple[type[Codemod], ...] = (
    *(SolutionName, EarlierSolutions, SolutionSignature),
    *(StepGuards, AssertedTuples),
    *(AskSpellings, AgentAliases, UnderscoreNames, EndingNames),
    *(RedundantGlobals, UnusedImports, HelperFunctions),
)
"""The rules in their order. Those that add, remove or move lines come after the others as far as they can."""


cst.parse_module("")  # loads the parser now: the cage can load no modules


def mend(source: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the plan after all fixes as ``source``, and the ``fixes`` with rule, line, was and now.

    ``arguments``: ``names``, those of the agent's methods and attributes; ``aliases``, other names of its methods.

    Raises: RejectedPlanError: the source is not Python. ValueError: an argument is missing.
    """
    names, aliases = arguments.get("names"), arguments.get("aliases")
    if not isinstance(names, list) or not isinstance(aliases, dict):
        raise ValueError("the analysis needs the arguments 'names', a list, and 'aliases', a dict")
    parse_plan(source)
    api = AgentApi(tuple(AgentMethod(str(name), "()") for name in names), aliases=tuple(aliases.items()))
    mended, fixes = mend_plan(source, api)
    rows = [{"rule": f.rule, "line": f.line, "was": f.was, "now": f.now} for f in fixes]
    return {"source": mended, "fixes": rows}


def mend_plan(source: str, api: AgentApi) -> tuple[str, tuple[Fix, ...]]:
    """Return the plan after all fixes that apply, and the fixes by line. The plan must have passed ``parse_plan``."""
    module, facts = cst.parse_module(source), PlanFacts(source, api)
    fixes: list[Fix] = []
    for kind in _CODEMODS:
        if not kind.may_apply(facts):
            continue
        codemod = kind(module, facts)
        module = codemod.apply()
        fixes += codemod.fixes
        if len(fixes) > MAX_FIXES:
            return source, ()
        if codemod.fixes:
            facts = PlanFacts(module.code, api)
    return (module.code, tuple(sorted(fixes, key=lambda fix: fix.line))) if fixes else (source, ())
