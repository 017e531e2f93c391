"""The modules that plans import: façades whose members touch nothing but their arguments, the run's clock and its seed.

Most members are Python's own. The rest are replaced, because Python's would look attributes up by a plan's text, read
the machine's clock or random numbers, print, or make a huge value of a small one.
"""

from __future__ import annotations

import base64
import calendar
import collections.abc
import contextlib
import csv
import decimal
import functools
import hashlib
import hmac
import importlib
import json
import math
import operator
import pathlib
import pprint
import random
import re
import shlex
import statistics
import sys
import types
import uuid
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from typing import Any, NoReturn

from codeplan.sandbox.runtime.arrays import Array
from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES, READERS, ModuleFacade, list_names
from codeplan.sandbox.runtime.class_modules import class_members, require_own_class
from codeplan.sandbox.runtime.classes import (
    MEMBER_TYPES,
    REPLACED_TYPES,
    RUNTIME_BASES,
    VISIBLE_TYPES,
    WRITERS,
    is_class,
    is_plan_class,
    is_plan_function,
    mark_class,
)
from codeplan.sandbox.runtime.clocks import PlanClock, time_members, zoneinfo_members
from codeplan.sandbox.runtime.copying import PARTIALS, Identities, copy_members
from codeplan.sandbox.runtime.guards import (
    GETS_END,
    ITEM_WRITERS,
    CurrentRun,
    SizeGuard,
    check_writable,
    set_name,
    shown_exception,
)
from codeplan.sandbox.runtime.library_mends import mend_library, plain_dialect, read_rows, write_rows
from codeplan.sandbox.runtime.log_modules import (
    LogRuntime,
    compression_members,
    logging_members,
    mail_members,
    traceback_members,
    warnings_members,
)
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES, NO_FILES, split_names
from codeplan.sandbox.runtime.names import is_readable
from codeplan.sandbox.runtime.numbers_first import STRUCT_MEMBERS, Islice
from codeplan.sandbox.runtime.object_modules import inspect_members, sched_members, weakref_members
from codeplan.sandbox.runtime.syntax_module import SYNTAX_MEMBERS
from codeplan.sandbox.runtime.text_modules import (
    CONFIG_MEMBERS,
    MARKUP_MEMBERS,
    element_members,
    make_formatter,
    make_html_parser,
    preload_xml,
)
from codeplan.sandbox.runtime.thread_modules import QUEUE_MEMBERS

Members = dict[str, object]

MAX_INDENT = 16
"""Maximum ``indent`` of ``json.dumps``."""

MAX_FACTORIAL = 50_000
"""Maximum argument of ``math.factorial``, ``comb`` and ``perm``."""

MAX_PRECISION = 10_000
"""Maximum precision of a decimal context, in digits."""

_TEMPLATE_FLAG = 1  # of no effect; ``re.compile(p, True)`` sets it
_ALLOWED_FLAGS = int(re.A | re.I | re.L | re.M | re.S | re.U | re.X) | _TEMPLATE_FLAG
_DUMPS_OPTIONS = split_names("skipkeys ensure_ascii allow_nan indent sort_keys separators default")
_LOADS_OPTIONS = split_names("object_hook object_pairs_hook parse_constant parse_float parse_int strict")


class OutputStream:
    """``sys.stdout`` or ``sys.stderr``: what is written there is printed, or goes where the plan redirected it."""

    __slots__ = ("_writers",)

    def __init__(self, print_: Callable[[str], object]) -> None:
        self._writers: list[Callable[[str], object]] = [print_]

    def __repr__(self) -> str:
        return "<output>"

    def write(self, text: str, /) -> int:
        """Print a text, and return its length."""
        if type(text) is not str:
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._writers[-1](text)
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


class Redirection:
    """As ``contextlib.redirect_stdout``: inside, what is written to ``output`` goes to ``target``."""

    def __init__(self, output: OutputStream, read: Callable[[Any, str], Any], target: Any) -> None:
        self._writers, self._read, self._target = output._writers, read, target
        self._writer = output._writers[-1] if target is output else read(target, "write")

    def __enter__(self) -> Any:
        self._writers.append(self._writer)
        return self._target

    def __exit__(self, *_: object) -> None:
        self._writers.pop()


ALLOWED_ATTRIBUTES[OutputStream] = frozenset({"flush", "write"})


