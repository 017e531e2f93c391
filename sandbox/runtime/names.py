"""The names that the runtime gives to a plan, and hints for names that it lacks."""

from __future__ import annotations

import builtins

from codeplan.sandbox.runtime.module_names import (
    ALLOWED_MODULES,
    PREDEFINED_MEMBERS,
    PREDEFINED_MODULES,
    REFUSED_MODULES,
    split_names,
)

ENDING_NAMES = frozenset({"replan", "give_up"})
"""Functions that end the run on purpose."""

RUNTIME_NAMES = frozenset({"agent", "ask_llm", "ask", "start_from", "print", "literal_eval"}) | ENDING_NAMES
"""Names that a plan reads but never binds. They are never part of a checkpoint."""

RESERVED_NAMES = RUNTIME_NAMES | {"solution"}
"""Names that a plan may not bind, except as parameters of its own functions."""

ALLOWED_EXCEPTIONS = split_names(
    "ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError "
    "ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError "
    "EOFError EnvironmentError Exception FileExistsError FileNotFoundError FloatingPointError IOError "
    "ImportError IndentationError IndexError InterruptedError IsADirectoryError KeyError LookupError "
    "ModuleNotFoundError NameError NotADirectoryError "
    "BytesWarning "
    "DeprecationWarning EncodingWarning FutureWarning ImportWarning NotImplementedError OSError OverflowError "
    "PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError "
    "ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning "
    "SystemError TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError "
    "UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError"
)
"""Exceptions by name. All derive from Exception: no plan may catch a limit."""

CALL_ERRORS = ALLOWED_EXCEPTIONS - split_names(
    "AssertionError EnvironmentError Exception IOError RecursionError StopAsyncIteration StopIteration "
    "UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError"
)
"""Exceptions that a failed call of the agent may raise in a plan. Each takes one text, and means nothing else there."""

PLAIN_BUILTINS = split_names(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float "
    "frozenset hex int isinstance issubclass iter len list map max min next oct ord range repr reversed round "
    "set slice "
    "sorted str sum tuple zip"
)
"""Builtins used unchanged: they touch only their arguments, and a plan has no objects with hooks."""

GUARDED_BUILTINS = frozenset({"format", "getattr", "hasattr", "hash", "id", "pow", "type"})
"""Builtins replaced by versions that call the guards."""

ANNOTATION_MODULES = frozenset({"typing", "__future__"})
"""Modules that only serve annotations. The compiler drops annotations and these imports."""

PREDEFINED_NAMES = (
    RUNTIME_NAMES | ALLOWED_EXCEPTIONS | PLAIN_BUILTINS | GUARDED_BUILTINS | PREDEFINED_MODULES | PREDEFINED_MEMBERS
)
"""Every name that a plan can read without binding it."""

_NO_CLASSES = "plans have no classes; keep data in a dict and behaviour in functions"
_NO_FILES = "plans cannot reach files; use the agent's methods, and keep data in variables"
_ONLY_EXCEPTION = "write `except Exception`; a plan can raise and catch no more than that"

NAME_HINTS: dict[str, str] = {
    "input": "nothing can be typed here; ask the model with ask_llm(question)",
    "open": _NO_FILES,
    "eval": "use literal_eval(text) to read a value out of a text",
    "exec": "write the code itself",
    "compile": "write the code itself",
    "__import__": "write `import` and the module's name",
    "globals": "use variables, or a dict of your own",
    "locals": "use variables, or a dict of your own",
    "vars": "use variables, or a dict of your own",
    "dir": "the agent's methods are listed in its description",
    "help": "the agent's methods are listed in its description",
    "setattr": "attributes cannot be written; keep the value in a variable or a dict",
    "delattr": "attributes cannot be deleted; keep the value in a variable or a dict",
    "exit": "use return to end the plan",
    "quit": "use return to end the plan",
    "breakpoint": "use print to show a value",
    "memoryview": "use a list or bytes",
    "object": _NO_CLASSES,
    "super": _NO_CLASSES,
    "property": _NO_CLASSES,
    "classmethod": _NO_CLASSES,
    "staticmethod": _NO_CLASSES,
    "BaseException": _ONLY_EXCEPTION,
    "KeyboardInterrupt": _ONLY_EXCEPTION,
    "SystemExit": _ONLY_EXCEPTION + "; use return to end the plan",
    "GeneratorExit": _ONLY_EXCEPTION,
    "MemoryError": _ONLY_EXCEPTION,
}
"""Advice on what to write instead of a builtin that plans lack."""


def suggest_replacement(name: str) -> str | None:
    """Return what to write instead of a name that the runtime lacks, or None."""
    if name in NAME_HINTS:
        return NAME_HINTS[name]
    if name in REFUSED_MODULES:
        return REFUSED_MODULES[name]
    if name in ALLOWED_MODULES and name not in PREDEFINED_MODULES:
        return f"write `import {name}` first"
    if homes := [m for m in _OFTEN_FORGOTTEN if name in ALLOWED_MODULES[m]]:
        return f"write `from {homes[0]} import {name}` first"
    if homes := [f"`{module}.{name}`" for module in sorted(PREDEFINED_MODULES) if name in _members_with_hint(module)]:
        return f"did you mean {' or '.join(homes)}? Otherwise set it first"
    if name in vars(builtins):
        return "plans do not have this builtin; write the loop or the expression itself"
    return None


_OFTEN_FORGOTTEN = ("copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools", "statistics")
"""Modules whose members a plan may have meant by their names alone."""


def _members_with_hint(module: str) -> frozenset[str]:
    """The module's members that a plan may have meant by their name alone. Letters such as ``e`` are variables."""
    return frozenset(name for name in ALLOWED_MODULES[module] if len(name) > 1)
