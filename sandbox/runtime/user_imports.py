"""Packages that plans may import by the user's word (``--imports``), beside the modules of the language.

The language cannot list what such a package holds. Plans read public attributes of its modules, classes and objects,
and write items of its objects; a module outside of the named packages is refused. The attacker may find a way from
there into the interpreter: the operating system's layers hold the process then.

The names are set once in each zygote, before its lockdown. Only the zygote for runs loads the packages.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from types import ModuleType

from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES
from codeplan.sandbox.runtime.names import FRAME_ATTRIBUTES

_admitted: set[str] = set()


class ImportRefused(Exception):
    """A package that the user named cannot be loaded; the message says which, why, and what to do."""


def find_bad_import(name: object) -> str | None:
    """Return why the user cannot name this module, as half a sentence; None if it can be tried."""
    if type(name) is not str or not all(part.isidentifier() for part in name.split(".")):
        return "is not the name of a module; write names such as numpy,pandas"
    top = name.partition(".")[0]
    if name in ALLOWED_MODULES or top == "__future__":
        return "is a module that plans have already; leave it out"
    return "is the sandbox or Python itself, which plans cannot import" if top in ("codeplan", "builtins") else None


def admit(names: Iterable[str]) -> None:
    """Let the plans of this process import these packages with all that they hold."""
    _admitted.update(name.partition(".")[0] for name in names)


def is_admitted(module: str) -> bool:
    """Return whether a plan may import this module by the user's word."""
    return module not in ALLOWED_MODULES and module.partition(".")[0] in _admitted


def plain_data_hint() -> str:
    """Return what to write for a package's value where plain data is needed; empty if there are no packages."""
    return "; write x.tolist(), float(x) or str(x)" if _admitted else ""


def load(names: Iterable[str]) -> None:
    """Import the packages and what they load lazily: a locked worker can open no file.

    Raises: ImportRefused: one fails, or starts threads, with which this process could not enter its namespaces.
    """
    for name in names:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ImportRefused(_missing(name, error)) from None
        except BaseException as error:
            raise ImportRefused(f"--imports {name}: it fails when imported: {type(error).__name__}: {error}") from None
        for attribute in dir(module):
            _touch(module, attribute)
        if len(os.listdir("/proc/self/task")) > 1:
            raise ImportRefused(
                f"--imports {name}: it starts threads when imported, which the cage forbids; leave it out"
            )
    if "numpy" in sys.modules:
        _warm_up_numpy(sys.modules["numpy"])


def _missing(name: str, error: ModuleNotFoundError) -> str:
    top = (error.name or name).partition(".")[0]
    if top == name.partition(".")[0] and "." in name and top in sys.modules:
        return f"--imports {name}: {top} has no such module"
    needs = "" if top == name.partition(".")[0] else f" it needs {top}, which"
    return f"--imports {name}:{needs or ' it'} is not installed beside codeplan; run: pip install {top}"


def _touch(module: ModuleType, attribute: str) -> None:
    """Read an attribute, which loads it if it is lazy. One that cannot be loaded is missing in plans, too."""
    try:
        getattr(module, attribute)
    except Exception:
        return


def _warm_up_numpy(numpy: ModuleType) -> None:
    """Make the libraries for linear algebra map their buffers now, so that no plan's memory limit counts them."""
    ones = numpy.ones((64, 64))
    numpy.linalg.solve(ones @ ones + numpy.eye(64), ones)


def seed_packages(number: int) -> None:
    """Seed the packages' own random numbers, so that runs can be repeated."""
    if "numpy" in _admitted:
        sys.modules["numpy"].random.seed(number % 2**32)


def import_admitted(module: str, member: str | None) -> object:
    """Return a module, or its member. Raises: ImportError: it is not loaded, or plans may not have it."""
    if module not in sys.modules:
        raise ImportError(f"the sandbox has not loaded {module}; name it when you start: --imports {module}")
    owner = sys.modules[module]
    if member is None:
        return owner
    if f"{module}.{member}" in sys.modules:
        return sys.modules[f"{module}.{member}"]
    try:
        return read_admitted(owner, member)
    except AttributeError as error:
        raise ImportError(f"cannot import name '{member}' from '{module}': {error}") from None


def is_from_admitted(value: object) -> bool:
    """Return whether a value is a module or a class of an admitted package, or an object of such a class."""
    if not _admitted:
        return False
    kind = type(value)
    if issubclass(kind, ModuleType):
        return _home(vars(value).get("__name__")) in _admitted
    if issubclass(kind, type) and _home(_module_of(value)) in _admitted:
        return True
    return _home(_module_of(kind)) in _admitted


def _module_of(kind: object) -> object:
    return type.__dict__["__module__"].__get__(kind)


def _home(module: object) -> str:
    return str.partition(module, ".")[0] if isinstance(module, str) else ""


def read_admitted(value: object, name: str) -> object:
    """Read a public attribute of what ``is_from_admitted``.

    Raises: AttributeError: there is none, it is not public, or it leads to a module outside of the named packages.
    """
    kind = type(value)
    if name.startswith("_") or name in FRAME_ATTRIBUTES:
        raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}' here; plans read public names only")
    try:
        found = getattr(value, name)
    except ImportError as error:
        raise AttributeError(f"'{name}' cannot be loaded inside the sandbox: {error}") from None
    if issubclass(type(found), ModuleType) and not is_from_admitted(found) and not _is_part(value, name, found):
        raise AttributeError(f"'{name}' is a module that plans cannot reach; name it when you start: --imports {name}")
    return found


def _is_part(owner: object, name: str, found: object) -> bool:
    """Return whether a module stands under its owner in Python's own table, as ``os.path`` does."""
    return isinstance(owner, ModuleType) and sys.modules.get(f"{owner.__name__}.{name}") is found
