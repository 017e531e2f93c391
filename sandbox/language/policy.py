"""The plan language: RestrictedPython's transformer, restricted to the syntax that plans need, plus syntax that models
often use.

Two things confine a plan. At compile time, this module decides what it can *name*: no name or attribute with a leading
underscore, no classes, few imports. At run time, the guards that ``guard_insertion`` inserts decide what it can
*reach*: an allow-list of attributes for each exact type.
"""

from __future__ import annotations

import ast
from typing import TypeVar

from RestrictedPython.transformer import RestrictingNodeTransformer

from codeplan.sandbox.language.construct_hints import CONSTRUCT_HINTS
from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.imports import import_problem
from codeplan.sandbox.language.syntax_nodes import with_location
from codeplan.sandbox.runtime.names import RESERVED_NAMES

_T = TypeVar("_T", bound=ast.AST)
VisitResult = ast.AST | list[ast.stmt] | None


class LanguagePolicy(RestrictingNodeTransformer):
    """Decides what a plan may write. Problems go to ``problems``; bad input never raises."""

    def __init__(self, problems: DiagnosticCollector) -> None:
        super().__init__()
        self._problems = problems

    def error(self, node: ast.AST, info: str) -> None:
        self._problems.add(node, "language", info)

    def not_allowed(self, node: ast.AST) -> None:
        """Report a node that the language lacks, and say what to write instead."""
        kind = type(node).__name__
        default = f"{kind} is not part of the plan language; write it with plain statements"
        self.error(node, CONSTRUCT_HINTS.get(kind, default))

    def warn(self, node: ast.AST, info: str) -> None:
        """Do nothing: unknown syntax is an error already."""

    def _refuse(self, node: ast.AST) -> VisitResult:
        self.not_allowed(node)
        return None if isinstance(node, ast.stmt) else node

    visit_ClassDef = visit_With = visit_Global = visit_Nonlocal = visit_TryStar = _refuse
    visit_AsyncFunctionDef = visit_AsyncFor = visit_AsyncWith = visit_Await = _refuse
    visit_Yield = visit_YieldFrom = visit_TemplateStr = visit_Interpolation = visit_MatchClass = _refuse

    def _visited(self, node: _T) -> _T:
        """Visit a node that keeps its type."""
        result: _T = self.visit(node)
        return result

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        """Report names with a leading underscore, which belong to the runtime. ``_`` alone is allowed."""
        if name is not None and name.startswith("_") and name != "_":
            other = name.strip("_") or "name"
            self.error(node, f"names that begin with an underscore are reserved; write `{other}` for `{name}`")

    def _check_binding(self, node: ast.AST, name: str | None) -> None:
        self.check_name(node, name)
        if name in RESERVED_NAMES:
            self.error(node, f"`{name}` belongs to the runtime and cannot be assigned; use another name")

    def visit_Name(self, node: ast.Name) -> VisitResult:
        (self.check_name if isinstance(node.ctx, ast.Load) else self._check_binding)(node, node.id)
        return node

    def visit_MatchAs(self, node: ast.MatchAs) -> VisitResult:
        """Check the name that a case binds."""
        self._check_binding(node, node.name)
        return self.node_contents_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> VisitResult:
        """Check the name of a sequence's rest."""
        self._check_binding(node, node.name)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> VisitResult:
        """Check the keys, which must be literals, and the name of the rest."""
        self._check_binding(node, node.rest)
        for key in node.keys:
            self._check_literal(key)
        node.patterns = [self._visited(p) for p in node.patterns]
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> VisitResult:
        """Check that a case compares with a literal."""
        self._check_literal(node.value)
        return node

    def _plain(self, node: ast.AST) -> VisitResult:
        return self.node_contents_visit(node)

    visit_Match = visit_match_case = visit_MatchSequence = visit_MatchOr = visit_MatchSingleton = _plain

    def _check_literal(self, value: ast.expr) -> None:
        """Report a dotted name in a pattern: Python would look it up without the guard."""
        if any(isinstance(n, ast.Attribute) for n in ast.walk(value)):
            self.error(value, "a case may hold literals and plain names only; compare other values with if and ==")

    def _import(self, node: ast.Import | ast.ImportFrom) -> VisitResult:
        """Check an import and drop it: the runtime binds the names before the plan begins."""
        for alias in node.names:
            if problem := import_problem(node, alias):
                self._problems.add(node, "import", problem)
        return with_location(node, ast.Pass())

    visit_Import = visit_ImportFrom = _import

    def visit_AnnAssign(self, node: ast.AnnAssign) -> VisitResult:
        """Drop the annotation without evaluating it."""
        if node.value is None:
            return with_location(node, ast.Pass())
        return self._visited(with_location(node, ast.Assign(targets=[node.target], value=node.value)))

    def visit_arg(self, node: ast.arg) -> VisitResult:
        """Drop the annotation and check the name."""
        node.annotation = None
        self.check_name(node, node.arg)
        return node
