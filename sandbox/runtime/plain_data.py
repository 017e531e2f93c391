"""Plain data: the only values that a plan may pass to its agent."""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 20
"""Maximum nesting of an argument."""

MAX_NODES = 10_000
"""Maximum number of values in an argument."""

_ATOMS = frozenset({type(None), bool, int, float, str})


def copy_plain_data(value: object, what: str = "this") -> Any:
    """Copy a value made of None, bool, int, float, str, list, tuple and dict (with str keys), all of exactly these
    types.

    ``what`` names the receiver in messages.

    Raises: TypeError: another type, or data that is too deep or too large.
    """
    left = [MAX_NODES]
    return _copy(value, what, 0, left)


def _copy(value: Any, what: str, depth: int, left: list[int]) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    left[0] -= 1 + (len(value) if kind in (list, tuple, dict) else 0)
    if left[0] < 0 or depth >= MAX_DEPTH:
        raise TypeError(f"{what} was given data that is too large or nested too deeply")
    if kind is list:
        return [_copy(v, what, depth + 1, left) for v in value]
    if kind is tuple:
        return tuple([_copy(v, what, depth + 1, left) for v in value])
    if kind is dict:
        return {_key(k, what): _copy(v, what, depth + 1, left) for k, v in value.items()}
    raise TypeError(f"{what} takes plain data (texts, numbers, lists, dicts), not a {kind.__name__}")


def _key(key: object, what: str) -> str:
    if type(key) is not str:
        raise TypeError(f"{what} takes dicts with texts as keys, not {type(key).__name__}")
    return key
