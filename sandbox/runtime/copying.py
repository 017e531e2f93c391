"""``copy``, ``id`` and ``hash`` without ``__reduce__`` and without addresses.

The functions of the standard library would call whatever an object's ``__reduce__`` returns, and tell where it lies in
memory, which differs in each run.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import decimal
import inspect
import operator
import pathlib
import random
import re
import types
import typing
import uuid
import weakref
import zoneinfo
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from enum import EnumType
from fractions import Fraction
from functools import _lru_cache_wrapper, partial
from typing import Any, Final

from codeplan.sandbox.runtime.arrays import Array
from codeplan.sandbox.runtime.attributes import ALIASES, AgentProxy, ModuleFacade
from codeplan.sandbox.runtime.classes import IMMUTABLE_TYPE, ShownType, is_plan_class
from codeplan.sandbox.runtime.elements import Element
from codeplan.sandbox.runtime.guards import GETS_END, CurrentRun, set_name
from codeplan.sandbox.runtime.numbers_first import Struct
from codeplan.sandbox.runtime.scheduling import Scheduler
from codeplan.sandbox.runtime.text_modules import ConfigParser, SectionProxy
from codeplan.untrusted.values import NotKnownType

_ATOMS: Final[frozenset[type]] = frozenset(
    {type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes, range, type, slice, property}
    | {datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone, zoneinfo.ZoneInfo}
    | {
        decimal.Decimal,
        Fraction,
        uuid.UUID,
        pathlib.PurePosixPath,
        pathlib.PureWindowsPath,
        re.Pattern,
        re.Match,
        re.RegexFlag,
        Struct,
        AgentProxy,
    }
    | {NotKnownType, ShownType}
    | {types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType}
    | {types.WrapperDescriptorType, types.MethodWrapperType, types.GenericAlias, types.UnionType, type(Fraction)}
    | {partial, _lru_cache_wrapper}
)
"""Types whose values are their own copies."""

PARTIALS: Final[set[type]] = set()
"""The class of a plan's partial functions. Its module adds it."""

_NOT_COPIED: Final = frozenset({CurrentRun, Scheduler})
"""What objects of the runtime hold, such as futures: a copy would know no end of the plan."""


def _copy_random(generator: random.Random) -> random.Random:
    made = random.Random(0)
    made.setstate(generator.getstate())
    return made


_COPIERS: Final[dict[type, Callable[[Any], Any]]] = {
    Array: Array.__copy__,
    Element: Element.__copy__,
    random.Random: _copy_random,
    **{kind: kind.copy for kind in (list, dict, set, deque, defaultdict, OrderedDict, Counter, bytearray, ChainMap)},
    frozenset: frozenset,
    tuple: tuple,
}


def copy_members(identities: Identities) -> dict[str, object]:
    """Return the members of the module ``copy``."""

    def copy_(x: Any) -> Any:
        return _shallow(x)

    def deepcopy(x: Any, memo: Any = None, _nil: object = None) -> Any:
        known = memo if type(memo) is dict else {}
        return _DeepCopy(identities, known).of(x)

    return {
        "Error": copy.Error,
        "error": copy.Error,
        "copy": set_name("copy", copy_),
        "deepcopy": set_name("deepcopy", deepcopy),
    }


def _is_atom(kind: type) -> bool:
    if kind is ModuleFacade:
        raise TypeError("cannot pickle 'module' object")
    if kind.__module__.startswith(_RUNTIME) and not _has_content(kind):
        if "__call__" in vars(kind) or kind.__module__.endswith(".log_modules"):
            return True
        raise TypeError(f"cannot copy '{kind.__name__}' object")
    return kind in _ATOMS or issubclass(kind, type) or issubclass(type(kind), EnumType)


_RUNTIME: Final = "codeplan."
_WITH_CONTENT: Final = ("class_modules", "untrusted.values")


