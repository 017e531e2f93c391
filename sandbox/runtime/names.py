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

ASK_USER = "ask_user"
"""The function that asks the user. A plan has it only if its agent answers such calls, and may bind the name."""

RESERVED_NAMES = RUNTIME_NAMES | {"solution"}
"""Names that a plan may not bind, except as parameters of its own functions."""

READABLE_DUNDERS = split_names(
    "__abs__ __abstractmethods__ __add__ __and__ __annotations__ __args__ __base__ __bases__ __bool__ __bytes__ "
    "__call__ __cause__ __ceil__ __metadata__ __optional_keys__ __origin__ __parameters__ __required_keys__ "
    "__total__ __class__ __class_getitem__ __complex__ __contains__ __context__ __copy__ __dataclass_fields__ "
    "__dataclass_params__ __deepcopy__ __defaults__ __fspath__ __getnewargs__ __kwdefaults__ __delattr__ __delete__ "
    "__delitem__ __dict__ __dir__ __divmod__ __doc__ __enter__ __eq__ __exit__ __float__ __floor__ __floordiv__ "
    "__format__ __ge__ __get__ __getattr__ __getattribute__ __getitem__ __gt__ __hash__ __iadd__ __iand__ "
    "__ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ __index__ __init__ __init_subclass__ __int__ "
    "__invert__ __ior__ __ipow__ __irshift__ __isub__ __iter__ __itruediv__ __ixor__ __le__ __len__ __length_hint__ "
    "__lshift__ __lt__ __match_args__ __matmul__ __members__ __missing__ __mod__ __module__ __mro__ __mul__ "
    "__name__ __ne__ __neg__ __new__ __next__ __notes__ __or__ __pos__ __post_init__ __pow__ __qualname__ __radd__ "
    "__rand__ __rdivmod__ __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ "
    "__round__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __set__ __set_name__ __setattr__ "
    "__setitem__ __slots__ __str__ __sub__ __subclasses__ __suppress_context__ __truediv__ __trunc__ __wrapped__ "
    "__xor__ __aenter__ __aexit__ __aiter__ __anext__ __await__"
)
"""Names of the form ``__name__`` that a plan may read as an attribute. None leads to code, frames or modules."""

DEFINABLE_DUNDERS = READABLE_DUNDERS - split_names(
    "__abstractmethods__ __args__ __metadata__ __optional_keys__ __origin__ __parameters__ __required_keys__ "
    "__total__ __base__ __bases__ __cause__ __class__ __context__ __dataclass_fields__ __dataclass_params__ "
    "__defaults__ __dict__ __fspath__ __getnewargs__ __kwdefaults__ __members__ __module__ __mro__ __name__ "
    "__notes__ __qualname__ __subclasses__ __suppress_context__ __wrapped__"
)
"""Names of the form ``__name__`` that a class of the plan may define. A finaliser is not among them: it could run after
the run's end.
"""

ENUM_NAMES = split_names("_generate_next_value_ _ignore_ _missing_ _name_ _order_ _value_")
"""Names of the form ``_name_`` that mean something in an Enum. All others belong to the runtime."""

METADATA_NAMES = split_names("__all__ __author__ __copyright__ __credits__ __date__ __email__ __license__ __version__")
"""Names of the form ``__name__`` that a program may set for its readers."""

FRAME_ATTRIBUTES = split_names(
    "ag_await ag_code ag_frame co_code cr_await cr_code cr_frame cr_origin f_back f_builtins f_code f_generator "
    "f_globals f_locals f_trace gi_code gi_frame gi_yieldfrom tb_frame tb_next"
)
"""Attributes that lead from a generator, a coroutine or a traceback to a frame or to code."""

_ABC_STATE = "_abc_impl"
"""What an abstract class knows of its subclasses. It belongs to Python, although its name looks like a plan's."""


def is_reserved(name: str) -> bool:
    """Return whether a name belongs to Python or to the runtime: ``_name_`` and ``__name__``."""
    return name.startswith("_") and name.endswith("_") and name.strip("_") != ""


def is_readable(attribute: str) -> bool:
    """Return whether a plan may read an attribute of this name, of an object that has it."""
    if is_reserved(attribute):
        return attribute in READABLE_DUNDERS or attribute in ENUM_NAMES
    return attribute not in FRAME_ATTRIBUTES and attribute != _ABC_STATE