class ModuleMaker:
    """Makes the façades of all modules, for all runs of a process."""

    def __init__(
        self,
        run: CurrentRun,
        clock: PlanClock,
        size_guard: SizeGuard,
        identities: Identities,
        guarded_getattr: Callable[..., Any],
        functions: dict[str, Callable[..., Any]],
        output: OutputStream,
        errors: OutputStream,
    ) -> None:
        """``functions`` are ``ask_llm``, ``literal_eval``, ``context``, which guards a context manager, ``find_name``,
        which looks a name of the plan up, and ``require_no_limit``, which stops the plan if a limit is behind an error.
        """
        self._run, self._clock, self._size_guard, self._identities = run, clock, size_guard, identities
        self._getattr, self._functions = guarded_getattr, functions
        self._output, self._errors = output, errors

    def make(self, others: dict[str, ModuleFacade]) -> dict[str, ModuleFacade]:
        """Return the modules by name, with ``others``; ``collections`` and ``urllib`` hold their parts."""
        mend_library()
        replaced = self._replaced_members()
        facades = dict(others)
        for name in sorted(ALLOWED_MODULES.keys() - others.keys(), key=len, reverse=True):  # parts before wholes
            given = replaced[name]() if name in replaced else {}
            parts = {part: facades[f"{name}.{part}"] for part in ALLOWED_MODULES[name] if f"{name}.{part}" in facades}
            members = given | parts
            missing = ALLOWED_MODULES[name] - members.keys()
            if missing:
                own = importlib.import_module(name)
                members |= {member: getattr(own, member) for member in missing}
            facades[name] = ModuleFacade(name, {member: members[member] for member in ALLOWED_MODULES[name]})
        _name_types(facades)
        return facades

    def _replaced_members(self) -> dict[str, Callable[[], Members]]:
        """What makes those members of each module that are not Python's own."""
        write = partial(self._write, self._errors)
        log = LogRuntime(self._clock, self._size_guard, write, self._getattr, self._functions["require_no_limit"])
        of_classes = class_members(self._functions["context"], self._functions["find_name"])
        GETS_END.update(of_classes["contextlib"][name] for name in ("AsyncExitStack", "ExitStack"))  # type: ignore[misc]
        return {
            **{name: partial(dict, members) for name, members in of_classes.items()},
            "array": lambda: {"array": Array},
            "ast": lambda: {
                **SYNTAX_MEMBERS,
                "literal_eval": set_name("literal_eval", self._functions["literal_eval"]),
            },
            **{name: partial(dict, members) for name, members in compression_members(self._size_guard).items()},
            "calendar": _calendar_members,
            "collections": lambda: {"namedtuple": set_name("namedtuple", make_named_tuple), **USER_CLASSES},
            "configparser": lambda: CONFIG_MEMBERS,
            "contextlib": lambda: of_classes["contextlib"] | self._redirections(),
            "copy": lambda: copy_members(self._identities),
            "csv": _csv_members,
            "decimal": _decimal_members,
            "email.utils": mail_members,
            "functools": _functools_members,
            "itertools": lambda: {"islice": Islice},
            "struct": lambda: STRUCT_MEMBERS,
            "hashlib": lambda: {"pbkdf2_hmac": set_name("pbkdf2_hmac", _derive_key)},
            "html.parser": lambda: {"HTMLParser": make_html_parser(self._size_guard)},
            "inspect": lambda: inspect_members(self._getattr, list_names),
            "json": self._json_members,
            "large_language_model": lambda: dict.fromkeys(("ask", "ask_llm"), self._functions["ask_llm"]),
            "logging": lambda: logging_members(log, NO_FILES),
            "math": lambda: _math_members(self._size_guard),
            "operator": self._operator_members,
            "os": self._os_members,
            "pathlib": lambda: dict.fromkeys(("Path", "PurePath"), pathlib.PurePosixPath),
            "pprint": self._pprint_members,
            "random": self._random_members,
            "re": _re_members,
            "sched": lambda: sched_members(self._clock),
            "secrets": self._secrets_members,
            "string": lambda: {"Formatter": make_formatter(self._getattr, self._size_guard)},
            "xml.sax.saxutils": lambda: MARKUP_MEMBERS,
            "xml.etree.ElementTree": lambda: element_members(self._size_guard),
            "shlex": lambda: {"split": set_name("split", _split_words)},
            "statistics": self._statistics_members,
            "sys": self._sys_members,
            "time": lambda: time_members(self._clock),
            "traceback": lambda: traceback_members(log),
            "uuid": self._uuid_members,
            "queue": lambda: QUEUE_MEMBERS,
            "warnings": warnings_members,
            "weakref": weakref_members,
            "zoneinfo": zoneinfo_members,
        }

    def _write(self, usual: OutputStream, stream: Any, text: str) -> object:
        """Write to a stream of the plan, or to the usual one for None."""
        return (usual.write if stream is None else self._getattr(stream, "write"))(text)

    def _redirections(self) -> Members:
        def redirect_stdout(new_target: Any) -> Redirection:
            return Redirection(self._output, self._getattr, new_target)

        def redirect_stderr(new_target: Any) -> Redirection:
            return Redirection(self._errors, self._getattr, new_target)

        return _named(redirect_stdout, redirect_stderr)

    def _json_members(self) -> Members:
        def dump(obj: Any, fp: Any, **options: Any) -> None:
            self._getattr(fp, "write")(_dumps(obj, **options))

        def load(fp: Any, **options: Any) -> Any:
            return _loads(self._getattr(fp, "read")(), **options)

        return _named(dump, load) | {"JSONEncoder": JSON_ENCODER, "dumps": _DUMPS, "loads": _LOADS}

    def _operator_members(self) -> Members:
        """Look attributes up by the guard, and check the sizes of products and the types of owners."""
        read = self._getattr

        def attrgetter(attr: Any, /, *attrs: Any) -> Callable[[Any], Any]:
            paths = [_attribute_path(a) for a in (attr, *attrs)]

            def get(obj: Any, /) -> Any:
                found = tuple(functools.reduce(read, path, obj) for path in paths)
                return found if attrs else found[0]

            return set_name("attrgetter", get)

        def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
            (path,) = [_attribute_path(name)] if type(name) is str and "." not in name else [None]
            if path is None:
                raise TypeError("method name must be a string")

            def call(obj: Any, /) -> Any:
                return read(obj, path[0])(*args, **kwargs)

            return set_name("methodcaller", call)

        def setitem(a: Any, b: Any, c: Any, /) -> None:
            check_writable(a)[b] = c

        def delitem(a: Any, b: Any, /) -> None:
            del check_writable(a)[b]

        return _named(attrgetter, methodcaller, setitem, delitem) | _sized_operators(self._size_guard)

    def _pprint_members(self) -> Members:
        def pretty(object: Any, stream: Any = None, *args: Any, **named: Any) -> None:
            self._write(self._output, stream, pprint.pformat(object, *args, **named) + "\n")

        def pp(object: Any, *args: Any, sort_dicts: bool = False, **named: Any) -> None:
            pretty(object, *args, sort_dicts=sort_dicts, **named)

        return {"pprint": set_name("pprint", pretty), "pp": set_name("pp", pp)}

    def _random_members(self) -> Members:
        """Return the methods of the run's own generator, so that results are repeatable."""
        run = self._run
        names = ALLOWED_MODULES["random"] - {"Random"}
        members: Members = {name: getattr(run.generator, name) for name in names}

        def reseed(value: Any = None) -> None:
            if type(value) not in (int, str, float, bytes, bytearray, type(None)):
                raise TypeError(f"seed takes a number or a text, not {type(value).__name__}")
            run.generator.seed(run.settings.seed if value is None else value)

        def make_random(x: Any = None) -> random.Random:
            return random.Random(run.generator.getrandbits(64) if x is None else x)

        def getrandbits(k: Any, /) -> int:
            self._size_guard.check_bits(k)
            return run.generator.getrandbits(k)

        return members | {
            "Random": set_name("Random", make_random),
            "getrandbits": set_name("getrandbits", getrandbits),
            "seed": set_name("seed", reseed),
        }

    def _secrets_members(self) -> Members:
        """Return seeded functions: a run's secrets are as repeatable as its random numbers."""
        generator = self._run.generator

        def token_bytes(nbytes: Any = None) -> bytes:
            return generator.randbytes(32 if nbytes is None else nbytes)

        def token_hex(nbytes: Any = None) -> str:
            return token_bytes(nbytes).hex()

        def token_urlsafe(nbytes: Any = None) -> str:
            return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode("ascii")

        def randbelow(exclusive_upper_bound: Any) -> int:
            if exclusive_upper_bound <= 0:
                raise ValueError("Upper bound must be positive.")
            return generator.randrange(exclusive_upper_bound)

        def randbits(k: Any, /) -> int:
            self._size_guard.check_bits(k)
            return generator.getrandbits(k)

        return _named(token_bytes, token_hex, token_urlsafe, randbelow, randbits) | {
            "choice": generator.choice,
            "compare_digest": hmac.compare_digest,
        }

    def _statistics_members(self) -> Members:
        """Return what would otherwise ask the machine for its seed."""
        generator = self._run.generator

        def kde_random(data: Any, h: Any, kernel: Any = "normal", *, seed: Any = None) -> Callable[[], float]:
            usual: Any = statistics.kde_random  # type: ignore[attr-defined,unused-ignore]
            made: Callable[[], float] = usual(data, h, kernel, seed=generator.getrandbits(64) if seed is None else seed)
            return made

        return _named(kde_random) if "kde_random" in ALLOWED_MODULES["statistics"] else {}

    def _os_members(self) -> Members:
        def urandom(size: Any, /) -> bytes:
            length = int.__int__(operator.index(size))
            if length < 0:
                raise ValueError("negative argument not allowed")
            self._size_guard.check_text(length)
            return self._run.generator.randbytes(length)

        return _named(urandom)

    def _sys_members(self) -> Members:
        def getrecursionlimit() -> int:
            return self._run.settings.recursion

        def setrecursionlimit(limit: Any, /) -> None:
            """Accept a limit: that of the run stays."""
            if operator.index(limit) < 1:
                raise ValueError("recursion limit must be greater or equal than 1")

        def exception() -> Exception | None:
            """The exception that the plan's code handles, or None."""
            return shown_exception()

        def exc_info() -> tuple[Any, Exception | None, None]:
            """As ``exception``, with its class; the traceback, which leads to frames, is None."""
            error = shown_exception()
            return (None if error is None else type(error)), error, None

        def exit(*status: Any) -> NoReturn:
            """Raise SystemExit, which ends the plan."""
            raise SystemExit(*status)

        return _named(exception, exc_info, exit, getrecursionlimit, setrecursionlimit) | {
            "argv": ["plan"],
            "stdout": self._output,
            "stderr": self._errors,
        }

    def _uuid_members(self) -> Members:
        generator, clock = self._run.generator, self._clock

        def uuid1(node: Any = None, clock_seq: Any = None) -> uuid.UUID:
            ticks = clock.time_ns() // 100 + _GREGORIAN_TICKS
            sequence = generator.getrandbits(14) if clock_seq is None else clock_seq
            place = generator.getrandbits(48) | 1 << 40 if node is None else node
            low, middle, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0x0FFF
            return uuid.UUID(fields=(low, middle, high, sequence >> 8 & 0x3F, sequence & 0xFF, place), version=1)

        def uuid4() -> uuid.UUID:
            return uuid.UUID(int=generator.getrandbits(128), version=4)

        return {"uuid1": set_name("uuid1", uuid1), "uuid4": set_name("uuid4", uuid4)}