def _has_content(kind: type) -> bool:
    """Whether an object of a class of the runtime holds a plan's values alone, and not parts of the runtime."""
    known = kind in _ATOMS or kind in PARTIALS or kind in _NOT_COPIED
    known = known or issubclass(kind, BaseException | ConfigParser | SectionProxy)
    return known or kind.__module__.endswith(_WITH_CONTENT)


def _shallow(value: Any) -> Any:
    kind = type(value)
    if _is_atom(kind):
        return value
    if kind in _COPIERS:
        return _COPIERS[kind](value)
    if kind in PARTIALS:
        return kind(value.func, *value.args, **value.keywords)
    hook = _own_hook(kind, "__copy__")
    if hook is not None:
        return hook(value)
    made = _empty_instance(kind, value, _same)
    _copy_attributes(value, made, _same)
    _fill(made, value, _same)
    return made


def _same(part: Any) -> Any:
    return part


class _DeepCopy:
    """One call of ``deepcopy``; ``memo`` has the copies by the identity of what they copy.

    The plan has it: it is for what the plan can reach. ``made`` has the copies that this call made, also of what
    objects of the library hold.
    """

    def __init__(self, identities: Identities, memo: dict[Any, Any], made: dict[int, Any] | None = None) -> None:
        self._identities, self._number, self._memo = identities, identities.number, memo
        self._made = {} if made is None else made

    def of(self, value: Any) -> Any:
        """Return the copy of a value."""
        kind = type(value)
        if _is_atom(kind) and not (kind is types.MethodType and is_plan_class(type(value.__self__))):
            return value
        key = self._number(value)
        if key in self._memo:
            return self._memo[key]
        if key in self._made:
            return self._note(key, self._made[key])
        if kind is types.MethodType and is_plan_class(type(value.__self__)):
            made: Any = types.MethodType(value.__func__, self.of(value.__self__))
        elif kind is tuple:
            made = self._tuple(value, key)
        elif kind is frozenset:
            made = frozenset(map(self.of, value))
        elif kind in PARTIALS:
            made = kind(self.of(value.func), *self.of(value.args), **self.of(value.keywords))
        elif kind in (Array, random.Random):
            made = _COPIERS[kind](value)
        else:
            hook = _own_hook(kind, "__deepcopy__")
            if hook is None:
                return self._mutable(value, key)
            made = hook(value, self._memo)
        return self._note(key, self._memo.get(key, made))

    def _note(self, key: int, made: Any) -> Any:
        self._made[key] = self._memo[key] = made
        return made

    def _hidden(self, part: Any) -> Any:
        """Return the copy of what an object of the library holds, by no memo of the plan."""
        return _DeepCopy(self._identities, {}, self._made).of(part)

    def _tuple(self, value: tuple[Any, ...], key: int) -> Any:
        parts = [self.of(part) for part in value]
        if key in self._memo:  # the tuple contains itself, through a list
            return self._memo[key]
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else tuple(parts)

    def _mutable(self, value: Any, key: int) -> Any:
        kind = type(value)
        if kind is Element:
            return self._element(value, key)
        if kind in GETS_END:
            raise TypeError(f"cannot pickle '{type(getattr(value, 'gen', value)).__name__}' object")
        made: Any = self._note(key, self._empty(kind, value))
        if kind not in _COPIERS:
            shows = is_plan_class(kind) or issubclass(kind, BaseException)
            _copy_attributes(value, made, self.of if shows else self._hidden)
        _fill(made, value, self.of)
        return made

    def _element(self, value: Element, key: int) -> Element:
        made: Element = self._note(key, Element(self.of(value.tag), self.of(value.attrib)))
        made.text, made.tail = self.of(value.text), self.of(value.tail)
        made.extend([self.of(part) for part in value])
        return made

    def _empty(self, kind: type, value: Any) -> Any:
        if kind is defaultdict:
            return defaultdict(self.of(value.default_factory))
        if kind is deque:
            return deque(maxlen=value.maxlen)
        if kind is ChainMap:
            return ChainMap(*map(self.of, value.maps))
        return kind() if kind in _COPIERS else _empty_instance(kind, value, self.of)


