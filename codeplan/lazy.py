"""Lets a package export names whose modules are loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    ``homes`` maps a module, relative to the package, to the names it defines, separated by spaces. ``modules`` are
    modules of the package that can be used without an import of their own.

    Raises: ImportError: a package of codeplan is imported by its short name, which would load a second copy of it.
    """
    if package.partition(".")[0] != "codeplan":
        raise ImportError(f"import codeplan.{package}, not {package}: a second copy of this package would be loaded")
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names.split()}

    own_modules = modules.split()

    def load(name: str) -> Any:
        if name in own_modules:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted([*home_of, *own_modules])
