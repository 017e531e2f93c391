"""Small changes to a plan that its tests should notice: mutants, as edits of its text.

Two families. An assertion is weakened: does anything show that it is needed? (``assertion``.) And what the plan does is
changed: an action left out, a name or a number replaced, a condition turned round (``action``, ``name``, ``number``,
``condition``, ``list``). Messages, prints and questions are left alone. After Jia and Harman, "An Analysis and Survey
of the Development of Mutation Testing", IEEE TSE 37(5), 2011, with operators for plans.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from codeplan.sandbox.language.outline import Outline, outline
from codeplan.sandbox.language.syntax import parse

MOST_MUTANTS: Final = 1_000
"""Of a longer plan, the first ones."""

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
_SILENT: Final = frozenset({"print", "ask_llm", "ask"})
"""What is called with texts for others, which no test of the plan can be held to."""


class Change(NamedTuple):
    """One change: the part of the tree whose text is replaced, by what, and what that is called."""

    kind: str
    node: ast.expr | ast.stmt
    text: str
    says: str


def mutants(source: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The mutants of a plan, in the order of its text. ``arguments`` is empty.

    Each is ``{"name", "kind", "step", "line", "start", "end", "text"}``: the bytes of the source from ``start`` up to
    ``end`` are replaced by ``text``. ``step`` is None outside the steps. Names differ, and stay the same where other
    parts of the plan change. Raises PlanRefused where the source is not Python.
    """
    tree = parse(source)
    text = _Text(source)
    parts = outline(tree)
    found = [(step, change) for step, statement in _statements(parts) for change in _Changes(text, tree).of(statement)]
    found.sort(key=lambda item: (item[1].node.lineno, item[1].node.col_offset))
    seen: dict[str, int] = {}
    return [_told(text, step, change, seen) for step, change in found[:MOST_MUTANTS]]


def _statements(parts: Outline) -> Iterator[tuple[int | None, ast.stmt]]:
    for part in parts.parts:
        for statement in part.body:
            yield part.step, statement


def _told(text: _Text, step: int | None, change: Change, seen: dict[str, int]) -> dict[str, Any]:
    start, end = text.span(change.node)
    name = f"{'outside' if step is None else f'step {step}'}: {change.says}"
    seen[name] = count = seen.get(name, 0) + 1
    return {
        "name": name if count == 1 else f"{name} ({count})",
        "kind": change.kind,
        "step": step,
        "line": change.node.lineno,
        "start": start,
        "end": end,
        "text": change.text,
    }


class _Text:
    """A plan's text, by the places that a syntax tree names."""

    def __init__(self, source: str) -> None:
        self.bytes = source.encode()
        self._starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._starts.append(len(self.bytes))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The first byte of a node's text, and the one after the last."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end_column

    def of(self, node: ast.expr | ast.stmt) -> str:
        """A node's text."""
        start, end = self.span(node)
        return self.bytes[start:end].decode("utf-8", "replace")

    def shown(self, node: ast.expr | ast.stmt) -> str:
        """A node's text on one line, cut where it is long."""
        line = " ".join(self.of(node).split())
        return line if len(line) <= _TEXT_CHARS else f"{line[: _TEXT_CHARS - 1]}…"