def _own_hook(kind: type, name: str) -> Callable[..., Any] | None:
    """Return a class's own method of this name, a function that the plan wrote, or None."""
    for base in kind.__mro__:
        hook = vars(base).get(name)
        if type(hook) is types.FunctionType:
            return hook
    return None


def _empty_instance(kind: type, value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a new object of a plan's class, with the content of an immutable base but without its attributes.

    Raises: TypeError: Python cannot make an object of this type without its constructor.
    """
    if kind in _NOT_COPIED:
        raise TypeError(f"cannot copy '{kind.__name__}' object")
    base: Any = next(b for b in kind.__mro__ if b.__flags__ & IMMUTABLE_TYPE)
    if base is set:  # as in Python, by the constructor
        return kind([change(part) for part in value])
    try:
        if issubclass(base, BaseException):
            return base.__new__(kind, *value.args)
        if base in (tuple, frozenset):
            return base.__new__(kind, map(change, base(value)))
        return base.__new__(kind, *([base(value)] if base in (str, int, float, complex, bytes) else []))
    except TypeError:
        raise TypeError(f"cannot copy '{kind.__name__}' object") from None


def _copy_attributes(value: Any, made: Any, change: Callable[[Any], Any]) -> None:
    """Give an object's own attributes to its copy: those of its ``__dict__``, and of the slots of its classes.

    A plan may put any name into a ``__dict__``, also one that Python gives a meaning, such as ``__class__``.
    """
    given, own = _table(value), _table(made)
    for name, part in given.items():
        own[name] = change(part)
    for base in type(value).__mro__:
        for member in vars(base).values():
            if type(member) is types.MemberDescriptorType and not base.__flags__ & IMMUTABLE_TYPE:
                try:
                    part = member.__get__(value)
                except AttributeError:
                    continue
                member.__set__(made, change(part))


def _table(value: Any) -> dict[Any, Any]:
    """Return an object's own ``__dict__``; an empty one if it has none."""
    try:
        table = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return table if type(table) is dict else {}


def _fill(made: Any, value: Any, change: Callable[[Any], Any]) -> None:
    """Put the items of a container into its copy."""
    kind = type(made)
    if kind is ChainMap:
        return
    if isinstance(made, dict):
        put: Any = (OrderedDict if isinstance(made, OrderedDict) else dict).__setitem__
        for key, part in dict.items(value):  # which refuses to go on if a hook adds a key, as in Python
            put(made, change(key), change(part))
    elif isinstance(made, list):
        list.extend(made, [change(part) for part in list.__iter__(value)])
    elif isinstance(made, bytearray):
        bytearray.extend(made, value)
    elif isinstance(made, set):
        set.update(made, [change(part) for part in list(set.__iter__(value))])
    elif isinstance(made, deque):
        deque.extend(made, [change(part) for part in deque.__iter__(value)])


class Identities:
    """Numbers the objects whose identity a plan asks for, in the order in which it asks, so that replays agree."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    def number(self, value: object) -> int:
        """Return the number of an object, the same at each call of a run. The object stays alive."""
        table = self._run.identities
        held = table.get(id(value))
        if held is None:
            held = table[id(value)] = (value, (len(table) + 1) * 16)
        return held[1]

    def builtins(self) -> dict[str, object]:
        """Return ``id`` and ``hash``."""

        def id_(*obj: object, **named: object) -> int:
            return self.number(obj[0]) if len(obj) == 1 and not named else id(*obj, **named)

        def hash_(*obj: object, **named: object) -> int:
            return self.hash(obj[0]) if len(obj) == 1 and not named else hash(*obj, **named)

        return {"id": set_name("id", id_), "hash": set_name("hash", hash_)}

    def guard_hash(self, method: Any) -> Any:
        """Return ``x.__hash__`` or ``K.__hash__`` with numbers for addresses. What the plan wrote stays as it is."""
        kind = type(method)
        function = getattr(method, "__func__", method)
        if _is_made_hash(function):  # by dataclass, of a plan's fields
            given = getattr(method, "__self__", method)
            unbound = set_name("__hash__", lambda owner: self._hash_of_fields(owner, function))
            made = unbound if given is method else set_name("__hash__", lambda: self._hash_of_fields(given, function))
            made.__qualname__ = method.__qualname__
            return made
        if kind not in (types.MethodWrapperType, types.WrapperDescriptorType):
            return method
        owner = method.__objclass__

        def of(value: Any) -> int:
            if not issubclass(type(value), owner):
                return method(value)  # type: ignore[no-any-return]  # raises Python's own error
            return self.number(value) if owner is object else owner.__hash__(self._stable(value))

        def bound() -> int:
            return of(method.__self__)

        return set_name("__hash__", of if kind is types.WrapperDescriptorType else bound)

    def _hash_of_fields(self, value: Any, method: Any) -> int:
        fields = _hashed_fields(type(value), method)
        return self.number(value) if fields is None else self.hash(tuple(getattr(value, name) for name in fields))

    def hash(self, value: Any) -> int:
        """``hash(value)``, by number where Python's comes from an address."""
        return hash(self._stable(value))

    def _stable(self, value: Any) -> Any:
        """Return the value, or one of numbers in place of what Python hashes by its address."""
        kind: Any = type(value)
        base: Any
        for base in (tuple, frozenset):
            if kind.__hash__ is base.__hash__:  # also a named tuple
                parts = list(map(self._stable, base.__iter__(value)))
                return value if all(map(operator.is_, parts, base.__iter__(value))) else base(parts)
        if (fields := _hashed_fields(kind, getattr(kind, "__hash__", None))) is not None:
            given = [getattr(value, name) for name in fields]
            stable = tuple(map(self._stable, given))
            return value if all(map(operator.is_, stable, given)) else stable
        if kind is weakref.ref:
            return value if value() is None else self._stable(value())
        if kind in _UNIONS or getattr(value, "__origin__", None) is typing.Union:
            return ("|", frozenset(map(self._stable, value.__args__)))
        if kind in ALIASES:
            names = ("__origin__", "__args__", "__metadata__")
            return tuple(self._stable(getattr(value, name, None)) for name in names)
        if kind is inspect.Parameter:
            return tuple(map(self._stable, (value.name, value.kind, value.annotation, value.default)))
        if kind is inspect.Signature:
            named = [p for p in value.parameters.values() if p.kind is p.KEYWORD_ONLY]  # whose order does not matter
            placed = [p for p in value.parameters.values() if p.kind is not p.KEYWORD_ONLY]
            shown = tuple(map(self._stable, placed)), frozenset(map(self._stable, named))
            return (*shown, self._stable(value.return_annotation))
        by_address = getattr(kind, "__hash__", None) is object.__hash__ or value is None or kind in _HASHED_BY_ADDRESS
        return self.number(value) if by_address else value


def _is_made_hash(method: Any) -> bool:
    if type(method) is not types.FunctionType:
        return False
    return method.__code__.co_filename == "<string>" and method.__code__.co_name == "__hash__"


def _hashed_fields(kind: type, method: Any) -> list[str] | None:
    """Return the fields of which this ``__hash__`` makes a hash; None if it is not one of Python's ``dataclass``."""
    if not _is_made_hash(method):
        return None
    made = [base for base in kind.__mro__ if base.__dict__.get("__hash__") is method]
    if not made or "__dataclass_fields__" not in made[0].__dict__:
        return None
    return [f.name for f in dataclasses.fields(made[0]) if (f.compare if f.hash is None else f.hash)]


_UNIONS: Final = frozenset({types.UnionType})

_HASHED_BY_ADDRESS: Final = frozenset(
    {types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType, type, type(Fraction), ModuleFacade}
)
