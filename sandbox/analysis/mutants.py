"""Finds mutants of a plan: small edits of its text that its tests should notice.

One kind weakens an assertion (``assertion``): does any test need it? Others change the behaviour: they leave out an
action, replace a name or number, or negate a condition (``action``, ``name``, ``number``, ``condition``, ``list``).
Messages, prints and questions stay. After Jia and Harman, "An Analysis and Survey of the Development of Mutation
Testing", IEEE TSE 37(5), 2011, with operators for plans.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.language.plan_outline import outline_plan

MAX_MUTANTS: Final = 1_000
"""A longer plan yields only its first mutants."""

_TEXT_CHARS: Final = 80
_NUMBERED: Final = re.compile(r"[A-Za-z][A-Za-z _-]* (\d{1,6})")
_OPPOSITE: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
}
_NOT_MUTATED: Final = frozenset({"print", "ask_llm", "ask"})
"""Functions that take messages, whose wording tests cannot check."""


class MutantEdit(NamedTuple):
    """One edit: the node to replace, its new text, and a description."""

    kind: str
    node: ast.expr | ast.stmt
    text: str
    description: str


def find_mutants(source: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a plan's mutants in source order. ``arguments`` is empty.

    Each is ``{"name", "kind", "step", "line", "start", "end", "text"}``: ``text`` replaces the source's bytes from
    ``start`` to ``end``. ``step`` is None outside the steps. Names are unique and stable when other parts of the plan
    edit. Raises RejectedPlanError if the source is not Python.
    """
    tree = parse_plan(source)
    text = _SourceText(source)
    finder = _EditFinder(text, tree)
    parts = outline_plan(tree).parts
    found = [(part.step, edit) for part in parts for statement in part.body for edit in finder.edits_in(statement)]
    found.sort(key=lambda item: (item[1].node.lineno, item[1].node.col_offset))
    seen: dict[str, int] = {}
    return [_mutant_record(text, step, edit, seen) for step, edit in found[:MAX_MUTANTS]]


def _mutant_record(text: _SourceText, step: int | None, edit: MutantEdit, seen: dict[str, int]) -> dict[str, Any]:
    start, end = text.span(edit.node)
    name = f"{'outside' if step is None else f'step {step}'}: {edit.description}"
    seen[name] = count = seen.get(name, 0) + 1
    return {
        "name": name if count == 1 else f"{name} ({count})",
        "kind": edit.kind,
        "step": step,
        "line": edit.node.lineno,
        "start": start,
        "end": end,
        "text": edit.text,
    }


class _SourceText:
    """A plan's text by the positions in its syntax tree."""

    def __init__(self, source: str) -> None:
        self.bytes = source.encode()
        self._starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._starts.append(len(self.bytes))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the offsets of a node's first byte and of the byte after its last."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end_column

    def of(self, node: ast.expr | ast.stmt) -> str:
        """Return a node's text."""
        start, end = self.span(node)
        return self.bytes[start:end].decode("utf-8", "replace")

    def shown(self, node: ast.expr | ast.stmt) -> str:
        """Return a node's text on one line, truncated if it is long."""
        line = " ".join(self.of(node).split())
        return line if len(line) <= _TEXT_CHARS else f"{line[: _TEXT_CHARS - 1]}…"


