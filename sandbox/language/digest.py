"""Identifies a step independently of its layout: its digest and its title."""

from __future__ import annotations

import ast
import hashlib
import re

from codeplan.sandbox.language.name_flow import NameFlow, analyse_flow, bound_names, outer_names
from codeplan.sandbox.language.parsing import has_no_effect, walk
from codeplan.sandbox.language.plan_outline import PlanOutline, PlanPart, find_final_replan
from codeplan.sandbox.protocol.frames import DIGEST_CHARS, escape_surrogates
from codeplan.sandbox.protocol.limits import MAX_NAME_CHARS

_DECIMAL_BITS = 10_000  # a whole number with more is written in hexadecimal: Python refuses to write 4,300 digits
_PREFIX = re.compile(r"^\s*\[\s*[Ss]tep\s*\d+\s*\]\s*:?\s*")


def step_digests(outline: PlanOutline, flows: list[NameFlow]) -> dict[int, str]:
    """Return the digest of each step by number. It covers the step and the code outside that it uses.

    Layout, comments, quote style, standalone strings and a ``replan`` that ends the step do not count: the step does
    the same with or without them.
    """
    outside = _SharedCode(outline, flows)
    digests: dict[int, str] = {}
    for part, f in zip(outline.parts, flows, strict=True):
        if part.step is not None:
            body = _without_final_replan(part.body)
            used = f if body is part.body else analyse_flow(body)
            shared = outside.code_used_by({*used.reads, *used.deferred_reads})
            digests[part.step] = _hash([_normal_form(body), *shared])
    return digests


def _without_final_replan(body: list[ast.stmt]) -> list[ast.stmt]:
    call = find_final_replan(body)
    return body if call is None else [s for s in body if getattr(s, "value", None) is not call]


def step_title(part: PlanPart) -> str:
    """Return the text of the first ``print('[Step k] …')`` without its prefix, or ""."""
    for statement in part.body:
        text = _printed_text(statement)
        if text is not None and _PREFIX.match(text):
            return _cut(_PREFIX.sub("", text, count=1).strip())
    return ""


def _cut(title: str) -> str:
    text = escape_surrogates(title)
    return text if len(text) <= MAX_NAME_CHARS else f"{text[: MAX_NAME_CHARS - 1]}…"


def _printed_text(statement: ast.stmt) -> str | None:
    value = statement.value if isinstance(statement, ast.Expr) else None
    if not (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print" and value.args
    ):
        return None
    first = value.args[0]
    pieces = first.values if isinstance(first, ast.JoinedStr) else [first]
    return "".join(p.value if isinstance(p, ast.Constant) and isinstance(p.value, str) else "…" for p in pieces)


class _SharedCode:
    """The statements outside the steps, by the names that they bind."""

    def __init__(self, outline: PlanOutline, flows: list[NameFlow]) -> None:
        self._statements: dict[str, list[ast.stmt]] = {}
        self._known: dict[ast.stmt, tuple[str, set[str]]] = {}
        for part in outline.parts:
            for statement in part.body if part.step is None else []:
                for name in bound_names([statement]) | outer_names([statement]):
                    self._statements.setdefault(name, []).append(statement)

    def code_used_by(self, names: set[str]) -> list[str]:
        """Return the normal forms of the code that binds these names, and of what it uses in turn, sorted."""
        used: dict[ast.stmt, str] = {}
        waiting = sorted(names)
        seen = set(names)
        while waiting:
            for statement in self._statements.get(waiting.pop(), ()):
                used[statement], its_names = self._normal_form_and_names(statement)
                more = its_names - seen
                seen |= more
                waiting += sorted(more)
        return sorted(used.values())

    def _normal_form_and_names(self, statement: ast.stmt) -> tuple[str, set[str]]:
        """Return a statement's normal form and the names in it."""
        if statement not in self._known:
            names = {n.id for n in walk(statement) if isinstance(n, ast.Name)}
            self._known[statement] = (_normal_form([statement]), names)
        return self._known[statement]


_DROPPED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores", "type_params"})


def _normal_form(body: list[ast.stmt]) -> str:
    """Return equal texts for equal code. ``pass`` and standalone strings are ignored."""
    written: list[str] = []
    _write_node(body, written)
    return ",".join(written)


def _write_node(value: object, written: list[str]) -> None:
    kind = type(value)
    if isinstance(value, ast.AST):
        written.append(kind.__name__)
        for name in _RELEVANT_FIELDS[type(value)]:
            _write_node(getattr(value, name, None), written)
    elif isinstance(value, list):
        written.append("[")
        for part in value:
            if not has_no_effect(part):
                _write_node(part, written)
        written.append("]")
    else:
        written.append(f"{kind.__name__}:{_constant_text(value)}")


class _RelevantFields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields that say what the code does, by node type."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = tuple(name for name in kind._fields if name not in _DROPPED_FIELDS)
        return self[kind]


_RELEVANT_FIELDS = _RelevantFields()


def _hash(texts: list[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]


def _constant_text(value: object) -> str:
    """A constant in a form that is the same in every process; Python writes no long number in decimal."""
    return f"{value:x}" if type(value) is int and value.bit_length() > _DECIMAL_BITS else repr(value)
