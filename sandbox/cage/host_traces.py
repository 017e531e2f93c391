"""Removes what a zygote knows about its host, so that its workers do not have it: paths, names, addresses in memory.

A path reveals users, folders and versions of the host. A locked worker cannot open files, so it needs no paths. An
address reveals the layout of the process's memory to a plan, differs in each run, and would reach prompts through error
messages. Python writes texts with addresses in many places (``str``, f-strings, ``%``, containers, its own errors), so
each zygote changes them once in the types themselves, which all these places use. So it does where a type's own method
would show memory or lose an error that ends a plan.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import operator
import os
import sys
import weakref
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # not in the stubs
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec
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
from typing import Any, Final, TypeAlias
from xml.etree.ElementTree import Element

from codeplan.sandbox.runtime.termination import find_limit


def remove_host_paths() -> None:
    """Remove them from ``sys``, from all loaded modules and from all functions.

    Nothing can be imported from files afterwards.
    """
    roots = _path_roots()
    for arguments in (sys.argv, sys.orig_argv, sys.path):
        arguments.clear()
    sys.path_importer_cache.clear()
    for name, module in list(sys.modules.items()):
        _clean_module(name, module)
    if "platform" in sys.modules:
        vars(sys.modules["platform"])["_uname_cache"] = None
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            _clean_function(thing, roots)
        elif type(thing) is dict:
            _clean_table(thing, roots)


def _path_roots() -> tuple[str, ...]:
    """The prefixes of the host's paths."""
    places = (*sys.path, sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable))
    return tuple({place for place in places if os.path.isabs(place) and os.path.dirname(place) != place})


def _clean_table(table: dict[Any, Any], roots: tuple[str, ...]) -> None:
    """Clean a module's names (``sys.prefix``), or the interpreter's table of the extensions that it has loaded."""
    for key, value in list(table.items()):
        if type(value) is str and value.startswith(roots):
            table[key] = ""
        elif type(key) is tuple and key and type(key[0]) is str and key[0].startswith(roots):
            del table[key]


def _clean_module(name: str, module: ModuleType) -> None:
    table = vars(module)
    for attribute in ("__file__", "__cached__"):
        if isinstance(table.get(attribute), str):
            table[attribute] = _shown_name(name)
    if "__path__" in table:
        table["__path__"] = []
    spec = table.get("__spec__")
    if isinstance(spec, ModuleSpec):
        _clean_spec(spec)
    loader: Any = table.get("__loader__")
    if isinstance(getattr(loader, "path", None), str):
        loader.path = _shown_name(name)


def _clean_spec(spec: ModuleSpec) -> None:
    if spec.has_location:
        spec.origin = spec.cached = _shown_name(spec.name)
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations = []
    spec.loader_state = None


def _clean_function(function: FunctionType, roots: tuple[str, ...]) -> None:
    """Give a function's code, with all code in it, the name of its module instead of its file's path."""
    if os.path.isabs(function.__code__.co_filename):
        _fix_co_filename(function.__code__, _shown_name(function.__module__ or "?"))
    if any(type(value) is str and value.startswith(roots) for value in function.__defaults__ or ()):
        function.__defaults__ = tuple("" if type(v) is str else v for v in function.__defaults__ or ())


def _shown_name(module: str) -> str:
    return f"<{module}>"


_WRITTEN_IN_C: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_SIZE: Final = ctypes.sizeof(ctypes.c_void_p)
_WORDS: Final = type.__dict__["__basicsize__"].__get__(type) // _SIZE  # of a class
_MAX_WORDS: Final = 40  # a type's slots stand within this many words of its start
_Word: TypeAlias = ctypes.c_void_p


def hide_addresses() -> None:
    """Make the texts of this process's objects, and of its future children's, end before the address, and show nothing
    of the memory beside an object.

    Types with a ``__repr__`` of their own keep it. Raises: RuntimeError: this Python keeps its types in another way.
    """
    _replace_methods("__repr__", _TEXTS)
    _replace_methods("__str__", _MESSAGES)
    if any(f"{id(each):x}" in repr(each) for each in (object(), iter(()), {}.get, hide_addresses)):
        raise RuntimeError("this Python shows addresses in texts that cannot be replaced")
    if "0x" in str(UnicodeDecodeError("utf-8", b"", -1, 0, "")):
        raise RuntimeError("this Python shows memory in texts that cannot be replaced")


def ask_first_in_bytes() -> None:
    """Make ``x in b""`` ask ``x`` for a number where no error is lost: Python's own tries another way after any error,
    also after one that ends a plan.
    """
    _replace_methods("__contains__", {kind: _contains(kind) for kind in (bytes, bytearray)})


