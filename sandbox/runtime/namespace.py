"""The globals in which a plan's segments run: its builtins and modules, and the functions that call the host.

Builtins are harmless ones unchanged, and guarded versions of a few. Modules have only members that touch nothing but
their arguments. ``literal_eval`` reads a value from a model's answer, with caps on its size."""

from __future__ import annotations

import ast
import builtins
import json
import math
import re
import string
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial
from io import StringIO
from types import CoroutineType
from typing import Any, NoReturn

from codeplan.sandbox.protocol.plain_data import ARGUMENT_RULES, find_non_plain
from codeplan.sandbox.runtime.attributes import AgentProxy, ModuleFacade, make_getattr
from codeplan.sandbox.runtime.concurrency import make_concurrency_modules, make_each
from codeplan.sandbox.runtime.guards import (
    CurrentRun,
    HostCalls,
    PlanStopper,
    SizeGuard,
    count_turns,
    make_guards,
    set_name,
    truncate_message,
)
from codeplan.sandbox.runtime.names import ALLOWED_EXCEPTIONS, ALLOWED_MODULES, PLAIN_BUILTINS, RESERVED_NAMES
from codeplan.sandbox.runtime.scheduling import Future, Scheduler, as_awaitable
from codeplan.sandbox.runtime.termination import GiveUpRequested, PlanTermination, ReplanRequested
from codeplan.untrusted.texts import with_article

_UNGUARDED = {name: getattr(builtins, name) for name in PLAIN_BUILTINS | ALLOWED_EXCEPTIONS}

PLAIN_TYPES: frozenset[type] = frozenset(
    {str, bytes, int, float, complex, bool, list, dict, tuple, set, frozenset, range, slice, type(None)}
    | {Counter, OrderedDict, defaultdict, deque}
)
"""The types that ``type(x)`` may return."""

_NO_DEFAULT = object()


def make_builtins(guarded_getattr: Callable[[Any, str], Any], size_guard: SizeGuard) -> dict[str, object]:
    """Return the builtins by name."""

    def getattr_(value: Any, name: str, default: Any = _NO_DEFAULT, /) -> Any:
        _check_attribute_name(getattr, name)
        try:
            return guarded_getattr(value, name)
        except AttributeError:
            if default is _NO_DEFAULT:
                raise
            return default

    def hasattr_(value: Any, name: str, /) -> bool:
        _check_attribute_name(hasattr, name)
        return getattr_(value, name, _MISSING) is not _MISSING

    def pow_(*args: Any, **named: Any) -> Any:
        given = dict(zip(("base", "exp", "mod"), args, strict=False)) | named
        size_guard.check_power(given.get("base"), given.get("exp"), given.get("mod"))
        return pow(*args, **named)

    def format_(value: Any, format_spec: Any = "", /) -> str:
        return size_guard.format(value, format_spec)

    return {
        **_UNGUARDED,
        "getattr": _check_argument_count(getattr, getattr_, 2, 3),
        "hasattr": _check_argument_count(hasattr, hasattr_, 2, 2),
        "pow": set_name("pow", pow_),
        "format": _check_argument_count(format, format_, 1, 2),
        "type": _check_argument_count(type, guarded_type, 1, 3),
        "iter": _check_argument_count(iter, guarded_iter, 1, 2),
    }


def _check_argument_count(
    builtin: Callable[..., Any], guarded: Callable[..., Any], fewest: int, most: int
) -> Callable[..., Any]:
    """Wrap ``guarded`` so that a wrong number of arguments raises the builtin's own error."""

    def call(*args: Any, **named: Any) -> Any:
        if named or not fewest <= len(args) <= most:
            builtin(*[None] * len(args), **dict.fromkeys(named))
        return guarded(*args, **named)

    return set_name(builtin.__name__, call)


_MISSING = object()


def _check_attribute_name(builtin: Callable[..., Any], name: Any) -> None:
    if type(name) is not str:
        builtin(None, name)  # raises the builtin's own error
        raise TypeError("an attribute's name must be a text")
    if name.startswith("_"):
        raise AttributeError(f"'{name}' is private; use public methods and attributes only")


def guarded_type(value: Any, /, *more: object) -> type:
    """Return the type of plain data. Raises TypeError for anything else."""
    if more:
        raise TypeError("type() takes one argument here; plans have no classes")
    kind = type(value)
    if kind in PLAIN_TYPES:
        return kind
    raise TypeError(
        f"type() is for plain data, not for {with_article(kind.__name__)}; "
        "use isinstance(x, …), or type(x).__name__ for its name"
    )


def guarded_iter(values: Any, /, *sentinel: object) -> Iterator[Any]:
    """``iter`` with one argument only: the form with a sentinel may never end."""
    if sentinel:
        raise TypeError("iter() takes one argument here; write a loop that ends at the sentinel")
    return iter(values)


