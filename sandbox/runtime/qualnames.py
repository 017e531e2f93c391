"""Gives functions the names that they would have in plain Python, for error messages."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


def set_name(name: str, function: _Function) -> _Function:
    """Return the function with this name in errors and in its repr."""
    function.__qualname__ = function.__name__ = name
    function.__module__ = "builtins"
    return function


def set_qualnames(code: CodeType, solution: ast.FunctionDef | None) -> CodeType:
    """Rename the functions in a segment's code as if it were not wrapped in ``_segment_``.

    A function inside ``solution`` becomes ``solution.<locals>.f``, another ``f``.
    """
    inside = range(solution.lineno, (solution.end_lineno or solution.lineno) + 1) if solution else range(0)
    return _map_inner_code(
        code,
        lambda segment: _map_inner_code(
            segment, lambda f: _qualify(f, "solution" if f.co_firstlineno in inside else "")
        ),
    )


def _qualify(code: CodeType, around: str) -> CodeType:
    name = f"{around}.<locals>.{code.co_name}" if around else code.co_name
    return _map_inner_code(code.replace(co_qualname=name), lambda inner: _qualify(inner, name))


def _map_inner_code(code: CodeType, change: Callable[[CodeType], CodeType]) -> CodeType:
    """Return ``code`` with ``change`` applied to the code objects in its constants."""
    return code.replace(co_consts=tuple(change(c) if isinstance(c, CodeType) else c for c in code.co_consts))
