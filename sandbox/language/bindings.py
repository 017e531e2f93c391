"""The names that syntax binds: by assignment, definition, loop, handler or pattern."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codeplan.sandbox.language.syntax_nodes import children, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def bound_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that these nodes bind in their own scope on some path, except by imports."""
    return frozenset(_iterate_bound_names(nodes))


def parameter_names(function: Function) -> frozenset[str]:
    """Return the names of a function's parameters."""
    a = function.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]
    return frozenset(p.arg for p in every)


def default_values(function: Function) -> list[ast.expr]:
    """Return the default values of a function's parameters, which run where it is defined."""
    return [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]


def target_names(target: ast.AST) -> frozenset[str]:
    """Return the names that an assignment's target binds."""
    return frozenset(n.id for n in walk(target) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))


def _iterate_bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield from _own_names(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            stack += default_values(node)
        elif isinstance(node, ast.comprehension):
            stack += [node.iter, *node.ifs]
        elif not isinstance(node, ast.ClassDef):
            stack += children(node)


_NAMED_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


def _own_names(node: ast.AST) -> Iterator[str]:
    name: str | None = None
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        name = node.id
    elif isinstance(node, _NAMED_NODES):
        name = node.name
    elif isinstance(node, ast.MatchMapping):
        name = node.rest
    if name is not None:
        yield name
