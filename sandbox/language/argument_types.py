"""Whether a constant in a call can have the type that a tool declares for its parameter.

Only what is certain counts. Tools convert arguments: ``'3'`` may stand for a number. What is computed, or has a type of
another kind, is left to the run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_TRUTHS: Final = frozenset({"0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"})
"""The texts that pydantic takes for a bool, in small letters."""


def may_fit(given: ast.expr, type_text: str) -> bool:
    """Whether an argument may have a type, which is given in Python's notation; an unknown type takes everything."""
    wanted = _parsed(type_text)
    return wanted is None or _may_have(given, wanted)


@lru_cache(maxsize=1_000)
def _parsed(type_text: str) -> ast.expr | None:
    try:
        return ast.parse(type_text, mode="eval").body if type_text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def constant_of(node: ast.expr | None) -> tuple[object] | None:
    """The value of a constant, in a tuple; None for any other expression."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return (-number,)
        case ast.Constant(value=value) if value is not Ellipsis:
            return (value,)
        case _:
            return None


def _may_have(given: ast.expr, wanted: ast.expr) -> bool:
    match wanted:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _may_have(given, left) or _may_have(given, right)
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return _may_be(given, "list") and all(_may_have(part, inner) for part in _parts(given))
        case ast.Subscript(value=ast.Name(id="dict")):
            return _may_be(given, "dict")
        case ast.Subscript(value=ast.Name(id="Literal"), slice=options):
            listed = [constant_of(o) for o in (options.elts if isinstance(options, ast.Tuple) else [options])]
            value = constant_of(given)
            return value in listed or None in listed if value else not isinstance(given, _DISPLAYS)
        case ast.Name(id=name):
            return _may_be(given, name)
        case ast.Constant(value=None):
            return _may_be(given, "None")
        case _:
            return True


_DISPLAYS: Final = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _parts(given: ast.expr) -> list[ast.expr]:
    """The elements that a display shows one by one."""
    shown = given.elts if isinstance(given, ast.List | ast.Tuple | ast.Set) else []
    return [part for part in shown if not isinstance(part, ast.Starred)]


def _may_be(given: ast.expr, name: str) -> bool:
    """Whether an expression may have one of the types that are known here."""
    if name not in _TAKES:
        return True
    if isinstance(given, _DISPLAYS):
        return name in ("list", "dict")  # pydantic takes some of one for the other
    value = constant_of(given)
    return value is None or isinstance(value[0], bytes | complex) or _TAKES[name](value[0])


def _is_number(value: object) -> bool:
    """Whether a value is a number, or a text that may be read as one."""
    if not isinstance(value, str):
        return isinstance(value, int | float)
    try:
        float(value.replace("_", ""))
    except ValueError:
        return False
    return True


def _is_whole(value: object) -> bool:
    return _is_number(value) and not (isinstance(value, float) and not value.is_integer())


def _is_truth(value: object) -> bool:
    return value.strip().lower() in _TRUTHS if isinstance(value, str) else value in (0, 1)


_TAKES: Final[dict[str, Callable[[object], bool]]] = {
    "int": _is_whole,
    "float": _is_number,
    "bool": _is_truth,
    "str": lambda value: isinstance(value, str),
    "None": lambda value: value is None,
    "list": lambda value: False,
    "dict": lambda value: False,
}
"""Whether a constant may be converted to a type."""
