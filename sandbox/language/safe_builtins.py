"""The builtins that a plan has: the harmless ones as they are, and guarded versions of a few."""

from __future__ import annotations

import builtins
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from codeplan.sandbox.language.growth import Growth
from codeplan.sandbox.language.names import EXCEPTIONS, PLAIN_BUILTINS

_PLAIN = {name: getattr(builtins, name) for name in PLAIN_BUILTINS | EXCEPTIONS}

PLAIN_TYPES: frozenset[type] = frozenset(
    {str, bytes, int, float, complex, bool, list, dict, tuple, set, frozenset, range, slice, type(None)}
    | {Counter, OrderedDict, defaultdict, deque}
)
"""The types that ``type(x)`` may return."""

_NOTHING = object()


def make_builtins(guarded_getattr: Callable[[Any, str], Any], growth: Growth) -> dict[str, object]:
    """The builtins of one run, by name."""

    def getattr_(value: Any, name: str, default: Any = _NOTHING, /) -> Any:
        _check_attribute_name(name)
        try:
            return guarded_getattr(value, name)
        except AttributeError:
            if default is _NOTHING:
                raise
            return default

    def hasattr_(value: Any, name: str, /) -> bool:
        return getattr_(value, name, _NOTHING_THERE) is not _NOTHING_THERE

    def pow_(base: Any, exp: Any, mod: Any = None) -> Any:
        return growth.pow(base, exp, mod)

    def format_(value: Any, format_spec: Any = "", /) -> str:
        return growth.format(value, format_spec)

    return {
        **_PLAIN,
        "getattr": getattr_,
        "hasattr": hasattr_,
        "pow": pow_,
        "format": format_,
        "type": type_,
        "iter": iter_,
    }


_NOTHING_THERE = object()


def _check_attribute_name(name: object) -> None:
    if type(name) is not str:
        raise TypeError("an attribute's name must be a text")
    if name.startswith("_"):
        raise AttributeError(f"'{name}' is private; use public methods and attributes only")


def type_(value: Any, /) -> type:
    """The type of plain data. Raises TypeError for anything else."""
    kind = type(value)
    if kind in PLAIN_TYPES:
        return kind
    raise TypeError(
        f"type() is for plain data, not for a {kind.__name__}; use isinstance(x, …), or type(x).__name__ for its name"
    )


def iter_(values: Any, /) -> Iterator[Any]:
    """``iter`` of one argument: the form with a sentinel never ends by itself."""
    return iter(values)