_WRITABLE_DUNDERS = split_names("__doc__ __name__ __qualname__ __wrapped__ _value_")


def is_writable(attribute: str) -> bool:
    """Return whether a plan may write an attribute of this name, of an object of its own."""
    return attribute in _WRITABLE_DUNDERS or (not is_reserved(attribute) and is_readable(attribute))


LOCAL_NAMES = frozenset({"print", "solution", "start_from"})
"""Reserved names that a function of the plan may nevertheless bind in its own scope."""

ALLOWED_EXCEPTIONS = split_names(
    "ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError ChildProcessError "
    "ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError EOFError EnvironmentError "
    "Exception FileExistsError FileNotFoundError FloatingPointError IOError ImportError IndentationError IndexError "
    "ExceptionGroup InterruptedError IsADirectoryError KeyError LookupError ModuleNotFoundError NameError "
    "BytesWarning DeprecationWarning EncodingWarning FutureWarning ImportWarning MemoryError NotADirectoryError "
    "NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError "
    "RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration "
    "SyntaxError SyntaxWarning SystemError TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError "
    "UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning "
    "ZeroDivisionError"
)
"""Exceptions by name. All derive from Exception: no plan may catch a limit."""

CALL_ERRORS = ALLOWED_EXCEPTIONS - split_names(
    "AssertionError EnvironmentError Exception ExceptionGroup IOError MemoryError RecursionError StopAsyncIteration "
    "StopIteration UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError"
)
"""Exceptions that a failed call of the agent may raise in a plan. Each takes one text, and means nothing else there."""

PLAIN_BUILTINS = split_names(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float "
    "frozenset hex int isinstance issubclass iter len list map max min next oct ord range repr reversed "
    "round set slice sorted str sum tuple zip"
)
"""Builtins used unchanged: they touch only their arguments, and a plan has no objects with hooks."""

EXIT_EXCEPTIONS = split_names("GeneratorExit KeyboardInterrupt SystemExit")
"""Exceptions beside Exception that a plan raises and catches by name. One that nothing catches ends the plan."""

CLASS_BUILTINS = split_names("BaseException Ellipsis NotImplemented classmethod object property staticmethod super")
"""Builtins for classes, used unchanged: what can be read of them and of their results is guarded. A plan derives no
class from BaseException, and no handler keeps what ends a plan."""

GUARDED_BUILTINS = split_names(
    "delattr dir each eval format getattr globals hasattr hash id locals pow setattr type vars"
)
"""Builtins replaced by versions that call the guards, and one of codeplan's own: ``each``."""

ANNOTATION_MODULES = frozenset({"__future__"})
"""Modules that only serve annotations. The compiler drops annotations and these imports."""

PREDEFINED_NAMES = (
    RUNTIME_NAMES
    | ALLOWED_EXCEPTIONS
    | PLAIN_BUILTINS
    | CLASS_BUILTINS
    | EXIT_EXCEPTIONS
    | GUARDED_BUILTINS
    | {"__name__", "NotKnown"}
    | PREDEFINED_MODULES
    | PREDEFINED_MEMBERS
)
"""Every name that a plan can read without binding it."""

_NO_FILES = "plans cannot reach files; use the agent's methods, and keep data in variables"

NAME_HINTS: dict[str, str] = {
    "input": "nothing can be typed here; ask the model with ask_llm(question)",
    ASK_USER: "no user can be asked here",
    "open": _NO_FILES,
    "exec": "write the code itself",
    "compile": "write the code itself",
    "__import__": "write `import` and the module's name",
    "help": "the agent's methods are listed in its description",
    "exit": "use return to end the plan",
    "quit": "use return to end the plan",
    "breakpoint": "use print to show a value",
    "memoryview": "slices of bytes do the same: data[2:5]",
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


_OFTEN_FORGOTTEN = (
    "copy",
    "datetime",
    "decimal",
    "fractions",
    "functools",
    "heapq",
    "itertools",
    "statistics",
    "typing",
)
"""Modules whose members a plan may have meant by their names alone."""


def _members_with_hint(module: str) -> frozenset[str]:
    """The module's members that a plan may have meant by their name alone. Letters such as ``e`` are variables."""
    return frozenset(name for name in ALLOWED_MODULES[module] if len(name) > 1 and module != "ast")
