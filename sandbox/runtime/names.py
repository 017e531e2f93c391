"""The names that the runtime gives to a plan, and hints for names that it lacks."""

from __future__ import annotations

import builtins


def split_names(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ENDING_NAMES = frozenset({"replan", "give_up"})
"""Functions that end the run on purpose."""

RUNTIME_NAMES = frozenset({"agent", "ask_llm", "ask", "start_from", "print", "literal_eval"}) | ENDING_NAMES
"""Names that a plan reads but never binds. They are never part of a checkpoint."""

RESERVED_NAMES = RUNTIME_NAMES | {"solution"}
"""Names that a plan may not bind, except as parameters of its own functions."""

ALLOWED_EXCEPTIONS = split_names(
    "ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError ChildProcessError "
    "ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError EOFError EnvironmentError "
    "Exception FileExistsError FileNotFoundError FloatingPointError IOError ImportError IndentationError IndexError "
    "InterruptedError IsADirectoryError KeyError LookupError ModuleNotFoundError NameError NotADirectoryError "
    "NotImplementedError OSError OverflowError PermissionError ProcessLookupError RuntimeError StopIteration "
    "SyntaxError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError "
    "ValueError ZeroDivisionError"
)
"""Exceptions by name. All derive from Exception: no plan may catch a limit."""

CALL_ERRORS = ALLOWED_EXCEPTIONS - split_names(
    "AssertionError EnvironmentError Exception IOError StopIteration UnicodeDecodeError UnicodeEncodeError"
)
"""Exceptions that a failed call of the agent may raise in a plan. Each takes one text, and means nothing else there."""

PLAIN_BUILTINS = split_names(
    "abs all any ascii bin bool bytes callable chr complex dict divmod enumerate filter float frozenset "
    "hex int isinstance issubclass len list map max min next oct ord range repr reversed round set slice "
    "sorted str sum tuple zip"
)
"""Builtins used unchanged: they touch only their arguments, and a plan has no objects with hooks."""

GUARDED_BUILTINS = frozenset({"each", "format", "getattr", "hasattr", "iter", "pow", "type"})
"""Builtins replaced by versions that call the guards."""

ALLOWED_MODULES: dict[str, frozenset[str]] = {
    "ast": frozenset({"literal_eval"}),
    "asyncio": split_names(
        "ALL_COMPLETED BoundedSemaphore CancelledError Event FIRST_COMPLETED FIRST_EXCEPTION InvalidStateError Lock "
        "Queue QueueEmpty QueueFull Semaphore TaskGroup TimeoutError as_completed create_task current_task "
        "ensure_future gather iscoroutine run shield sleep timeout to_thread wait wait_for"
    ),
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque"}),
    "concurrent": frozenset({"futures"}),
    "concurrent.futures": split_names(
        "ALL_COMPLETED CancelledError FIRST_COMPLETED FIRST_EXCEPTION ThreadPoolExecutor TimeoutError as_completed wait"
    ),
    "json": frozenset({"JSONDecodeError", "dumps", "loads"}),
    "large_language_model": frozenset({"ask", "ask_llm"}),
    "math": split_names(
        "acos asin atan atan2 cbrt ceil comb copysign cos cosh degrees dist e exp fabs factorial floor fmod "
        "fsum gcd hypot inf isclose isfinite isinf isnan isqrt lcm log log10 log1p log2 modf nan perm pi pow "
        "prod radians remainder sin sinh sqrt tan tanh tau trunc"
    ),
    "random": split_names("choice choices gauss randint random randrange sample seed shuffle uniform"),
    "re": split_names(
        "A ASCII DOTALL I IGNORECASE M MULTILINE S VERBOSE X compile error escape findall finditer fullmatch "
        "match search split sub subn"
    ),
    "string": split_names(
        "ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable "
        "punctuation whitespace"
    ),
}
"""The modules that a plan may import, and their members. An import only binds a name."""

ANNOTATION_MODULES = frozenset({"typing", "__future__"})
"""Modules that only serve annotations. The compiler drops annotations and these imports."""

PREDEFINED_NAMES = (
    RUNTIME_NAMES
    | ALLOWED_EXCEPTIONS
    | PLAIN_BUILTINS
    | GUARDED_BUILTINS
    | (ALLOWED_MODULES.keys() - {"large_language_model"})
    | ALLOWED_MODULES["collections"]
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
    "__import__": "write the plan without modules, or import one of " + ", ".join(sorted(ALLOWED_MODULES)),
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
    "id": "compare values with == or `is`",
    "hash": "compare values with ==, or use them as keys of a dict",
    "bytearray": "use a list or bytes",
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
    "RecursionError": _ONLY_EXCEPTION,
}
"""Advice on what to write instead of a builtin that plans lack."""

_ADVICE_MODULES = split_names(
    "os sys time datetime subprocess itertools functools copy pathlib io requests socket threading typing"
)


def suggest_replacement(name: str) -> str | None:
    """Return what to write instead of a name that the runtime lacks, or None."""
    if name in NAME_HINTS:
        return NAME_HINTS[name]
    if name in _ADVICE_MODULES:
        return "plans may import these modules: " + ", ".join(sorted(ALLOWED_MODULES))
    if homes := [f"`{module}.{name}`" for module in sorted(ALLOWED_MODULES) if name in _members_with_hint(module)]:
        return f"did you mean {' or '.join(homes)}? Otherwise set it first"
    if name in vars(builtins):
        return "plans do not have this builtin; write the loop or the expression itself"
    return None


def _members_with_hint(module: str) -> frozenset[str]:
    """The module's members that a plan may have meant by their name alone. Letters such as ``e`` are variables."""
    return frozenset(name for name in ALLOWED_MODULES[module] if len(name) > 1)
