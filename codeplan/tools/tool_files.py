"""Reads tools, verifiers and others from Python files of the user: ``FILE.py``, ``FILE.py:NAME,…``, ``FILE.py:NAME``.

The file runs in this process, with the rights of the user who named it.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.machinery import ModuleSpec, PathFinder
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from codeplan.errors import UsageError
from codeplan.tools.python_tools import python_tools
from codeplan.tools.tool import Tool
from codeplan.untrusted.differences import nearest_name
from codeplan.untrusted.noun_phrases import with_article, with_count
from codeplan.untrusted.scalars import type_name
from codeplan.untrusted.terminal import MAX_REASON_CHARS, echo_message, message_text, one_line
from codeplan.untrusted.values import in_quotes

_numbers = count(1)
_loaded: dict[Path, ModuleType] = {}
_loading = threading.RLock()  # reentrant: a file may begin an episode with tools of another file


def tools_of_file(given: str) -> tuple[Tool, ...]:
    """The tools of ``FILE.py`` (its own public functions) or ``FILE.py:NAME,…`` (functions and objects).

    Raises: UsageError: the file cannot be imported, or offers no such tool.
    """
    path, names = _split(given)
    module = _load(path)
    things = [(name, _member(module, path, name)) for name in names]
    for name, thing in things:
        _tell_foreign_object(name, thing, module)
    return python_tools(*(thing for _, thing in things) if names else (module,))


def function_of_file(given: str, form: str) -> Any:
    """The function that ``FILE.py:FUNCTION`` names. Raises: UsageError: there is none; ``form`` says what is wanted."""
    return object_of_file(given, f"names no single function; write FILE.py:FUNCTION, a function {form}")


def object_of_file(given: str, otherwise: str) -> Any:
    """The object that ``FILE.py:NAME`` names. ``otherwise`` is the message for a text of another form. Raises:
    UsageError: it has none.
    """
    path, names = _split(given)
    if len(names) != 1:
        raise UsageError(f"{in_quotes(given)} {otherwise}")
    return _member(_load(path), path, names[0])


def _tell_foreign_object(name: str, thing: object, module: ModuleType) -> None:
    """Tell the user how many methods of an object become tools, if its class is not of the file: it may be there for
    another purpose, such as a path.
    """
    kind = type(thing)
    if inspect.isroutine(thing) or kind.__module__ in ("builtins", "functools", module.__name__):
        return
    tools = with_count(len(python_tools(thing)), "tool")
    echo_message(f"{name} is {with_article(kind.__name__)}, with its public methods as {tools}", "codeplan: ", err=True)


def _split(given: str) -> tuple[Path, list[str]]:
    file, _, names = given.partition(".py:")
    if not names:
        return Path(given), []
    return Path(f"{file}.py"), [name.strip() for name in names.split(",") if name.strip()]


def _load(path: Path) -> ModuleType:
    """The file as a module, loaded once, by whichever thread is first. What it imports from its own folder is found.

    What it prints meanwhile goes to standard error: standard output may be for a JSON document.
    """
    if not os.path.isfile(path):  # the method raises for names that no file can have
        wrong = f"{_shown(path)} is a folder" if os.path.isdir(path) else f"there is no file {_shown(path)}"
        raise UsageError(f"{wrong}; name a Python file: FILE.py, or FILE.py:NAME")
    with _loading:
        known = _loaded.get(path.resolve())
        return _load_first(path) if known is None else known


def _load_first(path: Path) -> ModuleType:
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{_shown(path)} is no Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    _find_modules_in(str(path.resolve().parent))
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        said = one_line(f"{type_name(error)}: {message_text(error)}", MAX_REASON_CHARS)
        raise UsageError(f"{_shown(path)} cannot be imported: {said}{_line(error, path)}") from error
    _loaded[path.resolve()] = module
    return module


class _FolderFinder:
    """Finds what files import from their own folders, after everything that is installed.

    The folders stay out of ``sys.path``: the sandbox's processes import from there, also what is optional.
    """

    def __init__(self) -> None:
        self.folders: list[str] = []

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module of this name in one of the folders; no module of Python's own, which another system may have."""
        if path is not None or name in sys.stdlib_module_names:
            return None
        return PathFinder.find_spec(name, self.folders, target)


_finder = _FolderFinder()


def _find_modules_in(folder: str) -> None:
    if folder not in _finder.folders:
        _finder.folders.append(folder)
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)


def _line(error: BaseException, path: Path) -> str:
    """The last line of the file that was running; empty if none was, as after a SyntaxError, which names its line."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if f.filename in (str(path), str(path.absolute()))]
    return f" (line {lines[-1]})" if lines else ""


def _member(module: ModuleType, path: Path, name: str) -> Any:
    if not hasattr(module, name):
        own = [n for n, thing in vars(module).items() if getattr(thing, "__module__", None) == module.__name__]
        near = nearest_name(name, sorted(n for n in vars(module) if not n.startswith("_")))
        hint = f"; did you mean {in_quotes(near)}?" if near else f"; it defines: {', '.join(own[:20])}" if own else ""
        raise UsageError(f"{_shown(path)} has no {in_quotes(name)}{hint}")
    return getattr(module, name)


def _shown(path: Path) -> str:
    return in_quotes(str(path), MAX_REASON_CHARS)
