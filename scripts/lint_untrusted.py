"""Finds code that shows or compares values from elsewhere without bounds; ``make check-style`` runs it.

A value that a plan made may stand for an endless text, and one that a file holds may be megabytes long. So outside
``codeplan/untrusted`` there is

- no ``repr``, ``ascii``, ``!r``, ``!a`` or ``%r``: ``in_quotes`` and ``value_text`` do this within bounds;
- no ``reprlib``, ``pprint`` or ``difflib``;
- no ``decode`` of a checkpoint, except in modules that hand the values to ``codeplan.untrusted``; and there no ``str``,
  ``format``, f-string, ``print``, ``hash``, ``sorted``, ``==`` or ``in`` on a decoded value.

``lint_untrusted.toml`` lists what is allowed by file and expression, with the reason. An entry that allows nothing is
an error, too.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("codeplan", "sandbox", "envs", "prompts")

BANNED_MODULES = frozenset({"reprlib", "pprint", "difflib"})
NOTATIONS = frozenset({"repr", "ascii"})
TEXT_FUNCTIONS = frozenset({"str", "format", "print", "hash", "sorted", "repr", "ascii"})
DECODERS = frozenset({"decode"})
_PERCENT = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?[ra]")
_BRACES = re.compile(r"![ra](?::[^{}]*)?\}")


class LintProblem(NamedTuple):
    """One place that the rules forbid. ``what`` is the expression, as the lists name it."""

    path: str
    line: int
    what: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}: {self.advice}"


_LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
EXEMPT_FOLDERS: dict[str, str] = _LISTS["exempt_folders"]
"""Folders that are not examined, and why."""

ALLOWED: dict[str, dict[str, str]] = _LISTS["allowed"]
"""Expressions that are allowed, by file, and why."""

MAY_DECODE: dict[str, str] = _LISTS["may_decode"]
"""Modules that may decode checkpoints, and why."""


def find_problems(source: str, path: str) -> Iterator[LintProblem]:
    """Every place in a module that the rules forbid, without regard to the lists."""
    tree = ast.parse(source)
    yield from _Notations(path).findings(tree)
    yield from _imports(tree, path)
    yield from _DecodedValues(path).findings(tree)


def _imports(tree: ast.Module, path: str) -> Iterator[LintProblem]:
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module.startswith("codeplan.sandbox") and DECODERS & {a.name for a in node.names}:
                yield LintProblem(path, node.lineno, "import decode", "list the module in MAY_DECODE, with the reason")
        for name in names:
            if name.partition(".")[0] in BANNED_MODULES:
                yield LintProblem(path, node.lineno, f"import {name}", "use codeplan.untrusted")


class _Notations(ast.NodeVisitor):
    """Finds what writes values in Python's notation. The body of a ``__repr__`` is its caller's business."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: list[LintProblem] = []

    def findings(self, tree: ast.AST) -> list[LintProblem]:
        self.visit(tree)
        return self._found

    def _add(self, node: ast.expr, what: str) -> None:
        self._found.append(
            LintProblem(self._path, node.lineno, what, "use in_quotes or value_text of codeplan.untrusted")
        )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name != "__repr__":
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in NOTATIONS:
            if not _is_constant(node.args):
                self._add(node, ast.unparse(node))
            for part in (*node.args, *node.keywords):
                self.visit(part)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in NOTATIONS:
            self._add(node, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr == "__repr__":
            self._add(node, ast.unparse(node))
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        if node.conversion in (ord("r"), ord("a")) and not isinstance(node.value, ast.Constant):
            self._add(node.value, f"{ast.unparse(node.value)}!{chr(node.conversion)}")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Mod) and _text_matches(node.left, _PERCENT):
            self._add(node, "%r")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if _text_matches(node, _BRACES):
            self._add(node, "{!r}")

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # docstrings are no code
            self.generic_visit(node)


def _is_constant(arguments: list[ast.expr]) -> bool:
    return all(isinstance(argument, ast.Constant) for argument in arguments)


def _text_matches(node: ast.expr, pattern: re.Pattern[str]) -> bool:
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and pattern.search(text.replace("%%", "")) is not None


