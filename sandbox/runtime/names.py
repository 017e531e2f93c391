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

READABLE_DUNDERS = split_names(
    "__abs__ __add__ __and__ __annotations__ __bases__ __bool__ __bytes__ __call__ __cause__ __ceil__ __class__ "
    "__class_getitem__ __complex__ __contains__ __context__ __copy__ __dataclass_fields__ __deepcopy__ __delattr__ "
    "__delete__ __delitem__ __dict__ __dir__ __divmod__ __doc__ __enter__ __eq__ __exit__ __float__ __floor__ "
    "__floordiv__ __format__ __ge__ __get__ __getattr__ __getattribute__ __getitem__ __gt__ __hash__ __iadd__ "
    "__iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ __index__ __init__ __init_subclass__ __int__ "
    "__invert__ __ior__ __ipow__ __irshift__ __isub__ __iter__ __itruediv__ __ixor__ __le__ __len__ __length_hint__ "
    "__lshift__ __lt__ __match_args__ __matmul__ __members__ __missing__ __mod__ __module__ __mro__ __mul__ "
    "__name__ __ne__ __neg__ __new__ __next__ __notes__ __or__ __pos__ __post_init__ __pow__ __qualname__ __radd__ "
    "__rand__ __rdivmod__ __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ "
    "__round__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __set__ __set_name__ __setattr__ "
    "__setitem__ __slots__ __str__ __sub__ __truediv__ __trunc__ __wrapped__ __xor__ "
    "__aenter__ __aexit__ __aiter__ __anext__ __await__"
)
"""Names of the form ``__name__`` that a plan may read as an attribute. None leads to code, frames or modules."""

DEFINABLE_DUNDERS = READABLE_DUNDERS - split_names(
    "__bases__ __cause__ __class__ __context__ __dataclass_fields__ __dict__ __members__ __module__ __mro__ __name__ "
    "__notes__ __qualname__ __wrapped__"
)
"""Names of the form ``__name__`` that a class of the plan may define. A finaliser is not among them: it could run after
the run's end.
"""

ENUM_NAMES = split_names("_generate_next_value_ _ignore_ _missing_ _name_ _order_ _value_")
"""Names of the form ``_name_`` that mean something in an Enum. All others belong to the runtime."""

FRAME_ATTRIBUTES = split_names(
    "ag_await ag_code ag_frame co_code cr_await cr_code cr_frame cr_origin f_back f_builtins f_code f_generator "
    "f_globals f_locals f_trace gi_code gi_frame gi_yieldfrom tb_frame tb_next"
)
"""Attributes that lead from a generator, a coroutine or a traceback to a frame or to code."""


def is_reserved(name: str) -> bool:
    """Return whether a name belongs to Python or to the runtime: ``_name_`` and ``__name__``."""
    return name.startswith("_") and name.endswith("_") and name.strip("_") != ""


def is_readable(attribute: str) -> bool:
    """Return whether a plan may read an attribute of this name, of an object that has it."""
    if is_reserved(attribute):
        return attribute in READABLE_DUNDERS or attribute in ENUM_NAMES
    return attribute not in FRAME_ATTRIBUTES


_WRITABLE_DUNDERS = split_names("__doc__ __name__ __qualname__ __wrapped__")


def is_writable(attribute: str) -> bool:
    """Return whether a plan may write an attribute of this name, of an object of its own."""
    return attribute in _WRITABLE_DUNDERS or not (is_reserved(attribute) or attribute in FRAME_ATTRIBUTES)


ALLOWED_EXCEPTIONS = split_names(
    "ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError ChildProcessError "
    "ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError EOFError EnvironmentError "
    "Exception FileExistsError FileNotFoundError FloatingPointError IOError ImportError IndentationError IndexError "
    "ExceptionGroup InterruptedError IsADirectoryError KeyError LookupError ModuleNotFoundError NameError "
    "NotADirectoryError NotImplementedError OSError OverflowError PermissionError ProcessLookupError RuntimeError "
    "StopIteration SyntaxError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError "
    "UnicodeError ValueError ZeroDivisionError"
)
"""Exceptions by name. All derive from Exception: no plan may catch a limit."""

CALL_ERRORS = ALLOWED_EXCEPTIONS - split_names(
    "AssertionError EnvironmentError Exception ExceptionGroup IOError StopIteration UnicodeDecodeError "
    "UnicodeEncodeError"
)
"""Exceptions that a failed call of the agent may raise in a plan. Each takes one text, and means nothing else there."""

PLAIN_BUILTINS = split_names(
    "abs all any ascii bin bool bytes callable chr complex dict divmod enumerate filter float frozenset "
    "hex int isinstance issubclass len list map max min next oct ord range repr reversed round set slice "
    "sorted str sum tuple zip"
)
"""Builtins used unchanged: they touch only their arguments, and a plan has no objects with hooks."""

CLASS_BUILTINS = split_names("NotImplemented classmethod object property staticmethod super")
"""Builtins for classes, used unchanged: what can be read of them and of their results is guarded."""

GUARDED_BUILTINS = frozenset({"delattr", "format", "getattr", "hasattr", "iter", "pow", "setattr", "type"})
"""Builtins replaced by versions that call the guards."""

ALLOWED_MODULES: dict[str, frozenset[str]] = {
    "abc": split_names("ABC ABCMeta abstractmethod"),
    "contextlib": split_names(
        "AbstractContextManager ContextDecorator ExitStack closing contextmanager nullcontext suppress"
    ),
    "dataclasses": split_names(
        "FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass "
        "make_dataclass replace"
    ),
    "enum": split_names("Enum EnumMeta EnumType Flag IntEnum IntFlag StrEnum auto unique"),
    "types": split_names("MappingProxyType MethodType NoneType SimpleNamespace"),
    "typing": split_names(
        "AbstractSet Annotated Any AnyStr AsyncIterable AsyncIterator Awaitable Callable ChainMap ClassVar Collection "
        "Concatenate Container Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable "
        "ItemsView Iterable Iterator KeysView List Literal LiteralString Mapping MutableMapping MutableSequence "
        "MutableSet NamedTuple Never NewType NoReturn NotRequired Optional OrderedDict ParamSpec Pattern Match "
        "Protocol Required Reversible Self Sequence Set Sized SupportsAbs SupportsFloat SupportsInt SupportsRound "
        "TYPE_CHECKING Text Tuple Type TypeAlias TypeGuard TypeVar TypedDict Union Unpack ValuesView assert_never cast "
        "final get_args get_origin overload override runtime_checkable"
    ),
    "ast": frozenset({"literal_eval"}),
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque"}),
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

ANNOTATION_MODULES = frozenset({"__future__"})
"""Modules that only serve annotations. The compiler drops annotations and these imports."""

PREDEFINED_MODULES = frozenset({"ast", "collections", "json", "math", "random", "re", "string"})
"""The modules that a plan can use without an import."""

PREDEFINED_NAMES = (
    RUNTIME_NAMES
    | ALLOWED_EXCEPTIONS
    | PLAIN_BUILTINS
    | CLASS_BUILTINS
    | GUARDED_BUILTINS
    | {"__name__"}
    | PREDEFINED_MODULES
    | ALLOWED_MODULES["collections"]
)
"""Every name that a plan can read without binding it."""

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
    "exit": "use return to end the plan",
    "quit": "use return to end the plan",
    "breakpoint": "use print to show a value",
    "id": "compare values with == or `is`",
    "hash": "compare values with ==, or use them as keys of a dict",
    "bytearray": "use a list or bytes",
    "memoryview": "use a list or bytes",
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
