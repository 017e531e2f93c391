"""Facts about a statement outside the steps that the merging of a reply needs: the names that it binds and reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import libcst as cst
import msgspec

from codeplan.sandbox.language.bindings import bound_names
from codeplan.sandbox.language.name_flow import analyse_flow
from codeplan.sandbox.language.plan_outline import is_solution_call
from codeplan.sandbox.language.syntax_nodes import has_no_effect

ACTING_NAMES = frozenset({"agent", "ask_llm"})
_EMPTY = cst.Module([])


class Statement(msgspec.Struct, frozen=True, eq=False):
    """A statement outside the steps. ``code`` is equal for equal syntax; layout and comments do not count.

    ``reads`` are the names that it reads when it runs, ``deferred`` those that the functions in it read when called.
    ``head`` is the first line of a loop or a condition; None for other statements. ``is_idle`` is true for standalone
    texts, ``pass`` and calls of the plan itself.
    """

    node: cst.BaseStatement
    code: str
    names: frozenset[str]
    reads: frozenset[str]
    deferred: frozenset[str]
    head: str | None
    is_import: bool
    is_return: bool
    is_idle: bool

    @property
    def is_function(self) -> bool:
        """Whether it defines a function."""
        return isinstance(self.node, cst.FunctionDef)

    @property
    def extends(self) -> bool:
        """Whether it needs an earlier value of a name that it binds, as ``places += ['desk 1']`` does."""
        return bool(self.names & self.reads)


def describe_statement(node: cst.BaseStatement) -> Statement:
    """Describe a statement as it stands."""
    body = ast.parse(_EMPTY.code_for_node(node)).body
    flow = analyse_flow(body)
    return Statement(
        node=node,
        code=" ".join(map(ast.dump, body)),
        names=bound_names(body),
        reads=frozenset(flow.reads),
        deferred=frozenset(flow.deferred_reads),
        head=_head(body[0]),
        is_import=all(isinstance(s, ast.Import | ast.ImportFrom) for s in body),
        is_return=isinstance(body[-1], ast.Return),
        is_idle=all(has_no_effect(s) or is_solution_call(s) for s in body),
    )


def with_layout(new: cst.BaseStatement, old: cst.BaseStatement) -> cst.BaseStatement:
    """Return ``new`` with the empty lines in front of ``old``, and with its comments unless ``new`` has its own."""
    own, before = _lines_before(new), _lines_before(old)
    if not any(line.comment for line in own):
        return new.with_changes(leading_lines=before)
    return new.with_changes(leading_lines=[*empty_start(before), *own[len(empty_start(own)) :]])


def with_space(new: cst.BaseStatement, old: cst.BaseStatement) -> cst.BaseStatement:
    """Return ``new`` with at least the empty lines in front of ``old``."""
    own = _lines_before(new)
    missing = empty_start(_lines_before(old))[len(empty_start(own)) :]
    return new.with_changes(leading_lines=[*missing, *own])


def empty_start(lines: Iterable[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Return the lines before the first comment."""
    found: list[cst.EmptyLine] = []
    for line in lines:
        if line.comment is not None:
            break
        found.append(line)
    return found


def _lines_before(node: cst.BaseStatement) -> list[cst.EmptyLine]:
    return list(getattr(node, "leading_lines", ()))


def _head(statement: ast.stmt) -> str | None:
    match statement:
        case ast.For(target=target, iter=values):
            return f"for {ast.dump(target)} {ast.dump(values)}"
        case ast.While(test=test):
            return f"while {ast.dump(test)}"
        case ast.If(test=test):
            return f"if {ast.dump(test)}"
        case ast.Try():
            return "try"
        case _:
            return None
