"""Small makers of syntax nodes."""

from __future__ import annotations

import ast
from typing import TypeVar

_T = TypeVar("_T", bound=ast.AST)


def load(name: str) -> ast.Name:
    """Read a name."""
    return ast.Name(name, ast.Load())


def call(name: str, *arguments: ast.expr) -> ast.Call:
    """Call a function by its name."""
    return ast.Call(load(name), list(arguments), [])


def at(place: ast.AST, node: _T) -> _T:
    """Give a new node the place of an old one. New nodes below it take it over when the whole is compiled."""
    return ast.copy_location(node, place)