class _DecodedValues:
    """Follows the results of ``decode`` through the names of each function, and finds what walks over them."""

    def __init__(self, path: str) -> None:
        self._path = path

    def findings(self, tree: ast.Module) -> Iterator[LintProblem]:
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._in_function(function)

    def _in_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[LintProblem]:
        tables, values = self._tainted_names(function)
        for node in ast.walk(function):
            for part, way in _walking(node, tables, values):
                advice = "use codeplan.untrusted: its text and its comparison are bounded"
                yield LintProblem(self._path, part.lineno, f"{way} {ast.unparse(part)}", advice)

    def _tainted_names(self, function: ast.AST) -> tuple[set[str], set[str]]:
        """The names of decoded variables as a whole, and of single decoded values."""
        tables: set[str] = set()
        values: set[str] = set()
        for _ in range(3):  # assignments may stand in any order
            for target, source in _bindings(function):
                if _is_table(source, tables):
                    tables |= _names(target)
                elif _is_value(source, tables, values):
                    values |= _names(target)
        return tables, values


def _bindings(function: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets with what is assigned to them. A loop assigns the elements of what it runs over."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value:
            yield node.target, node.value
        elif isinstance(node, ast.For | ast.comprehension):
            keyed = (
                _is_call_of(node.iter, "items") and isinstance(node.target, ast.Tuple) and len(node.target.elts) == 2
            )
            target = node.target.elts[1] if keyed and isinstance(node.target, ast.Tuple) else node.target
            yield target, ast.Subscript(_receiver(node.iter), ast.Constant(0))


def _receiver(node: ast.expr) -> ast.expr:
    """The mapping in ``mapping.items()`` and ``mapping.values()``, otherwise the expression itself."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
        return node.func.value
    return node


def _is_call_of(node: ast.expr, name: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return isinstance(called, ast.Attribute) and called.attr == name


def _is_table(node: ast.expr, tables: set[str]) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DECODERS:
        return True
    return (isinstance(node, ast.Name) and node.id in tables) or (
        isinstance(node, ast.NamedExpr) and _is_table(node.value, tables)
    )


def _is_value(node: ast.expr, tables: set[str], values: set[str]) -> bool:
    if isinstance(node, ast.Subscript):
        return _is_table(node.value, tables) or _is_value(node.value, tables, values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
        return _is_table(node.func.value, tables)
    return isinstance(node, ast.Name) and node.id in values


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _walking(node: ast.AST, tables: set[str], values: set[str]) -> Iterator[tuple[ast.expr, str]]:
    """The decoded values that a node turns into text, hashes or compares, and the way that it does it."""

    def decoded(part: ast.expr) -> bool:
        return _is_table(part, tables) or _is_value(part, tables, values)

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TEXT_FUNCTIONS:
        yield from ((part, node.func.id) for part in node.args if decoded(part))
    elif isinstance(node, ast.FormattedValue) and decoded(node.value):
        yield node.value, "f-string of"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        yield from ((part, "% of") for part in parts if decoded(part))
    elif isinstance(node, ast.Compare):
        yield from _comparisons(node, tables, values)


def _comparisons(node: ast.Compare, tables: set[str], values: set[str]) -> Iterator[tuple[ast.expr, str]]:
    parts = (node.left, *node.comparators)
    for operator, left, right in zip(node.ops, parts, parts[1:], strict=False):
        if isinstance(operator, ast.Is | ast.IsNot):
            continue
        for part in (left, right):
            names_a_variable = isinstance(operator, ast.In | ast.NotIn) and part is right
            if _is_value(part, tables, values) or (_is_table(part, tables) and not names_a_variable):
                yield part, "comparison of"


def lint(files: Iterable[tuple[str, str]]) -> list[LintProblem]:
    """The findings in files, given by path and source, that no list allows; and entries that allow nothing."""
    used: set[tuple[str, str]] = set()
    problems: list[LintProblem] = []
    for path, source in files:
        if any(path.startswith(f"{folder}/") for folder in EXEMPT_FOLDERS):
            continue
        for finding in find_problems(source, path):
            if finding.what in _allowed(path):
                used.add((path, finding.what))
            else:
                problems.append(finding)
    listed = {(path, what) for path in (*ALLOWED, *MAY_DECODE) for what in _allowed(path)}
    unused = sorted(listed - used)
    return problems + [
        LintProblem(path, 0, what, "the lint's lists allow this, but it is not there") for path, what in unused
    ]


def _allowed(path: str) -> set[str]:
    return {*ALLOWED.get(path, {}), *(["import decode"] if path in MAY_DECODE else [])}


def _sources() -> Iterator[tuple[str, str]]:
    seen: set[Path] = set()
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.resolve()
            if path not in seen and path.is_relative_to(ROOT):
                seen.add(path)
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def main() -> int:
    """Print the findings; the exit code is 1 if there are any."""
    found = lint(_sources())
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
