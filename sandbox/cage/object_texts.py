"""Texts of functions, iterators and other objects without their addresses in memory.

An address reveals the layout of the process's memory to a plan, differs in each run, and would reach prompts through
error messages. Python writes these texts in many places (``str``, f-strings, ``%``, containers, its own errors), so
each zygote changes them once in the types themselves, which all these places use.
"""

from __future__ import annotations

import builtins
import ctypes
import weakref
from collections.abc import Callable
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final

_IMMUTABLE: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE: set for every type that is written in C
_MAX_WORDS: Final = 40  # a type's flags stand within this many words of its start


def hide_addresses() -> None:
    """Make the texts of this process's objects, and of its future children's, end before the address.

    Types with a ``__repr__`` of their own keep it. On an interpreter with unknown types nothing changes.
    """
    for kind, text in _TEXTS.items():
        flags = _find_flags(kind)
        if flags is not None:
            _replace_text(kind, flags, text)


def _find_flags(kind: type) -> ctypes.c_ulong | None:
    """The flags of a type, where the interpreter keeps them."""
    for word in range(_MAX_WORDS):
        found = ctypes.c_ulong.from_address(id(kind) + word * ctypes.sizeof(ctypes.c_ulong))
        if found.value == kind.__flags__:
            return found
    return None


def _replace_text(kind: type, flags: ctypes.c_ulong, text: Callable[[Any], str]) -> None:
    before = flags.value
    flags.value = before & ~_IMMUTABLE
    try:
        kind.__repr__ = text  # type: ignore[assignment,method-assign]  # the interpreter updates all subtypes
    finally:
        flags.value = before


def _object_text(value: object) -> str:
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"<{module}{kind.__qualname__} object>"


def _function_text(function: FunctionType) -> str:
    name = function.__qualname__
    own = function.__module__ == "builtins" and hasattr(builtins, name)  # a guarded version of a builtin
    return f"<{'built-in function' if own else 'function'} {name}>"


def _builtin_text(function: BuiltinFunctionType) -> str:
    owner = function.__self__
    if owner is None or isinstance(owner, ModuleType):
        return f"<built-in function {function.__name__}>"
    return f"<built-in method {function.__name__} of {type(owner).__name__} object>"


def _wrapper_text(wrapper: MethodWrapperType) -> str:
    return f"<method-wrapper {wrapper.__name__!r} of {type(wrapper.__self__).__name__} object>"


def _named_text(value: Any) -> str:
    """The text of a generator and the like, with the name of the function that made it."""
    return f"<{type(value).__name__} object {value.__qualname__}>"


def _code_text(code: CodeType) -> str:
    return f"<code object {code.co_name}>"


_TEXTS: Final[dict[type, Callable[[Any], str]]] = {
    object: _object_text,  # and the text of all types without a ``__repr__`` of their own, such as iterators
    FunctionType: _function_text,
    BuiltinFunctionType: _builtin_text,
    MethodWrapperType: _wrapper_text,
    GeneratorType: _named_text,
    CoroutineType: _named_text,
    AsyncGeneratorType: _named_text,
    CodeType: _code_text,
    FrameType: _object_text,
    CellType: _object_text,
    memoryview: _object_text,
    weakref.ref: _object_text,
}