def _split_words(s: Any, comments: bool = False, posix: bool = True) -> list[str]:
    if type(s) is not str:
        raise TypeError("shlex.split needs a text")  # Python's reads from the terminal
    return shlex.split(s, comments, posix)


def _named(*functions: Any) -> Members:
    """Return the functions by name, with their names in errors."""
    return {function.__name__: set_name(function.__name__, function) for function in functions}


_GREGORIAN_TICKS = 0x01B21DD213814000
"""From the start of the Gregorian calendar to that of Unix time, in units of 100 ns."""


def _name_types(facades: dict[str, ModuleFacade]) -> None:
    """Note which types plans have as members of modules, and of which they have something else by that name."""
    for name, facade in facades.items():
        own = vars(sys.modules[name]) if name in sys.modules else {}
        for member, value in facade.members.items():
            if isinstance(value, type):
                MEMBER_TYPES.add(value)
            if isinstance(real := own.get(member), type) and real is not value:
                REPLACED_TYPES.add(real)


def preload_modules() -> None:
    """Make modules load what they load lazily: a locked worker cannot open files. Call it once, in a zygote."""
    random.Random("a")
    json.dumps({"a": [1]}, indent=1)
    hmac.new(b"", b"", "md5").hexdigest()
    uuid.uuid5(uuid.NAMESPACE_DNS, "a")
    calendar.month(2000, 1)
    for name in hashlib.algorithms_guaranteed:
        with contextlib.suppress(ValueError):  # those of any length make no keys
            hashlib.pbkdf2_hmac(name, b"", b"", 1)
    preload_xml()


