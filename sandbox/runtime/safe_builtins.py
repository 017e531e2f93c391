"""The builtins that a plan has: harmless ones unchanged, and guarded versions of a few."""

from __future__ import annotations

import builtins
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from codeplan.sandbox.runtime.names import ALLOWED_EXCEPTIONS, PLAIN_BUILTINS
from codeplan.sandbox.runtime.qualnames import set_name
from codeplan.sandbox.runtime.size_guard import SizeGuard
from codeplan.untrusted.noun_phrases import with_article

_UNGUARDED = {name: getattr(builtins, name) for name in PLAIN_BUILTINS | ALLOWED_EXCEPTIONS}

PLAIN_TYPES: frozenset[type] = frozenset(
    {str, bytes, int, float, complex, bool, list, dict, tuple, set, frozenset, range, slice, type(None)}
    | {Counter, OrderedDict, defaultdict, deque}
)
"""The types that ``type(x)`` may return."""

_NO_DEFAULT = object()


def make_builtins(guarded_getattr: Callable[[Any, str], Any], size_guard: SizeGuard) -> dict[str, object]:
    """Return the builtins by name."""

    def getattr_(value: Any, name: str, default: Any = _NO_DEFAULT, /) -> Any:
        _check_attribute_name(getattr, name)
        try:
            return guarded_getattr(value, name)
        except AttributeError:
            if default is _NO_DEFAULT:
                raise
            return default

    def hasattr_(value: Any, name: str, /) -> bool:
        _check_attribute_name(hasattr, name)
        return getattr_(value, name, _MISSING) is not _MISSING

    def pow_(*args: Any, **named: Any) -> Any:
        given = dict(zip(("base", "exp", "mod"), args, strict=False)) | named
        size_guard.check_power(given.get("base"), given.get("exp"), given.get("mod"))
        return pow(*args, **named)

    def format_(value: Any, format_spec: Any = "", /) -> str:
        return size_guard.format(value, format_spec)

    return {
        **_UNGUARDED,
        "getattr": _check_argument_count(getattr, getattr_, 2, 3),
        "hasattr": _check_argument_count(hasattr, hasattr_, 2, 2),
        "pow": set_name("pow", pow_),
        "format": _check_argument_count(format, format_, 1, 2),
        "type": _check_argument_count(type, guarded_type, 1, 3),
        "iter": _check_argument_count(iter, guarded_iter, 1, 2),
    }


def _check_argument_count(
    builtin: Callable[..., Any], guarded: Callable[..., Any], fewest: int, most: int
) -> Callable[..., Any]:
    """Wrap ``guarded`` so that a wrong number of arguments raises the builtin's own error."""

    def call(*args: Any, **named: Any) -> Any:
        if named or not fewest <= len(args) <= most:
            builtin(*[None] * len(args), **dict.fromkeys(named))
        return guarded(*args, **named)

    return set_name(builtin.__name__, call)


_MISSING = object()


def _check_attribute_name(builtin: Callable[..., Any], name: Any) -> None:
    if type(name) is not str:
        builtin(None, name)  # raises the builtin's own error
        raise TypeError("an attribute's name must be a text")
    if name.startswith("_"):
        raise AttributeError(f"'{name}' is private; use public methods and attributes only")


def guarded_type(value: Any, /, *more: object) -> type:
    """Return the type of plain data. Raises TypeError for anything else."""
    if more:
        raise TypeError("type() takes one argument here; plans have no classes")
    kind = type(value)
    if kind in PLAIN_TYPES:
        return kind
    raise TypeError(
        f"type() is for plain data, not for {with_article(kind.__name__)}; "
        "use isinstance(x, …), or type(x).__name__ for its name"
    )


def guarded_iter(values: Any, /, *sentinel: object) -> Iterator[Any]:
    """``iter`` with one argument only: the form with a sentinel may never end."""
    if sentinel:
        raise TypeError("iter() takes one argument here; write a loop that ends at the sentinel")
    return iter(values)