MAX_INDENT = 16
"""Maximum ``indent`` of ``json.dumps``."""

MAX_FACTORIAL = 2_000
"""Maximum argument of ``math.factorial``, ``comb`` and ``perm``."""

_ALLOWED_FLAGS = int(re.A | re.I | re.M | re.S | re.X)
_DUMPS_OPTIONS = frozenset({"skipkeys", "ensure_ascii", "allow_nan", "indent", "sort_keys", "separators", "default"})


def make_modules(
    run: CurrentRun, size_guard: SizeGuard, ask: Callable[[str], str], literal_eval: Callable[[object], object]
) -> dict[str, ModuleFacade]:
    """Return the modules by name. The random numbers are those of ``run``."""
    members: dict[str, dict[str, object]] = {
        "ast": {"literal_eval": literal_eval},
        "collections": {"Counter": Counter, "OrderedDict": OrderedDict, "defaultdict": defaultdict, "deque": deque},
        "json": {
            "JSONDecodeError": json.JSONDecodeError,
            "dumps": set_name("dumps", _dumps),
            "loads": set_name("loads", _loads),
        },
        "large_language_model": {"ask": ask, "ask_llm": ask},
        "math": _math_members(size_guard),
        "random": _random_members(run),
        "re": _re_members(),
        "string": {name: getattr(string, name) for name in ALLOWED_MODULES["string"]},
    }
    return {name: ModuleFacade(name, {m: table[m] for m in ALLOWED_MODULES[name]}) for name, table in members.items()}


def _math_members(size_guard: SizeGuard) -> dict[str, object]:
    members: dict[str, object] = {name: getattr(math, name) for name in ALLOWED_MODULES["math"]}

    def bounded(function: Callable[..., int]) -> Callable[..., int]:
        def call(*numbers: int) -> int:
            if any(type(n) is int and n > MAX_FACTORIAL for n in numbers):
                raise OverflowError(f"{function.__name__} takes numbers up to {MAX_FACTORIAL} here")
            return function(*numbers)

        return set_name(function.__name__, call)

    def prod(iterable: Any, *, start: Any = 1) -> Any:
        result = start
        for value in iterable:
            result = size_guard.mul(result, value)
        return result

    for name in ("factorial", "comb", "perm"):
        members[name] = bounded(getattr(math, name))
    members["prod"] = set_name("prod", prod)
    return members


def _random_members(run: CurrentRun) -> dict[str, object]:
    """Return the methods of the run's own generator, so that results are repeatable."""
    members: dict[str, object] = {name: getattr(run.generator, name) for name in ALLOWED_MODULES["random"]}

    def reseed(value: Any = None) -> None:
        if type(value) not in (int, str, float, bytes, type(None)):
            raise TypeError(f"seed takes a number or a text, not {type(value).__name__}")
        run.generator.seed(run.seed if value is None else value)

    members["seed"] = set_name("seed", reseed)
    return members


def _re_members() -> dict[str, object]:
    """Return the functions of ``re`` without the DEBUG flag, which prints."""
    members: dict[str, object] = {name: getattr(re, name) for name in ALLOWED_MODULES["re"]}

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
    return flags & _ALLOWED_FLAGS if isinstance(flags, int) else flags


def _dumps(obj: Any, **options: Any) -> str:
    for name in options:
        if name not in _DUMPS_OPTIONS:
            raise TypeError(f"dumps() got an unexpected keyword argument {name!r}")
    indent = options.get("indent")
    if (type(indent) is int and indent > MAX_INDENT) or (type(indent) is str and len(indent) > MAX_INDENT):
        raise ValueError(f"indent may be {MAX_INDENT} at most")
    return json.dumps(obj, **options)


def _loads(s: Any) -> Any:
    if type(s) not in (str, bytes):
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {type(s).__name__}")
    return json.loads(s)


MAX_CHARS = 100_000
"""Maximum length of the text. Models' answers have a few hundred characters."""

MAX_NESTING = 40
"""Maximum nesting of brackets."""

_SHOWN = 120
_SIGN_RUN = re.compile(r"(?:[-+~][ \t]*+){8}")
"""Eight or more signs in a row: each is one more level of nesting."""


def literal_eval(text: object) -> object:
    """Return the value of the Python literal in ``text``, ignoring surrounding white space.

    Raises: The exceptions of ``ast.literal_eval`` (SyntaxError, ValueError, or TypeError for a list as a key), with
    the start of the text; ValueError for anything but a str.
    """
    if type(text) is not str:
        raise ValueError(f"literal_eval takes a text, not {type(text).__name__}; use the value as it is")
    problem: str | None = _size_problem(text)
    raised: type[Exception] = ValueError
    if problem is None:
        raised, problem, value = _evaluate(text.strip())
        if problem is None:
            return value
    raise raised(f"literal_eval cannot read {_excerpt(text)}: {problem}")


