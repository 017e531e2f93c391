"""A study of a plan: what it is, whatever its names are called. Two plans of one shape are one plan."""

from __future__ import annotations

import ast
import hashlib
import re
from typing import Any

from codeplan.sandbox.language.bindings import bound_names, parameters
from codeplan.sandbox.language.head import CLOSING, OPENING
from codeplan.sandbox.language.nodes import walk
from codeplan.sandbox.language.syntax import parse

_DIGITS = 16


def shape(source: str, arguments: dict[str, Any]) -> str:
    """A digest that does not change when names are changed, nor the parameters' values, nor layout and comments.

    Names that the plan binds are numbered as they are met. Takes no arguments. Raises PlanRefused for what is not
    Python.
    """
    if arguments:
        raise ValueError(f"there is no argument {min(arguments)!r}")
    tree = parse(source)
    blank = _parameter_lines(source)
    own = bound_names(tree.body).union(*(_own(node) for node in walk(tree)))
    own -= {"solution", "agent", "start_from"}
    text = _written(tree, {}, own, blank)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _parameter_lines(source: str) -> range:
    """The lines between the comments that open and close a plan's parameters."""
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", source)]
    first = next((i for i, line in enumerate(lines, 1) if line.startswith(OPENING)), 0)
    last = next((i for i, line in enumerate(lines, 1) if line == CLOSING), 0)
    return range(first, last)


def _own(node: ast.AST) -> frozenset[str]:
    """The names that a scope binds."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return parameters(node) | (bound_names(node.body) if isinstance(node, ast.FunctionDef) else frozenset())
    if isinstance(node, ast.comprehension):
        return frozenset(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
    return frozenset()


def _written(node: object, numbers: dict[str, str], own: frozenset[str], blank: range) -> str:
    """The tree as text: names by their numbers; strings that stand alone, and the parameters' values, left out."""
    if isinstance(node, list):
        return "[" + ",".join(_written(n, numbers, own, blank) for n in node if not _does_nothing(n)) + "]"
    if isinstance(node, str):
        return numbers.setdefault(node, f"name{len(numbers)}") if node in own else repr(node)
    if not isinstance(node, ast.AST):
        return f"{type(node).__name__}:{node!r}"
    if isinstance(node, ast.Constant):
        return f"constant:{node.value!r}"
    if isinstance(node, ast.Assign) and node.lineno in blank:
        return f"parameter({_written(node.targets, numbers, own, blank)})"
    parts = (
        _written(v, numbers, own, blank) for n, v in ast.iter_fields(node) if n not in ("ctx", "kind", "type_comment")
    )
    return f"{type(node).__name__}({','.join(parts)})"


def _does_nothing(node: object) -> bool:
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone or isinstance(node, ast.Pass)