class _EditFinder:
    """Finds all edits of a statement and of the nodes in it."""

    def __init__(self, text: _SourceText, tree: ast.Module) -> None:
        self._text = text
        texts = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
        self._names = [text for text in texts if _match_numbered_name(text)]

    def edits_in(self, node: ast.AST) -> Iterator[MutantEdit]:
        """Yield the edits of a node, except in messages and annotations."""
        if isinstance(node, ast.Assert):
            yield from self._edits_of_assertion(node)
            return
        if isinstance(node, (ast.JoinedStr, ast.arguments)) or _called_name(node) in _NOT_MUTATED:
            return
        yield from self._edits_of_node(node)
        for child in ast.iter_child_nodes(node):
            if child is not getattr(node, "annotation", None) and child is not getattr(node, "returns", None):
                yield from self.edits_in(child)

    def _edits_of_node(self, node: ast.AST) -> Iterator[MutantEdit]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield MutantEdit("action", node, "pass", f"leave out {self._text.shown(node)}")
        elif isinstance(node, (ast.Assign, ast.Return, ast.IfExp)):
            yield from self._edits_of_used_calls(node)
        if isinstance(node, (ast.If, ast.IfExp)):
            yield self._negate_condition(node.test)
        elif isinstance(node, ast.comprehension):
            yield from (self._negate_condition(test) for test in node.ifs)
        elif isinstance(node, ast.Lambda) and isinstance(node.body, ast.Compare):
            yield self._negate_condition(node.body)
        elif isinstance(node, ast.List):
            yield from self._edits_of_list(node)
        elif isinstance(node, ast.Call):
            yield from (c for a in (*node.args, *(k.value for k in node.keywords)) for c in self._edits_of_argument(a))
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            yield from self._edits_of_argument(node.slice)

    def _edits_of_assertion(self, node: ast.Assert) -> Iterator[MutantEdit]:
        test = node.test
        yield MutantEdit("assertion", test, "True", f"assert nothing instead of {self._text.shown(test)}")
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for i, left_out in enumerate(test.values):
                kept = " and ".join(f"({self._text.of(v)})" for j, v in enumerate(test.values) if j != i)
                yield MutantEdit("assertion", test, kept, f"assert without {self._text.shown(left_out)}")
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Eq, ast.In)) and len(test.ops) == 1:
            whole = test.left if isinstance(test.ops[0], ast.Eq) else test.comparators[0]
            yield MutantEdit("assertion", test, f"({self._text.of(whole)})", f"assert just {self._text.shown(whole)}")

    def _edits_of_used_calls(self, node: ast.Assign | ast.Return | ast.IfExp) -> Iterator[MutantEdit]:
        """Leave out actions whose result is used: the result becomes empty."""
        values = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node.value]
        for value in values:
            match value:
                case ast.Call(ast.Attribute(ast.Name("agent"))):
                    yield MutantEdit("action", value, "''", f"leave out {self._text.shown(value)}")

    def _negate_condition(self, test: ast.expr) -> MutantEdit:
        says = f"turn round {self._text.shown(test)}"
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
            left, right = self._text.of(test.left), self._text.of(test.comparators[0])
            if isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                says = f"move the border of {self._text.shown(test)}"
            return MutantEdit("condition", test, f"({left}) {_OPPOSITE[type(test.ops[0])]} ({right})", says)
        return MutantEdit("condition", test, f"(not ({self._text.of(test)}))", says)

    def _edits_of_list(self, node: ast.List) -> Iterator[MutantEdit]:
        literal = all(isinstance(element, ast.Constant) for element in node.elts)
        if not literal or len(node.elts) < 2:
            return
        for place, kept in {"first": node.elts[1:], "last": node.elts[:-1]}.items():
            left_out = node.elts[0 if place == "first" else -1]
            text = f"[{', '.join(self._text.of(e) for e in kept)}]"
            yield MutantEdit("list", node, text, f"leave out {self._text.shown(left_out)}, {place} of {len(node.elts)}")

    def _edits_of_argument(self, node: ast.expr) -> Iterator[MutantEdit]:
        """Change a name or a number in an argument."""
        if not isinstance(node, ast.Constant):
            return
        if type(node.value) is int:
            yield MutantEdit("number", node, str(node.value + 1), f"{node.value + 1} instead of {node.value}")
        elif isinstance(node.value, str) and (found := _match_numbered_name(node.value)):
            changed = f"{node.value[: found.start(1)]}{int(found[1]) + 1}"
            yield MutantEdit("name", node, repr(changed), f"{changed!r} instead of {node.value!r}")
            other = next((n for n in self._names if n.split()[0] != node.value.split()[0]), None)
            if other is not None:
                yield MutantEdit("name", node, repr(other), f"{other!r} instead of {node.value!r}")


def _match_numbered_name(value: object) -> re.Match[str] | None:
    """Match a name such as ``fridge 1``."""
    return _NUMBERED.fullmatch(value) if isinstance(value, str) else None


def _called_name(node: ast.AST) -> str:
    """Return the name of the function that a statement or expression calls, or ""."""
    call = node.value if isinstance(node, ast.Expr) else node
    return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
