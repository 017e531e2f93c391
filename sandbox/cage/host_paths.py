"""Removes the host's paths and name from Python's data in a zygote, so that its workers do not have them.

A path reveals users, folders and versions of the host. A locked worker cannot open files, so it needs no paths.
"""

from __future__ import annotations

import gc
import os
import sys
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # not in the stubs
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any


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
        elif type(key) is tuple and type(key[0]) is str and key[0].startswith(roots):
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
