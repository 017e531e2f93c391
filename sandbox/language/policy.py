"""The plan language: RestrictedPython's transformer, narrowed to what plans need and widened to what models write.

Two things keep a plan in. What it can *name* is decided here, at compile time: no name or attribute with a leading
underscore, no classes, no imports but a few. What it can *reach* is decided at run time, by the guards that
``guarding`` puts in: each attribute is looked up in an allow-list for the value's exact type.
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
    """What a plan may write. What it refuses goes to ``refusals``; it never raises for bad input."""

    def __init__(self, refusals: DiagnosticCollector) -> None:
        super().__init__()
        self._refusals = refusals

    # ------------------------------------------------------------------ refusals

    def error(self, node: ast.AST, info: str) -> None:
        self._refusals.add(node, "language", info)

    def not_allowed(self, node: ast.AST) -> None:
        """Refuse a node that the language has not, and say what to write in its place."""
        kind = type(node).__name__
        self.error(
            node, CONSTRUCT_HINTS.get(kind, f"{kind} is not part of the plan language; write it with plain statements")
        )

    def warn(self, node: ast.AST, info: str) -> None:
        """Nothing: what is unknown is refused."""

    def _refuse(self, node: ast.AST) -> VisitResult:
        self.not_allowed(node)
        return None if isinstance(node, ast.stmt) else node

    visit_ClassDef = visit_With = visit_Global = visit_Nonlocal = visit_TryStar = _refuse
    visit_AsyncFunctionDef = visit_AsyncFor = visit_AsyncWith = visit_Await = _refuse
    visit_Yield = visit_YieldFrom = visit_TemplateStr = visit_Interpolation = visit_MatchClass = _refuse

    def _visited(self, node: _T) -> _T:
        """Visit a node that stays a node of its own sort."""
        result: _T = self.visit(node)
        return result

    # ------------------------------------------------------------------ names

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        """Names with a leading underscore belong to the runtime; ``_`` alone is anybody's."""
        if name is not None and name.startswith("_") and name != "_":
            self.error(
                node,
                f"names that begin with an underscore are reserved; write `{name.strip('_') or 'name'}` for `{name}`",
            )

    def _check_binding(self, node: ast.AST, name: str | None) -> None:
        self.check_name(node, name)
        if name in RESERVED_NAMES:
            self.error(
                node, f"`{name}` belongs to the runtime and cannot be assigned or defined anew; use another name"
            )

    def visit_Name(self, node: ast.Name) -> VisitResult:
        (self.check_name if isinstance(node.ctx, ast.Load) else self._check_binding)(node, node.id)
        return node

    def visit_MatchAs(self, node: ast.MatchAs) -> VisitResult:
        """The name that a case binds is checked as any other that is bound."""
        self._check_binding(node, node.name)
        return self.node_contents_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> VisitResult:
        """The name of a sequence's rest is checked as any other that is bound."""
        self._check_binding(node, node.name)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> VisitResult:
        """Keys must be literals; the name of the rest is checked as any other that is bound."""
        self._check_binding(node, node.rest)
        for key in node.keys:
            self._check_literal(key)
        node.patterns = [self._visited(p) for p in node.patterns]
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> VisitResult:
        """What a case compares with must be a literal."""
        self._check_literal(node.value)
        return node

    def _plain(self, node: ast.AST) -> VisitResult:
        return self.node_contents_visit(node)

    visit_Match = visit_match_case = visit_MatchSequence = visit_MatchOr = visit_MatchSingleton = _plain

    def _check_literal(self, value: ast.expr) -> None:
        """A dotted name in a pattern would be looked up without the guard."""
        if any(isinstance(n, ast.Attribute) for n in ast.walk(value)):
            self.error(value, "a case may hold literals and plain names only; compare other values with if and ==")

    # ------------------------------------------------------------------ imports and annotations

    def visit_Import(self, node: ast.Import) -> VisitResult:
        return self._import(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> VisitResult:
        return self._import(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> VisitResult:
        """The runtime gives what may be imported before the plan begins, so the statement itself does nothing."""
        for alias in node.names:
            if problem := import_problem(node, alias):
                self._refusals.add(node, "import", problem)
        return with_location(node, ast.Pass())

    def visit_AnnAssign(self, node: ast.AnnAssign) -> VisitResult:
        """The annotation is dropped, never evaluated."""
        if node.value is None:
            return with_location(node, ast.Pass())
        return self._visited(with_location(node, ast.Assign(targets=[node.target], value=node.value)))

    def visit_arg(self, node: ast.arg) -> VisitResult:
        """The annotation is dropped, the name checked."""
        node.annotation = None
        self.check_name(node, node.arg)
        return node