def reset_settings() -> None:
    """Give the settings that modules keep in this process their first values again."""
    decimal.setcontext(decimal.DefaultContext)
    calendar.setfirstweekday(calendar.MONDAY)
    csv.field_size_limit(_FIELD_SIZE)
    for name in csv.list_dialects():
        csv.unregister_dialect(name)
    for name, kind in _DIALECTS.items():
        csv.register_dialect(name, kind)


_FIELD_SIZE = csv.field_size_limit()
_DIALECTS = {"excel": csv.excel, "excel-tab": csv.excel_tab, "unix": csv.unix_dialect}


def _csv_members() -> Members:
    """Return what changes the table of dialects, by exact texts: it is emptied before the next run."""

    def register_dialect(name: Any, *dialect: Any, **options: Any) -> None:
        given, chosen = plain_dialect(dialect, options)
        csv.register_dialect(_exact_name(name), *given, **chosen)

    def unregister_dialect(name: Any) -> None:
        csv.unregister_dialect(_exact_name(name))

    return _named(register_dialect, unregister_dialect) | {
        "reader": set_name("reader", read_rows),
        "writer": set_name("writer", write_rows),
    }


RUNTIME_BASES |= {csv.Dialect, *_DIALECTS.values()}


def _exact_name(name: Any) -> str:
    if type(name) is not str:
        raise TypeError("dialect name must be a string")
    return name