def _contains(kind: Any) -> Callable[[Any, Any], bool]:
    usual: Callable[[Any, Any], bool] = kind.__contains__

    def contains(owner: Any, key: Any, /) -> bool:
        if not type(key).__flags__ & _WRITTEN_IN_C:
            try:
                key = operator.index(key)
            except Exception as error:
                if find_limit(error) is not None:
                    raise
                key = _buffer(key)
        return usual(owner, key)

    contains.__name__, contains.__qualname__ = "__contains__", f"{kind.__name__}.__contains__"
    return contains


def _buffer(value: Any) -> memoryview:
    try:
        return memoryview(value)
    except TypeError:
        raise TypeError(f"a bytes-like object is required, not {type(value).__name__!r}") from None


def _replace_methods(method: str, functions: dict[type, Callable[..., Any]]) -> None:
    """Replace a method of types that are written in C, and of those that inherit it."""
    find, by_name = _find_slot(method)
    modified = ctypes.pythonapi.PyType_Modified
    modified.argtypes, modified.restype = [ctypes.py_object], None
    for kind, function in functions.items():
        before = find(kind).value
        (table,) = gc.get_referents(vars(kind))  # behind the view: attributes of a type in C cannot be set
        table[method] = function
        modified(kind)
        for each in _with_subtypes(kind):
            if find(each).value == before:
                find(each).value = by_name


def _find_slot(method: str) -> tuple[Callable[[type], _Word], int | None]:
    """Return what finds the word of a type that is its C function for a method, and the one that looks the method up by
    its name.

    Of two classes that differ in this method alone, it is the word that those with the method share. It stands in the
    type or in a table, to which a word of the type points.
    """
    plain_class, named_class, also_named = (type("Kind", (), names) for names in ({}, {method: str}, {method: repr}))
    for slot in range(_WORDS):
        plain, named, also = (_word(kind, slot).value for kind in (plain_class, named_class, also_named))
        if slot < _MAX_WORDS and plain == _word(object, slot).value != named == also:
            return partial(_word, at=slot), named
        if slot >= _MAX_WORDS and plain is None and named is not None and named == also:
            starts = {at: ((_word(named_class, at).value or 0) - id(named_class)) // _SIZE for at in range(_MAX_WORDS)}
            pointer = max((at for at, start in starts.items() if 0 < start <= slot), key=lambda at: starts[at])
            return partial(_word_of_table, pointer=pointer, at=slot - starts[pointer]), named
    raise RuntimeError("this Python keeps the methods of its types in an unknown place")


def _word_of_table(kind: type, pointer: int, at: int) -> _Word:
    return _Word.from_address((_word(kind, pointer).value or 0) + at * _SIZE)


def _word(kind: type, at: int) -> _Word:
    return _Word.from_address(id(kind) + at * _SIZE)


def _with_subtypes(kind: type) -> set[type]:
    found, to_do = {kind}, [kind]
    while to_do:
        new: set[type] = set(type.__subclasses__(to_do.pop())) - found
        found |= new
        to_do += new
    return found


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


def _element_text(element: Element) -> str:
    return f"<Element {element.tag!r}>"


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
    Element: _element_text,
    memoryview: _object_text,
    weakref.ref: _object_text,
    weakref.WeakKeyDictionary: _object_text,
    weakref.WeakValueDictionary: _object_text,
}


def _codec_text(kind: type, content: type, start_of_text: str, unit: str, shown: Callable[[Any], str]) -> Any:
    """Return the ``__str__`` of an error about a part of ``content``, which shows what stands there.

    Python's own trusts the object and the place that a plan may have written, and reads any memory.
    """
    read = [kind.__dict__[name].__get__ for name in ("object", "start", "end", "encoding", "reason")]
    item: Any = content.__dict__["__getitem__"]
    length: Any = content.__dict__["__len__"]

    def text(error: Any) -> str:
        given, start, end, encoding, reason = (get(error) for get in read)
        if given is None:  # not initialised
            return ""
        if issubclass(type(given), content) and 0 <= start < length(given) and end == start + 1:
            what = f"{unit} {shown(item(given, start))} in position {start}"
        else:
            what = f"{unit}s in position {start}-{end - 1}"
        return f"{start_of_text.format(encoding)} {what}: {reason!s}"

    return text


def _character(character: str) -> str:
    number = ord(character)
    return f"'\\x{number:02x}'" if number < 2**8 else f"'\\u{number:04x}'" if number < 2**16 else f"'\\U{number:08x}'"


_MESSAGES: Final[dict[type, Callable[[Any], str]]] = {
    UnicodeDecodeError: _codec_text(UnicodeDecodeError, bytes, "'{}' codec can't decode", "byte", "0x{:02x}".format),
    UnicodeEncodeError: _codec_text(UnicodeEncodeError, str, "'{}' codec can't encode", "character", _character),
    UnicodeTranslateError: _codec_text(UnicodeTranslateError, str, "can't translate", "character", _character),
}
