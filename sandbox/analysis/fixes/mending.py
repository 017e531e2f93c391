"""Applies the fixes to a plan, one rule after the other."""

from __future__ import annotations

import libcst as cst

from codeplan.sandbox.analysis.fixes.codemod import Codemod
from codeplan.sandbox.analysis.fixes.guards import StepGuards
from codeplan.sandbox.analysis.fixes.imports import UnusedImports
from codeplan.sandbox.analysis.fixes.names import AgentAliases, AskSpellings, UnderscoreNames
from codeplan.sandbox.analysis.fixes.plan_facts import PlanFacts
from codeplan.sandbox.analysis.fixes.solution import EarlierSolutions, SolutionName, SolutionSignature
from codeplan.sandbox.analysis.fixes.statements import AssertedTuples, HelperFunctions, RedundantGlobals
from codeplan.sandbox.limits import MAX_FIXES
from codeplan.types import AgentApi, Fix

_CODEMODS: tuple[type[Codemod], ...] = (
    *(SolutionName, EarlierSolutions, SolutionSignature),
    *(StepGuards, AssertedTuples),
    *(AskSpellings, AgentAliases, UnderscoreNames),
    *(RedundantGlobals, UnusedImports, HelperFunctions),
)
"""The rules in their order. Those that add, remove or move lines come after the others as far as they can."""


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
