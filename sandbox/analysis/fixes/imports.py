"""Removes imports that the cage does not offer and the plan does not use."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

from codeplan.sandbox.analysis.fixes.codemod import Codemod
from codeplan.sandbox.analysis.fixes.plan_facts import PlanFacts
from codeplan.sandbox.language.imports import find_imports, import_problem
from codeplan.sandbox.language.syntax_nodes import walk
from codeplan.sandbox.runtime.names import RESERVED_NAMES

_Import = TypeVar("_Import", cst.Import, cst.ImportFrom)


class UnusedImports(Codemod):
    """Removes names that may not be imported, if the plan never reads them.

    Annotations do not count as reading. An import that takes a name of the runtime stays, and is refused.
    """

    rule = "unused-import"

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__(module, facts)
        self._read = _names_read(facts.nodes)

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan imports anything."""
        return bool(find_imports(facts.nodes))

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import | cst.RemovalSentinel:
        """Remove names from ``import a, b``."""
        return self._without_unused(original_node, updated_node, updated_node.names)

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom | cst.RemovalSentinel:
        """Remove names from ``from a import b, c``."""
        names = () if isinstance(updated_node.names, cst.ImportStar) else updated_node.names
        return self._without_unused(original_node, updated_node, names)

    def _without_unused(
        self, original: _Import, updated: _Import, names: Sequence[cst.ImportAlias]
    ) -> _Import | cst.RemovalSentinel:
        kept: list[cst.ImportAlias] = [name for name in names if not self._is_unused(original, name)]
        if len(kept) == len(names) and names:
            return updated
        if not kept:
            self.note(original, original, "")
            return cst.RemoveFromParent()
        last = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        new = updated.with_changes(names=[*kept[:-1], last])
        self.note(original, original, new)
        return new

    def _is_unused(self, statement: cst.Import | cst.ImportFrom, name: cst.ImportAlias) -> bool:
        alias = name.evaluated_alias or name.evaluated_name.split(".")[0]
        own = not alias.startswith("_") and alias not in RESERVED_NAMES
        return own and alias not in self._read and _problem(statement, name) is not None


def _problem(statement: cst.Import | cst.ImportFrom, name: cst.ImportAlias) -> str | None:
    """Return why this import is not allowed, or None."""
    node = ast.parse(cst.Module([]).code_for_node(statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT))).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom), "an import stays one"
    return import_problem(node, ast.alias(name.evaluated_name, name.evaluated_alias))


def _names_read(nodes: list[ast.AST]) -> frozenset[str]:
    annotations = {
        id(n)
        for owner in nodes
        for a in (getattr(owner, "annotation", None), getattr(owner, "returns", None))
        if a is not None
        for n in walk(a)
    }
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in annotations)
