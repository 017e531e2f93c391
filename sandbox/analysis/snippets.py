"""Snippets of Python as plans: other frameworks' models write some lines that call tools by their names."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator
from typing import Any, Final

from codeplan.sandbox.language.extraction import SOLUTION_HEADER
from codeplan.sandbox.language.name_flow import bound_names
from codeplan.sandbox.language.parsing import parse_plan, walk

MAX_DEFINITIONS_CHARS: Final = 16_000
"""Maximum length of the definitions that later snippets find. More would leave no room for the snippets themselves."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_HEAD: Final = f"{SOLUTION_HEADER}\n    if start_from <= 1:\n"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Assign


def wrap_snippet(source: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a snippet as a plan of one step, which returns what the snippet's last statement evaluates or assigns.

    ``definitions`` is the text of the functions, classes, imports and lambdas of earlier snippets; it stands before the
    plan, but for definitions that read variables which are ``gone``, and those that read one of the ``variables`` while
    they are made: these begin the step. The result has ``plan``, ``definitions`` for the
    next snippet, ``before``: the texts of those that stand before this plan, and ``lost``: for each name that is left
    out, a gone name that it reads. A definition that uses one of the ``tools`` while it is made is not kept: it would
    act again before each snippet. A text that defines ``solution`` is a plan already. Raises RejectedPlanError if the
    source is not Python.
    """
    given, gone, tools = arguments.get("definitions", ""), arguments.get("gone", []), arguments.get("tools", [])
    variables = arguments.get("variables", [])
    is_known = isinstance(given, str) and all(isinstance(names, list) for names in (gone, tools, variables))
    if not is_known or arguments.keys() - {"definitions", "gone", "tools", "variables"}:
        raise ValueError("a snippet takes the text of its definitions, and names of variables and tools alone")
    tree = parse_plan(source)
    if any(isinstance(node, ast.FunctionDef) and node.name == "solution" for node in tree.body):
        return {"plan": source, "definitions": given, "before": [], "lost": {}}
    own = bound_names(tree.body) | _names_of(tree.body)
    earlier = [(names, text) for names, text in _definitions(given) if not names & own]
    lost = _lost(earlier, frozenset(gone) - own)
    there = [(names, text) for names, text in earlier if not names & lost.keys()]
    late = _made_late(there, frozenset(variables))
    before = [text for names, text in there if not names & late]
    inside = [text for names, text in there if names & late]
    kept = [text for _, text in there]
    for _, text in _definitions(source, frozenset({"agent", *tools})):
        if sum(map(len, kept)) + len(text) <= MAX_DEFINITIONS_CHARS:
            kept.append(text)
    body = "".join(_as_body(text, parse_plan(text)) for text in inside) + _as_body(source, tree)
    plan = "\n".join([*before, _HEAD + body])
    return {"plan": plan, "definitions": "\n".join(kept), "before": before, "lost": lost}


def _made_late(definitions: list[tuple[frozenset[str], str]], variables: frozenset[str]) -> frozenset[str]:
    """Return the names of the definitions that read a variable while they are made, or one of these."""
    late: frozenset[str] = frozenset()
    for names, text in definitions:  # each reads only what stands before it
        used = frozenset(name for node in parse_plan(text).body for name in _names_used(node))
        if not used.isdisjoint(late | (variables - frozenset().union(*(names for names, _ in definitions)))):
            late |= names
    return late


def _lost(definitions: list[tuple[frozenset[str], str]], gone: frozenset[str]) -> dict[str, str]:
    """Return the names of the definitions that read a gone name, or one of these, with the name that they read."""
    reads = [(names, _global_names(text)) for names, text in definitions]
    gone = gone.difference(*(names for names, _ in reads))
    lost: dict[str, str] = {}
    while found := {
        name: min(read & (gone | lost.keys()))
        for names, read in reads
        if read & (gone | lost.keys())
        for name in names - lost.keys()
    }:
        lost |= found
    return lost


def _global_names(text: str) -> frozenset[str]:
    """Return the names that a definition reads from outside of it; none if it is no program by itself."""
    try:
        tables = [symtable.symtable(text, "<definition>", "exec")]
    except SyntaxError:
        return frozenset()
    for table in tables:
        tables += table.get_children()
    return frozenset(
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if symbol.is_referenced() and symbol.is_global()
    )


def _definitions(source: str, but: frozenset[str] = frozenset()) -> Iterator[tuple[frozenset[str], str]]:
    """Yield the names and the text of each definition at the code's margin that uses none ``but`` these names."""
    lines = _LINE_END.split(source)
    for node in parse_plan(source).body:
        if isinstance(node, _Definition) and not (isinstance(node, ast.Assign) and not _is_function(node)):
            if not but.isdisjoint(_names_used(node)):
                continue
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            simple = isinstance(node, ast.Import | ast.ImportFrom | ast.Assign)
            text = ast.get_source_segment(source, node) if simple else "\n".join(lines[first - 1 : node.end_lineno])
            yield bound_names([node]) | _names_of([node]), text or ""


def _names_used(node: ast.AST) -> Iterator[str]:
    """Yield the names that are read while a definition is made: not those in the bodies of its functions."""
    for name, part in ast.iter_fields(node):
        if name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for each in part if isinstance(part, list) else [part]:
            if isinstance(each, ast.AST):
                yield from _names_used(each)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id


def _is_function(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Lambda) and all(isinstance(target, ast.Name) for target in node.targets)


def _names_of(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that imports among these nodes bind."""
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return frozenset(a.asname or a.name.partition(".")[0] for node in imports for a in node.names)


def _as_body(source: str, tree: ast.Module) -> str:
    """Return the code as the body of a step; lines that begin within a text stay as they are."""
    lines = _LINE_END.split(source)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        line = lines[last.lineno - 1].encode("utf-8", "surrogatepass")
        before, after = line[: last.col_offset], line[last.col_offset :]
        lines[last.lineno - 1] = (before + b"return " + after).decode("utf-8", "surrogatepass")
    lines += [f"return {name}" for name in _assigned_last(tree)]
    inside = {line for node in walk(tree) for line in _lines_in_text(node)}
    body = [line if at in inside else f"        {line}" for at, line in enumerate(lines, 1)]
    return "\n".join(body if tree.body else [*body, "        pass"]) + "\n"


def _assigned_last(tree: ast.Module) -> list[str]:
    """Return the name that the last statement assigns a value; of another statement, none."""
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Assign) and not _is_function(last):
        return [target.id for target in last.targets[-1:] if isinstance(target, ast.Name)]
    is_one = isinstance(last, ast.AugAssign) or (isinstance(last, ast.AnnAssign) and last.value is not None)
    return [last.target.id] if is_one and isinstance(last.target, ast.Name) else []  # type: ignore[union-attr]


def _lines_in_text(node: ast.AST) -> range:
    """Return the lines that begin within this text; of no text, none."""
    is_text = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
    return range(node.lineno + 1, (node.end_lineno or 0) + 1) if is_text else range(0)  # type: ignore[attr-defined]
