"""Identifies plans that differ only in names, parameter values and layout."""

from __future__ import annotations

import ast
import hashlib
import re
from typing import Any

from codeplan.sandbox.analysis.parameter_comments import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.sandbox.language.bindings import bound_names, parameter_names
from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.language.syntax_nodes import has_no_effect, walk

_DIGITS = 16


def plan_shape(source: str, arguments: dict[str, Any]) -> str:
    """Return a digest that ignores names, the parameters' values, layout and comments.

    The plan's own names are numbered in order of appearance. It takes no arguments. Raises RejectedPlanError if the
    source is not Python.
    """
    if arguments:
        raise ValueError(f"there is no argument {min(arguments)!r}")
    tree = parse_plan(source)
    blank = _parameter_lines(source)
    own = bound_names(tree.body).union(*(_scope_names(node) for node in walk(tree)))
    own -= {"solution", "agent", "start_from"}
    text = _ShapeWriter(own, blank).write(tree)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _parameter_lines(source: str) -> range:
    """Return the lines between the comments around a plan's parameters."""
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", source)]
    first = next((i for i, line in enumerate(lines, 1) if line.startswith(PARAMETERS_OPENING)), 0)
    last = next((i for i, line in enumerate(lines, 1) if line == PARAMETERS_CLOSING), 0)
    return range(first, last) if first else range(0)


def _scope_names(node: ast.AST) -> frozenset[str]:
    """Return the names that a scope binds."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return parameter_names(node) | (bound_names(node.body) if isinstance(node, ast.FunctionDef) else frozenset())
    if isinstance(node, ast.comprehension):
        return frozenset(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
    return frozenset()


class _ShapeWriter:
    """Writes a tree as text: names as numbers, without standalone strings and parameter values."""

    def __init__(self, own: frozenset[str], blank: range) -> None:
        self._own, self._blank = own, blank
        self._numbers: dict[str, str] = {}

    def write(self, node: object) -> str:
        """Return the text of a node or of a list of nodes."""
        if isinstance(node, list):
            return "[" + ",".join(self.write(n) for n in node if not has_no_effect(n)) + "]"
        if isinstance(node, str):
            return self._name(node)
        if not isinstance(node, ast.AST):
            return f"{type(node).__name__}:{node!r}"
        if isinstance(node, ast.Constant):
            return f"constant:{node.value!r}"
        if isinstance(node, ast.Assign) and node.lineno in self._blank and _is_value(node.value):
            return f"parameter({self.write(node.targets)})"
        if isinstance(node, ast.Attribute):  # attribute names are not the plan's own
            return f"Attribute({self.write(node.value)},{node.attr!r})"
        if isinstance(node, ast.Call):
            return self._call(node)
        parts = (self.write(v) for n, v in ast.iter_fields(node) if n not in ("ctx", "kind", "type_comment"))
        return f"{type(node).__name__}({','.join(parts)})"

    def _call(self, call: ast.Call) -> str:
        """Return a call. Keyword names are the plan's own if the function is."""
        own = isinstance(call.func, ast.Name) and call.func.id in self._own
        head = f"{self.write(call.func)},{self.write(call.args)}"
        named = [f"keyword({self._argument(k.arg, own)},{self.write(k.value)})" for k in call.keywords]
        return f"Call({head},[{','.join(named)}])"

    def _argument(self, name: str | None, own: bool) -> str:
        return self.write(name) if own or name is None else repr(name)

    def _name(self, name: str) -> str:
        return self._numbers.setdefault(name, f"name{len(self._numbers)}") if name in self._own else repr(name)


def _is_value(node: ast.expr) -> bool:
    """Return whether it is a valid parameter value: a text or a list of texts."""
    parts = node.elts if isinstance(node, ast.List) else [node]
    return all(isinstance(p, ast.Constant) and isinstance(p.value, str) for p in parts)
