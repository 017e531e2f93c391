"""The modules that plans may import, limited to members that touch nothing but their arguments."""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from codeplan.sandbox.runtime.attributes import ModuleFacade
from codeplan.sandbox.runtime.current_run import CurrentRun
from codeplan.sandbox.runtime.names import ALLOWED_MODULES
from codeplan.sandbox.runtime.qualnames import set_name
from codeplan.sandbox.runtime.size_guard import SizeGuard

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
