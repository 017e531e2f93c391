"""A small stand-in for the module ``libcst``, for the zygote of the checks.

libcst's parser is native code. It takes the classes of its nodes, by name, from the module ``libcst`` as it builds the
tree. Here they are plain records: the parser accepts, refuses and reads the same texts, but the process loads one
native module instead of eighty of Python, and each tree takes a third of the memory. Transformations of plan text need
the whole of libcst; the zygote for analyses has it.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace


def install() -> None:
    """Make ``import libcst`` give this module. Call it before anything imports libcst. Raises ImportError."""
    package = find_spec("libcst")
    found = PathFinder.find_spec("libcst.native", package.submodule_search_locations) if package else None
    if found is None or found.loader is None:
        raise ImportError("libcst has no native parser here; install libcst 1.8 or newer")
    sys.modules["libcst"] = lean = ModuleType("libcst")
    vars(lean).update(
        __spec__=SimpleNamespace(_initializing=False),  # as an import sets it; without it, each node costs an exception
        __getattr__=partial(_make_class, lean),
        ParserSyntaxError=ParserSyntaxError,
    )
    sys.modules["libcst.native"] = native = module_from_spec(found)
    found.loader.exec_module(native)
    vars(lean)["parse_module"] = partial(native.parse_module, encoding="utf-8")


class ParserSyntaxError(Exception):
    """The parser's refusal of a text, with libcst's names."""

    def __init__(self, message: str, *, lines: object, raw_line: int, raw_column: int) -> None:
        super().__init__(message)
        self.raw_line, self.raw_column = raw_line, raw_column


class _LeanNode(SimpleNamespace):
    """A node with the fields that the parser gives it. A field that it leaves out is None."""

    __slots__ = ()

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def _make_class(module: ModuleType, name: str) -> type[_LeanNode]:
    """Make the class for a name at its first use."""
    if name.startswith("__"):
        raise AttributeError(name)
    made = type(name, (_LeanNode,), {"__slots__": ()})
    setattr(module, name, made)
    return made
