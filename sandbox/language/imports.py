"""The imports that a plan may write. An import only binds a name: the runtime provides the modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from codeplan.sandbox.runtime.names import ALLOWED_MODULES, ANNOTATION_MODULES, PREDEFINED_NAMES, RESERVED_NAMES

ImportStatement = ast.Import | ast.ImportFrom


class ImportBinding(NamedTuple):
    """A name that an import binds to a module (``member`` is None) or to a module's member."""

    name: str
    module: str
    member: str | None
    node: ImportStatement


def import_problem(node: ImportStatement, alias: ast.alias) -> str | None:
    """Return why this import is not allowed and what to write instead, or None if it is."""
    module = alias.name if isinstance(node, ast.Import) else node.module or "."
    if module in ANNOTATION_MODULES:
        return None
    if module not in ALLOWED_MODULES or (isinstance(node, ast.ImportFrom) and node.level):
        return f"`{module}` cannot be imported; use the agent, or one of: {', '.join(sorted(ALLOWED_MODULES))}"
    if isinstance(node, ast.ImportFrom) and alias.name not in ALLOWED_MODULES[module]:
        return f"`{module}` has no `{alias.name}` here; it has: {', '.join(sorted(ALLOWED_MODULES[module]))}"
    name = alias.asname or alias.name
    if name.startswith("_") or (name in RESERVED_NAMES and name not in (alias.name, "ask", "ask_llm")):
        return f"an import cannot be called `{name}`; use another name"
    if name in ("ask", "ask_llm") and module != "large_language_model":
        return f"`{name}` belongs to the runtime; use another name for `{alias.name}`"
    return None


def find_imports(nodes: Iterable[ast.AST]) -> list[ImportStatement]:
    """Return the import statements among these nodes."""
    return [n for n in nodes if isinstance(n, ImportStatement)]


def import_bindings(statements: Iterable[ImportStatement]) -> Iterator[ImportBinding]:
    """Yield every allowed name that these imports bind, except names that the runtime provides anyway."""
    for node in statements:
        for alias in node.names:
            binding = _binding(node, alias)
            if (
                binding.module in ALLOWED_MODULES
                and not _is_predefined(binding)
                and import_problem(node, alias) is None
            ):
                yield binding


def _binding(node: ImportStatement, alias: ast.alias) -> ImportBinding:
    name = alias.asname or alias.name
    if isinstance(node, ast.Import):
        return ImportBinding(name, alias.name, None, node)
    return ImportBinding(name, node.module or "", alias.name, node)


def _is_predefined(b: ImportBinding) -> bool:
    """Return whether the name means the same without the import."""
    if b.member is None:
        return b.name == b.module and b.name in PREDEFINED_NAMES
    if b.module == "large_language_model":
        return b.name in ("ask", "ask_llm")
    return b.name == b.member and b.module in ("ast", "collections")
