"""Finds the regular expressions in the source of the package, and how each is used."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from support.regex_costs import Mode

_FUNCTIONS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_MODES: dict[str, Mode] = {"match": "match", "fullmatch": "fullmatch"}  # all others look everywhere


@dataclass(frozen=True)
class Expression:
    """A regular expression in the source. ``pattern`` is None if only the running program knows it."""

    file: str
    line: int
    pattern: str | None
    flags: int
    modes: tuple[Mode, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.pattern!r}"


def find_expressions(root: Path, file: Path) -> Iterator[Expression]:
    """Every expression that a file gives to a function of ``re``."""
    tree = ast.parse(file.read_text("utf-8"))
    names = _Names(root, file)
    for node in ast.walk(tree):
        if _is_call_of_re(node):
            pattern = names.value(node.args[0])
            modes = _uses(tree, node) if node.func.attr == "compile" else (_MODES.get(node.func.attr, "search"),)
            yield Expression(str(file.relative_to(root)), node.lineno, pattern, _flags(node, names), modes)


def _is_call_of_re(node: Any) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _FUNCTIONS
    )


def _flags(call: Any, names: _Names) -> int:
    given = [k.value for k in call.keywords if k.arg == "flags"]
    place = {"sub": 4, "subn": 4, "split": 3}.get(call.func.attr, 2 if call.func.attr != "compile" else 1)
    given += call.args[place : place + 1]
    return int(names.value(given[0]) or 0) if given else 0


def _uses(tree: ast.AST, call: ast.AST) -> tuple[Mode, ...]:
    """How a compiled expression is used in its module: every way, if it is not bound to a name of its own."""
    target = next((n.targets[0] for n in ast.walk(tree) if isinstance(n, ast.Assign) and n.value is call), None)
    target = target or next(
        (n.target for n in ast.walk(tree) if isinstance(n, ast.AnnAssign) and n.value is call), None
    )
    if not isinstance(target, ast.Name):
        return "search", "fullmatch"
    loads = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load)]
    called = [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.value in loads]
    if len(called) < len(loads) or not called:
        return "search", "fullmatch"
    return tuple(sorted({_MODES.get(method, "search") for method in called}))


class _Names(dict[str, Any]):
    """The names that a pattern may use: those of its module; a local name in an f-string stands for a word."""

    def __init__(self, root: Path, file: Path) -> None:
        super().__init__()
        parts = file.relative_to(root).with_suffix("").parts
        self._module = ".".join(parts if parts[0] == "codeplan" else ("codeplan", *parts)).removesuffix(".__init__")

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return getattr(import_module(self._module), name, "word")

    def value(self, expression: ast.expr) -> Any:
        """The expression's value; None if only the running program knows it."""
        if isinstance(expression, ast.Name) and not hasattr(import_module(self._module), expression.id):
            return None
        try:
            return eval(compile(ast.Expression(expression), "pattern", "eval"), {}, self)
        except Exception:
            return None