class _Changes:
    """All changes to a statement and what is in it."""

    def __init__(self, text: _Text, tree: ast.Module) -> None:
        self._text = text
        texts = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
        self._names = [text for text in texts if _numbered(text)]

    def of(self, node: ast.AST) -> Iterator[Change]:
        """The changes, without those in what is said rather than done."""
        if isinstance(node, ast.Assert):
            yield from self._of_assertion(node)
            return
        if isinstance(node, (ast.JoinedStr, ast.arguments)) or _called(node) in _SILENT:
            return
        yield from self._of_node(node)
        for child in ast.iter_child_nodes(node):
            yield from self.of(child)

    def _of_node(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) not in _SILENT:
            yield Change("action", node, "pass", f"leave out {self._text.shown(node)}")
        elif isinstance(node, (ast.Assign, ast.Return, ast.IfExp)):
            yield from self._of_used_calls(node)
        if isinstance(node, (ast.If, ast.IfExp)):
            yield self._turned(node.test)
        elif isinstance(node, ast.comprehension):
            yield from (self._turned(test) for test in node.ifs)
        elif isinstance(node, ast.Lambda) and isinstance(node.body, ast.Compare):
            yield self._turned(node.body)
        elif isinstance(node, ast.List):
            yield from self._of_list(node)
        elif isinstance(node, ast.Call):
            yield from (c for a in (*node.args, *(k.value for k in node.keywords)) for c in self._of_argument(a))
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            yield from self._of_argument(node.slice)

    def _of_assertion(self, node: ast.Assert) -> Iterator[Change]:
        test = node.test
        yield Change("assertion", test, "True", f"assert nothing instead of {self._text.shown(test)}")
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for i, left_out in enumerate(test.values):
                kept = " and ".join(f"({self._text.of(v)})" for j, v in enumerate(test.values) if j != i)
                yield Change("assertion", test, kept, f"assert without {self._text.shown(left_out)}")
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Eq, ast.In)) and len(test.ops) == 1:
            whole = test.left if isinstance(test.ops[0], ast.Eq) else test.comparators[0]
            yield Change("assertion", test, f"({self._text.of(whole)})", f"assert just {self._text.shown(whole)}")

    def _of_used_calls(self, node: ast.Assign | ast.Return | ast.IfExp) -> Iterator[Change]:
        """Actions whose answer is used: without them, there is none."""
        values = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node.value]
        for value in values:
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and _is_agent(value.func.value):
                yield Change("action", value, "''", f"leave out {self._text.shown(value)}")

    def _turned(self, test: ast.expr) -> Change:
        says = f"turn round {self._text.shown(test)}"
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
            left, right = self._text.of(test.left), self._text.of(test.comparators[0])
            if isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                says = f"move the border of {self._text.shown(test)}"
            return Change("condition", test, f"({left}) {_OPPOSITE[type(test.ops[0])]} ({right})", says)
        return Change("condition", test, f"(not ({self._text.of(test)}))", says)

    def _of_list(self, node: ast.List) -> Iterator[Change]:
        literal = all(isinstance(element, ast.Constant) for element in node.elts)
        if not literal or len(node.elts) < 2:
            return
        for place, kept in {"first": node.elts[1:], "last": node.elts[:-1]}.items():
            left_out = node.elts[0 if place == "first" else -1]
            text = f"[{', '.join(self._text.of(e) for e in kept)}]"
            yield Change("list", node, text, f"leave out {self._text.shown(left_out)}, {place} of {len(node.elts)}")

    def _of_argument(self, node: ast.expr) -> Iterator[Change]:
        """A name or a number that something is called with."""
        if not isinstance(node, ast.Constant):
            return
        if type(node.value) is int:
            yield Change("number", node, str(node.value + 1), f"{node.value + 1} instead of {node.value}")
        elif isinstance(node.value, str) and (found := _numbered(node.value)):
            changed = f"{node.value[: found.start(1)]}{int(found[1]) + 1}"
            yield Change("name", node, repr(changed), f"{changed!r} instead of {node.value!r}")
            other = next((n for n in self._names if n.split()[0] != node.value.split()[0]), None)
            if other is not None:
                yield Change("name", node, repr(other), f"{other!r} instead of {node.value!r}")


def _numbered(value: object) -> re.Match[str] | None:
    """The parts of a name such as ``fridge 1``; None for anything else."""
    return _NUMBERED.fullmatch(value) if isinstance(value, str) else None


def _called(node: ast.AST) -> str:
    """The name of the function that a statement or an expression calls; empty where it is no such call."""
    call = node.value if isinstance(node, ast.Expr) else node
    return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""


def _is_agent(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "agent"
