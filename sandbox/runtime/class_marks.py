"""Decorators of ``abc`` and ``typing`` that mark what they get: the plan's own alone.

Python's would write to any class or function of the library, and thereby change what others see.
"""

from __future__ import annotations

import abc
import functools
import typing
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

from codeplan.sandbox.runtime.classes import WRITERS, is_class, is_own_class, writable_owner
from codeplan.sandbox.runtime.guards import set_name

_MAX_WRAPPERS: Final = 100
"""How many wrappers a function of the plan may have, such as those of ``contextmanager``, to be marked at the top."""

_NOTHING: Final = object()
_REFUSING: Final = (BuiltinFunctionType, property)
"""Types whose objects Python itself does not mark, besides those that ``writable_owner`` knows."""


def mark_members() -> dict[str, dict[str, object]]:
    """Return what plans get in place of a module's own decorators, by module."""
    of_typing = {name: getattr(typing, name) for name in ("final", "override") if hasattr(typing, name)}
    return {
        "abc": {"abstractmethod": set_name("abstractmethod", _abstractmethod)},
        "typing": {
            **{name: _marking(name, mark) for name, mark in of_typing.items()},
            "overload": set_name("overload", _overload),
            "runtime_checkable": set_name("runtime_checkable", _runtime_checkable),
        },
    }


def _abstractmethod(funcobj: Any) -> Any:
    """``abc.abstractmethod``."""
    return abc.abstractmethod(funcobj) if _is_markable(funcobj) else funcobj


def _marking(name: str, mark: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return set_name(name, lambda f, /: mark(f) if _is_markable(f) else f)


def _overload(func: Any) -> Any:
    """``typing.overload``; nobody keeps the function."""
    dummy: Any = typing._overload_dummy  # type: ignore[attr-defined]
    return dummy


def _runtime_checkable(cls: Any) -> Any:
    """``typing.runtime_checkable``. Protocols of the library stay as they are."""
    if is_class(cls) and not is_own_class(cls) and getattr(cls, "_is_protocol", False):
        return cls
    return typing.runtime_checkable(cls)


def _is_markable(value: Any) -> bool:
    """Return whether a value is the plan's, or made for a function of the plan, or Python itself refuses to mark it."""
    for _ in range(_MAX_WRAPPERS):
        if _is_own_or_refuses(value):
            return True
        if type(value) in (classmethod, staticmethod):
            value = value.__func__
        elif type(value) in (FunctionType, functools._lru_cache_wrapper):
            value = value.__dict__.get("__wrapped__", _NOTHING)
        else:
            break
    return False


def _is_own_or_refuses(value: Any) -> bool:
    if type(value) in WRITERS or value is _NOTHING:
        return False
    try:
        return type(value) in _REFUSING or writable_owner(value) is value
    except AttributeError:
        return False