def _size_problem(text: str) -> str | None:
    if len(text) > MAX_CHARS:
        return f"it has {len(text)} characters; at most {MAX_CHARS} are allowed"
    depth = deepest = 0
    for c in text:
        if c in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in ")]}":
            depth -= 1
    if deepest > MAX_NESTING or _SIGN_RUN.search(text):
        return "it is nested too deeply"
    return None


def _evaluate(text: str) -> tuple[type[Exception], str | None, object]:
    """Return the exception type, the problem and the value. Errors are returned, so that none remains as a context."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ValueError, None, ast.literal_eval(text)
    except (MemoryError, RecursionError):
        return ValueError, "it is nested too deeply", None
    except (SyntaxError, ValueError, TypeError) as error:
        raised = next(kind for kind in (SyntaxError, ValueError, TypeError) if isinstance(error, kind))
        return raised, "it is not a Python literal such as 'text', 3, ['a', 'b'] or {'a': 1}", None


def _excerpt(text: str) -> str:
    start = text.strip()
    return repr(start if len(start) <= _SHOWN else start[:_SHOWN] + "…")


class NotSaved(NameError):
    """The plan read a name whose value the checkpoint could not hold."""


class _Builtins(dict[str, object]):
    """Builtins that explain missing names. Python asks them only for names found nowhere else."""

    def __init__(self, names: dict[str, object], dropped: dict[str, str], missing: frozenset[str]) -> None:
        super().__init__((n, value) for n, value in names.items() if n not in dropped or not _is_plans_own(n))
        self._dropped, self._missing = dropped, missing

    def __missing__(self, name: str) -> object:
        if name in self._dropped:
            raise NotSaved(f"{name} was not saved ({self._dropped[name]}); compute it again in this step")
        if name in self._missing:
            raise NameError(missing_message(name))
        raise KeyError(name)


def missing_message(name: str) -> str:
    """Why a variable is missing that the plan takes over from the run before."""
    return (
        f"{name} is missing: it was a variable of the run before, and this run started without it; set it in this step"
    )


class PlanRuntime:
    """What plans reach beside their own variables: guards, builtins, modules, and the functions that call the host.

    Making it takes longer than a short plan, so a zygote makes it and the workers inherit it. It serves one run after
    the other and keeps nothing of a run for the next.
    """

    def __init__(self) -> None:
        self._run = CurrentRun()
        self._stopper = PlanStopper(self._run)
        self._scheduler = Scheduler(self._run, self._stopper)
        self._agent_methods: dict[str, Callable[..., object]] = {}
        self._names = self._make_names()
        self._builtins: dict[str, object] = self._names
        self._has_imports = False

    def begin(
        self,
        host: HostCalls,
        *,
        turns: int,
        seed: int,
        start_from: int,
        variables: dict[str, object],
        dropped: dict[str, str],
        missing: frozenset[str] = frozenset(),
    ) -> dict[str, object]:
        """Return the globals for a run of a plan's segments.

        ``turns`` caps loop iterations and calls of the plan's functions. ``variables`` are restored, except runtime
        names. ``dropped`` maps the variables that a checkpoint could not hold to the reason; ``missing`` are those of
        the run before that this run does not have.
        """
        self._run.begin(host, seed)
        self._agent_methods.clear()
        self._scheduler.reset()
        if self._has_imports:
            self._names, self._has_imports = self._make_names(), False
        space = {name: value for name, value in variables.items() if _is_plans_own(name)}
        self._names |= {"start_from": start_from, "_keep_": space.update, **count_turns(self._stopper, turns)}
        # Only an exact dict keeps the interpreter's fast path for builtins.
        self._builtins = _Builtins(self._names, dropped, missing) if dropped or missing else self._names
        space["__builtins__"] = self._builtins
        return space

    def finish_segment(self, returned: Any) -> Any:
        """What a segment returned, once everything has ended that it began. A segment that awaits is a coroutine."""
        if type(returned) is CoroutineType:
            returned = self._scheduler.run_coroutine(returned)
        if not self._scheduler.is_idle:
            self._scheduler.end_tasks()
        return returned

    def _make_names(self) -> dict[str, object]:
        """The names that are the same for every run."""
        run, stopper = self._run, self._stopper
        size_guard = SizeGuard(stopper.stop_at_limit)
        ask = _make_ask(run, stopper)
        scheduler = self._scheduler
        guarded_getattr = make_getattr(_make_agent_reader(run, stopper, scheduler, self._agent_methods), size_guard)
        modules = make_modules(run, size_guard, ask, literal_eval) | make_concurrency_modules(scheduler)
        return {
            **make_builtins(guarded_getattr, size_guard),
            **make_guards(stopper, size_guard),
            **{name: module for name, module in modules.items() if name != "large_language_model"},
            **modules["collections"].members,
            "__import__": _ignore_import,
            "_await_": as_awaitable,
            "_begin_": _make_beginner(guarded_getattr, scheduler),
            "_getattr_": guarded_getattr,
            "_import_": self._import,
            "_modules_": modules,
            "agent": AgentProxy(),
            "ask_llm": ask,
            "ask": ask,
            "each": make_each(scheduler),
            "replan": _make_ending("replan", stopper, ReplanRequested),
            "_replan_at_end_": _make_ending("replan", stopper, partial(ReplanRequested, step_done=True)),
            "give_up": _make_ending("give_up", stopper, GiveUpRequested),
            "literal_eval": literal_eval,
            "print": _make_print(run, stopper),
        }

    def _import(self, name: str, module: str, member: str | None) -> None:
        modules: Any = self._names["_modules_"]
        self._has_imports = True
        self._builtins[name] = modules[module] if member is None else modules[module].members[member]


def plan_variables(namespace: dict[str, object]) -> dict[str, object]:
    """Return the plan's own variables, which a checkpoint saves."""
    return {name: value for name, value in namespace.items() if _is_plans_own(name)}