MAX_ITERATIONS = 1_000_000
"""Maximum number of iterations over all blocks of one ``pbkdf2_hmac``, which take a second or two. No signal reaches
the plan meanwhile; if its time is over, the host kills the worker, as it does in a slow regular expression."""


def _derive_key(hash_name: Any, password: Any, salt: Any, iterations: Any, dklen: Any = None) -> bytes:
    """``hashlib.pbkdf2_hmac`` of bounded work."""
    if not issubclass(type(hash_name), str):
        return hashlib.pbkdf2_hmac(hash_name, b"", b"", 1)  # raises Python's own error
    name, count = str.__str__(hash_name), int.__int__(operator.index(iterations))
    length = None if dklen is None else int.__int__(operator.index(dklen))
    try:
        size = hashlib.new(name).digest_size or 1
    except ValueError:
        size = 1  # Python itself refuses this name
    if count * -(-(length or size) // size) > MAX_ITERATIONS:
        raise ValueError(
            f"pbkdf2_hmac computes at most {MAX_ITERATIONS:,} iterations here; take fewer, or a shorter key"
        )
    return hashlib.pbkdf2_hmac(name, password, salt, count, length)


def _attribute_path(text: Any) -> list[str]:
    """Return the names in ``a.b``. Raises: TypeError: it is not text. AttributeError: a name is private."""
    if type(text) is not str:
        raise TypeError("attribute name must be a string")
    path = text.split(".")
    for name in path:
        if not is_readable(name):
            raise AttributeError(f"'{name}' is private; use public methods and attributes only")
    return path


def _sized_operators(size_guard: SizeGuard) -> Members:
    def checked(name: str, guard: str) -> Callable[..., object]:
        function = getattr(operator, name)

        def call(a: Any, b: Any, /) -> Any:
            return function(a, size_guard.check(guard, a, b))

        return set_name(name, call)

    return {
        prefix + name: checked(prefix + name, f"_{name}_")
        for name in ("mul", "pow", "lshift", "mod")
        for prefix in ("", "i")
    }


def _calendar_members() -> Members:
    """Return names as tuples: Python's objects look the locale up."""
    tables = ("day_abbr", "day_name", "month_abbr", "month_name")
    return {n: tuple(getattr(calendar, n)) for n in tables}


def make_named_tuple(
    typename: Any, field_names: Any, *, rename: bool = False, defaults: Any = None, module: Any = None
) -> Any:
    """``collections.namedtuple``, for names that are exact texts: it compiles them."""
    if type(typename) is not str:
        raise TypeError("Type names and field names must be strings")
    names = field_names.replace(",", " ").split() if type(field_names) is str else [str(name) for name in field_names]
    if not all(type(name) is str for name in names):
        raise TypeError("Type names and field names must be strings")
    make: Any = collections.namedtuple
    return mark_class(make(typename, names, rename=bool(rename), defaults=defaults, module="__main__"))


USER_CLASSES: Members = {
    kind.__name__: mark_class(type(kind.__name__, (kind,), {}), shared=True)
    for kind in (collections.UserDict, collections.UserList)
}
"""Classes for plans to derive from. ``UserString`` is none of them: its ``format`` reads attributes."""


def _decimal_members() -> Members:
    def bounded(name: str) -> Callable[..., object]:
        function = getattr(decimal, name)

        def call(*args: Any, **named: Any) -> object:
            for precision in (args[0] if args and name == "Context" else None, named.get("prec")):
                check_precision(precision)
            return function(*args, **named)

        return set_name(name, call)

    return {name: bounded(name) for name in ("Context", "localcontext")}


def check_precision(precision: Any) -> None:
    """Raise ValueError if a decimal context would have more than MAX_PRECISION digits."""
    if type(precision) is int and precision > MAX_PRECISION:
        raise ValueError(f"prec may be {MAX_PRECISION:,} at most")


class _ContextWriter:
    """Writes a decimal context, but for its exponents and traps."""

    __slots__ = ("_context",)
    _NAMES = ("capitals", "clamp", "prec", "rounding")

    def __init__(self, context: decimal.Context) -> None:
        object.__setattr__(self, "_context", context)

    def __getattr__(self, name: str) -> Any:
        if name not in self._NAMES:
            raise AttributeError(f"a plan cannot reach {name!r} of a decimal context")
        return getattr(self._context, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._NAMES:
            raise AttributeError(f"a plan cannot write {name!r} of a decimal context")
        check_precision(value if name == "prec" else None)
        setattr(self._context, name, value)


WRITERS[decimal.Context] = _ContextWriter


class _Signals(MutableMapping[Any, bool]):
    """The flags or the traps of a decimal context. Python's own do not keep the context alive that they belong to."""

    __slots__ = ("_context", "_name")

    def __init__(self, context: decimal.Context, name: str) -> None:
        self._context, self._name = context, name

    def __getitem__(self, signal: Any) -> bool:
        return getattr(self._context, self._name)[signal]  # type: ignore[no-any-return]

    def __setitem__(self, signal: Any, value: Any) -> None:
        given = bool(value)  # before the signals are there: it may run code of the plan
        getattr(self._context, self._name)[signal] = given

    def __delitem__(self, signal: Any) -> None:
        del getattr(self._context, self._name)[signal]  # raises Python's own error

    def __iter__(self) -> Iterator[Any]:
        return iter(list(getattr(self._context, self._name)))

    def __len__(self) -> int:
        return len(getattr(self._context, self._name))

    def __repr__(self) -> str:
        return repr(getattr(self._context, self._name))

    def copy(self) -> dict[Any, bool]:
        """The signals as they are now."""
        return dict(self)


READERS[decimal.Context] = lambda context, name: _Signals(context, name) if name in ("flags", "traps") else None
ALLOWED_ATTRIBUTES[_Signals] = frozenset({"copy", "get", "items", "keys", "values"})
ITEM_WRITERS[_Signals] = lambda signals: signals


class _DefaultWriter:
    """Writes what makes the defaults of a ``defaultdict``."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Any) -> None:
        object.__setattr__(self, "_owner", owner)

    def __getattr__(self, name: str) -> Any:
        self._require(name)
        return self._owner.default_factory

    def __setattr__(self, name: str, value: Any) -> None:
        self._require(name)
        self._owner.default_factory = value

    def _require(self, name: str) -> None:
        if name != "default_factory":
            raise AttributeError(f"'collections.defaultdict' object has no attribute '{name}'")


WRITERS[collections.defaultdict] = _DefaultWriter

_COPIED_NAMES = ("__module__", "__name__", "__qualname__", "__doc__")


def _functools_members() -> Members:
    def update_wrapper(wrapper: Any, wrapped: Any) -> Any:
        """Give a function another's name and docstring. Python's would write any attribute, and read any."""
        named = type(wrapped) in (types.FunctionType, functools._lru_cache_wrapper)
        texts = {n: getattr(wrapped, n) for n in _COPIED_NAMES if hasattr(wrapped, n)} if named else {}
        own = wrapped.__dict__ if is_plan_function(wrapped) else {}
        if is_plan_function(wrapper) and named:
            for name, value in texts.items():
                setattr(wrapper, name, value)
            if is_plan_function(wrapped):
                wrapper.__annotations__ = wrapped.__annotations__
                wrapper.__dict__.update(own)
            wrapper.__dict__["__wrapped__"] = wrapped
        elif is_plan_class(type(wrapper)) and not is_class(wrapper) and named:
            for name, value in {**texts, **own}.items():
                setattr(wrapper, name, value)
            wrapper.__wrapped__ = wrapped
        return wrapper

    def total_ordering(cls: Any) -> Any:
        """``functools.total_ordering`` for a class of the plan."""
        return functools.total_ordering(require_own_class(cls, "total_ordering"))

    def wraps(wrapped: Any) -> Callable[[Any], Any]:
        return set_name("wraps", lambda wrapper: update_wrapper(wrapper, wrapped))

    return _named(update_wrapper, wraps, singledispatch, total_ordering) | {
        "partial": Partial,
        "partialmethod": PartialMethod,
        "singledispatchmethod": SingleDispatchMethod,
    }


class Partial(functools.partial[Any]):
    """``functools.partial`` of a plan, which may read what it gave. Those of the runtime are of Python's own class."""

    def __new__(cls, func: Any, /, *args: Any, **keywords: Any) -> Any:
        if type(func) is functools.partial:  # Python would take it apart
            func = func.__call__
        return super().__new__(cls, func, *args, **keywords)

    def __repr__(self) -> str:
        return f"functools.{super().__repr__().removeprefix('functools.')}"


Partial.__name__ = Partial.__qualname__ = "partial"
Partial.__module__ = "functools"
ALLOWED_ATTRIBUTES[Partial] = frozenset({"args", "func", "keywords"})
VISIBLE_TYPES.add(Partial)
PARTIALS.add(Partial)


def singledispatch(func: Callable[..., Any]) -> Callable[..., Any]:
    """``functools.singledispatch``. The compiler hands the annotation of a function to ``register``."""
    return _SingleDispatch(func)


class _SingleDispatch:
    """A function that is chosen by the class of its first argument."""

    __slots__ = ("_by_class", "_default")

    def __init__(self, default: Callable[..., Any]) -> None:
        self._default, self._by_class = default, dict[type, Callable[..., Any]]()

    def __call__(self, *args: Any, **named: Any) -> Any:
        if not args:
            raise TypeError("singledispatch function requires at least 1 positional argument")
        return self.dispatch(type(args[0]))(*args, **named)

    @property
    def registry(self) -> dict[type, Callable[..., Any]]:
        """The function of each class, in a dict of its own."""
        return {object: self._default, **self._by_class}

    def dispatch(self, cls: type) -> Callable[..., Any]:
        """Return the function for a class."""
        for base in cls.__mro__:
            if base in self._by_class:
                return self._by_class[base]
        general = [kind for kind in self._by_class if issubclass(cls, kind)]
        return self._by_class[general[0]] if general else self._default

    def register(self, cls: Any, func: Callable[..., Any] | None = None) -> Any:
        """Register a function for a class, or return what registers one."""
        cls = type(None) if cls is None else cls  # as in an annotation
        kinds = cls.__args__ if type(cls) is types.UnionType else (cls,)
        if not all(issubclass(type(kind), type) for kind in kinds):
            raise TypeError(f"register needs a class: write @{_name(self._default)}.register(int)")
        if func is None:
            return set_name("register", lambda f: self.register(cls, f))
        self._by_class |= dict.fromkeys(kinds, func)
        return func


class SingleDispatchMethod:
    """``functools.singledispatchmethod``: a method that is chosen by the class of its argument."""

    __slots__ = ("_dispatch",)

    def __init__(self, func: Any) -> None:
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self._dispatch = _SingleDispatch(func)

    def register(self, cls: Any, method: Any = None) -> Any:
        """Register a method for a class, or return what registers one."""
        return self._dispatch.register(cls, method)

    def __get__(self, obj: Any, cls: Any = None) -> Callable[..., Any]:
        def method(*args: Any, **named: Any) -> Any:
            if not args:
                raise TypeError(f"{_name(self._dispatch._default)} requires at least 1 positional argument")
            return _bind(self._dispatch.dispatch(type(args[0])), obj, cls)(*args, **named)

        return set_name(_name(self._dispatch._default), method)


class PartialMethod:
    """``functools.partialmethod``: a method that is called with some arguments given before."""

    __slots__ = ("args", "func", "keywords")

    def __init__(self, func: Any, /, *args: Any, **keywords: Any) -> None:
        if not callable(func) and not hasattr(type(func), "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self.func, self.args, self.keywords = func, args, keywords

    def __get__(self, obj: Any, cls: Any = None) -> Callable[..., Any]:
        if obj is None and type(self.func) not in (classmethod, staticmethod):
            return set_name("partialmethod", lambda owner, *args, **named: self.__get__(owner, cls)(*args, **named))
        bound = _bind(self.func, obj, cls)
        return set_name("partialmethod", lambda *args, **named: bound(*self.args, *args, **{**self.keywords, **named}))


def _bind(function: Any, obj: Any, cls: Any) -> Callable[..., Any]:
    """Return a function as a method of ``obj``: what is no function or descriptor of the plan gets it like a builtin,
    as its first argument. Bound, the runtime's own methods would take a plan's object for the runtime.
    """
    kind = type(function)
    if is_plan_function(function) or is_plan_class(kind) or kind in _DESCRIPTORS:
        return function if not hasattr(kind, "__get__") else kind.__get__(function, obj, cls)  # type: ignore[no-any-return]
    return functools.partial(function, obj)


_DESCRIPTORS = (classmethod, staticmethod, property, PartialMethod, SingleDispatchMethod)
SingleDispatchMethod.__name__ = SingleDispatchMethod.__qualname__ = "singledispatchmethod"
PartialMethod.__name__ = PartialMethod.__qualname__ = "partialmethod"
SingleDispatchMethod.__module__ = PartialMethod.__module__ = "functools"
ALLOWED_ATTRIBUTES[_SingleDispatch] = frozenset({"dispatch", "register", "registry"})
ALLOWED_ATTRIBUTES[PartialMethod] = frozenset()
ALLOWED_ATTRIBUTES[SingleDispatchMethod] = frozenset({"register"})


def _name(function: object) -> str:
    return function.__name__ if type(function) is types.FunctionType else "f"


def _math_members(size_guard: SizeGuard) -> Members:
    def bounded(function: Callable[..., int]) -> Callable[..., int]:
        def call(*numbers: int) -> int:
            if any(type(n) is int and n > MAX_FACTORIAL for n in numbers):
                raise OverflowError(f"{function.__name__} takes numbers up to {MAX_FACTORIAL:,} here")
            return function(*numbers)

        return set_name(function.__name__, call)

    def prod(iterable: Any, *, start: Any = 1) -> Any:
        result = start
        for value in iterable:
            result = size_guard.mul(result, value)
        return result

    members: Members = {name: bounded(getattr(math, name)) for name in ("factorial", "comb", "perm")}
    return members | {"prod": set_name("prod", prod)}


def _re_members() -> Members:
    """Return the functions of ``re`` without the DEBUG flag, which prints."""
    members: Members = {}

    def without_debug(function: Callable[..., object], positions: int) -> Callable[..., object]:
        def call(*args: Any, **named: Any) -> object:
            if len(args) > positions:
                args = (*args[:positions], _flags(args[positions]), *args[positions + 1 :])
            if "flags" in named:
                named["flags"] = _flags(named["flags"])
            return function(*args, **named)

        return set_name(function.__name__, call)

    for name, position in {"compile": 1, "sub": 4, "subn": 4, "split": 3}.items():
        members[name] = without_debug(getattr(re, name), position)
    for name in ("findall", "finditer", "fullmatch", "match", "search"):
        members[name] = without_debug(getattr(re, name), 2)
    return members


def _flags(flags: Any) -> Any:
    return int.__and__(flags, _ALLOWED_FLAGS) if issubclass(type(flags), int) else flags


class JSONEncoder:
    """As ``json.JSONEncoder``, for plans to derive from: its ``default`` makes plain data of other values."""

    item_separator, key_separator = ", ", ": "

    def __init__(self, *, indent: Any = None, separators: Any = None, default: Any = None, **options: Any) -> None:
        _check_options("JSONEncoder", options, _DUMPS_OPTIONS)
        self.indent, self._options = indent, options
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default  # type: ignore[method-assign]

    def default(self, o: Any) -> Any:
        """Return plain data for ``o``. Raises: TypeError: there is none."""
        raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")

    def encode(self, o: Any) -> str:
        """Return the JSON of ``o``."""
        separators = (self.item_separator, self.key_separator)
        return _dumps(o, indent=self.indent, separators=separators, default=self.default, **self._options)


JSON_ENCODER: Any = mark_class(JSONEncoder, shared=True)


def _dumps(obj: Any, *, cls: Any = None, **options: Any) -> str:
    if cls is not None:
        if not (is_class(cls) and issubclass(cls, JSONEncoder)):
            raise TypeError("cls must be a class that derives from json.JSONEncoder")
        return cls(**options).encode(obj)  # type: ignore[no-any-return]
    _check_options("dumps", options, _DUMPS_OPTIONS)
    indent = options.get("indent")
    if (type(indent) is int and indent > MAX_INDENT) or (type(indent) is str and len(indent) > MAX_INDENT):
        raise ValueError(f"indent may be {MAX_INDENT} at most")
    return json.dumps(obj, **options)


def _loads(s: Any, **options: Any) -> Any:
    _check_options("loads", options, _LOADS_OPTIONS)
    if type(s) not in (str, bytes, bytearray):
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {type(s).__name__}")
    return json.loads(s, **options)


_DUMPS: Callable[..., str] = set_name("dumps", _dumps)
_LOADS: Callable[..., Any] = set_name("loads", _loads)


def _check_options(function: str, options: dict[str, Any], allowed: frozenset[str]) -> None:
    for name in options:
        if name not in allowed:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