def _is_plans_own(name: str) -> bool:
    return not name.startswith("_") and name not in RESERVED_NAMES


def _ignore_import(*_: object) -> None:
    """Accept imports by the interpreter's C code (such as ``Pattern.sub``), which reads ``sys.modules`` itself."""


def _make_agent_reader(
    run: CurrentRun, stopper: PlanStopper, scheduler: Scheduler, methods: dict[str, Callable[..., object]]
) -> Callable[[str], object]:
    """Return what reads ``agent.x``. It keeps the functions that it made for a run's ``methods`` there."""

    def bound(method: str) -> Callable[..., object]:
        def not_plain(problem: str) -> TypeError:
            return TypeError(f"agent.{method} was given {problem}; give it texts, numbers, lists and dicts")

        def call(*args: object, **kwargs: object) -> object:
            stopper.raise_if_failed()
            for argument in (*args, *kwargs.values()):
                problem = find_non_plain(argument, ARGUMENT_RULES)
                if problem is not None:
                    raise not_plain(problem)
            if scheduler.open:
                return scheduler.call(method, args, kwargs)
            return run.host.call(method, args, kwargs)

        def begin(*args: object, **kwargs: object) -> Future:
            stopper.raise_if_failed()
            problems = (find_non_plain(argument, ARGUMENT_RULES) for argument in (*args, *kwargs.values()))
            if (problem := next(filter(None, problems), None)) is not None:
                raise not_plain(problem)
            return scheduler.begin_call(method, args, kwargs)

        scheduler.begins[set_name(method, call)] = begin
        return call

    def read(name: str) -> object:
        if name in methods:
            return methods[name]
        host = run.host
        if name in host.methods:
            methods[name] = bound(name)
            return methods[name]
        if name in host.attributes:
            stopper.raise_if_failed()
            return host.read(name)
        raise AttributeError(f"the agent has no '{name}'; it has: {', '.join(sorted(host.methods | host.attributes))}")

    return read


def _make_beginner(guarded_getattr: Callable[[Any, str], Any], scheduler: Scheduler) -> Callable[[Any, str], Any]:
    """Return the guard for ``agent.f`` where its call is begun and not waited for."""

    def begin_of(value: Any, name: str) -> Any:
        method = guarded_getattr(value, name)
        return scheduler.find_begin(method) or method

    return begin_of


def _make_ask(run: CurrentRun, stopper: PlanStopper) -> Callable[[str], str]:
    def ask_llm(question: str) -> str:
        if type(question) is not str:
            raise TypeError(f"ask_llm takes one text, not {with_article(type(question).__name__)}; write ask_llm(f'…')")
        stopper.raise_if_failed()
        return run.host.ask(question)

    return set_name("ask_llm", ask_llm)


def _make_ending(
    name: str, stopper: PlanStopper, termination: Callable[[str], PlanTermination]
) -> Callable[[str], NoReturn]:
    def end_plan(reason: str) -> NoReturn:
        if type(reason) is not str:
            raise TypeError(f"{name} takes one text, not {with_article(type(reason).__name__)}; write {name}(f'…')")
        stopper.stop(termination(truncate_message(reason)))

    return set_name(name, end_plan)


def _make_print(run: CurrentRun, stopper: PlanStopper) -> Callable[..., None]:
    def print_(*values: object, file: None = None, **named: Any) -> None:
        if file is not None:
            raise TypeError("print writes to the plan's output only; leave out file=")
        text = StringIO()
        print(*values, file=text, **named)
        stopper.raise_if_failed()
        run.host.print(text.getvalue())

    return set_name("print", print_)
