"""Random objects of a plan's classes come back as they were; where the classes have changed, they are named instead."""

from __future__ import annotations

import builtins
import math
from dataclasses import InitVar, dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplan.sandbox.protocol.codec import classes_by_variable, decode, encode
from codeplan.sandbox.runtime.classes import ENUM_CLASSES, mark_class
from codeplan.sandbox.runtime.saved_objects import PlanObjects, describe_for
from codeplan.types import Checkpoint

CLASSES = """\
class Color(Enum):
    RED = 'r'
    BLUE = 2
    ALSO = 'r'
class Right(Flag):
    READ = 1
    WRITE = 2
    BOTH = 3
    LARGE = 1 << 60
class Bits(IntFlag):
    LOW = 1
    HIGH = 4
class Number(IntEnum):
    ONE = 1
    TWO = 2
class Point(NamedTuple):
    x: int
    y: int = 0
class Alone(NamedTuple):
    x: list
    def __hash__(self):
        return 7
    def __eq__(self, other):
        return self is other
@dataclass(frozen=True)
class Key:
    number: int
    rest: tuple = ()
@dataclass(frozen=True, slots=True)
class Slotted:
    number: int
@dataclass(kw_only=True)
class Item:
    name: str
    tags: list = field(default_factory=list)
    tag: InitVar[int] = 3
    late: int = field(init=False, default=4)
    def __post_init__(self, tag):
        self.tags.append(tag)
class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b
class Mixed:
    __slots__ = ('a', '__dict__')
class Titled:
    def __init__(self, title):
        self.title = title
    def __hash__(self):
        return hash(str(self.title))
    def __eq__(self, other):
        return type(other) is Titled and str(self.title) == str(other.title)
"""

CHANGES = [
    ("class Color(Enum)", "class Color(IntEnum)"),
    ("class Color(Enum)", "class Color"),
    ("RED = 'r'", "GREEN = 'r'"),
    ("READ = 1\n    WRITE = 2", "READ = 2\n    WRITE = 1"),
    ("READ = 1\n    WRITE = 2", "READ = 4\n    WRITE = 8"),
    ("(Flag)", "(Enum)"),
    ("(IntFlag)", "(IntEnum)"),
    ("HIGH = 4", "HIGH = 2"),
    (
        "class Right(Flag):",
        "class Right(Flag):\n    @classmethod\n    def _missing_(cls, value):\n        raise ValueError",
    ),
    ("class Point(NamedTuple)", "class Point"),
    ("    x: int\n", ""),
    ("return 7", "raise ValueError"),
    ("return self is other", "return True"),
    ("return self is other", "assert False"),
    ("frozen=True)", "eq=True)"),
    ("frozen=True, slots=True", "order=True"),
    ("    rest: tuple", "    others: tuple"),
    ("kw_only=True", "slots=True"),
    ("    tags: list", "    kind: int\n    tags: list"),
    ("class Plain", "class Plain(list)"),
    ("class Plain:", "class Plain:\n    __slots__ = ('a',)"),
    ("class Plain:", "class Plain:\n    @property\n    def a(self):\n        return 1"),
    ("class Mixed", "class Mixed(dict)"),
    ("'a', '__dict__'", "'a',"),
    ("hash(str(self.title))", "hash(self.title)"),
    ("hash(str(self.title))", "self.missing"),
    ("class Titled", "class Named"),
]


def plan_names(text: str) -> dict[str, Any]:
    """The names of a plan that defines these classes."""
    names: dict[str, Any] = {**ENUM_CLASSES, "NamedTuple": NamedTuple, "dataclass": dataclass, "field": field}
    names |= {"InitVar": InitVar, "__name__": "__main__", "__builtins__": builtins}
    before = {*names}
    exec(compile(text, "<plan>", "exec", dont_inherit=True), names)
    for name in names.keys() - before:
        mark_class(names[name])
    return names


OLD, NEW = plan_names(CLASSES), plan_names(CLASSES)


def mixed(a: object, b: object) -> object:
    value = OLD["Mixed"]()
    value.a, value.b = a, b
    return value


def own_parent(part: object) -> object:
    value = OLD["Plain"](part, [])
    value.b.append(value)
    return value


SCALARS = (
    st.integers(0, 3)
    | st.sampled_from([OLD["Color"].RED, OLD["Color"].BLUE, *OLD["Number"], OLD["Right"].LARGE | OLD["Right"].READ])
    | st.integers(0, 3).map(OLD["Right"])
    | st.integers(0, 15).map(OLD["Bits"])
    | st.sampled_from(["Color.RED", "RED", (1, 0), math.nan])
)
KEYS = st.recursive(
    SCALARS,
    lambda inner: (
        st.tuples(inner, inner)
        | st.frozensets(inner, max_size=3)
        | st.builds(OLD["Point"], inner, inner)
        | st.builds(OLD["Alone"], st.lists(inner, max_size=2))
        | st.builds(OLD["Key"], inner, inner)
        | st.builds(OLD["Slotted"], inner)
        | st.builds(OLD["Titled"], st.lists(inner, max_size=2))
        | st.builds(OLD["Plain"], inner, inner)
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    KEYS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.sets(KEYS, max_size=3)
        | st.builds(lambda name, tags: OLD["Item"](name=name, tags=[tags]), inner, inner)
        | st.builds(mixed, inner, inner)
        | st.builds(own_parent, inner)
        | st.lists(inner, max_size=3).map(lambda value: [value, {1: value}])
    ),
    max_leaves=10,
)
VARIABLES = st.dictionaries(st.sampled_from("abcd"), VALUES, min_size=1)


def layout(value: Any, seen: dict[int, int] | None = None) -> object:
    """What tells a value from every other: types, scalars and parts in order, and which parts are one object."""
    seen, kind = {} if seen is None else seen, type(value)
    if isinstance(value, Enum):
        return kind.__name__, repr(value)
    if isinstance(value, int | str):
        return kind, value
    if id(value) in seen:
        return "the same", seen[id(value)]
    seen[id(value)] = len(seen)
    if isinstance(value, set | frozenset):
        assert all(part in value for part in value)
        return kind, sorted((layout(part) for part in value), key=repr)
    if isinstance(value, dict):
        assert all(part in value for part in value)
        return kind, [layout(part, seen) for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        return kind.__name__, [layout(part, seen) for part in value]
    names = {name: getattr(value, name) for name in getattr(kind, "__slots__", ()) if name != "__dict__"}
    fields = names | getattr(value, "__dict__", {})
    return kind.__name__, [(name, layout(part, seen)) for name, part in fields.items()]


@given(VARIABLES)
def test_objects_come_back_with_their_types_fields_keys_and_shared_parts(variables):
    saved = encode(variables, 1 << 20, describe_for(OLD))
    assert saved.dropped == {}
    checkpoint = msgspec.json.decode(msgspec.json.encode(saved), type=Checkpoint)
    assert decode(checkpoint).keys() == variables.keys()  # without the plan's classes
    objects = PlanObjects(NEW)
    restored = decode(checkpoint, objects)
    assert not any(map(objects.lack, classes_by_variable(checkpoint).values()))
    assert layout(restored) == layout(variables)


@settings(max_examples=300)
@given(VARIABLES, st.lists(st.sampled_from(CHANGES), min_size=1, max_size=4, unique=True))
def test_no_change_of_a_class_makes_a_checkpoint_look_damaged(variables, changes):
    checkpoint = encode(variables, 1 << 20, describe_for(OLD))
    text = CLASSES
    for before, after in changes:
        text = text.replace(before, after)
    try:
        names = plan_names(text)
    except (TypeError, ValueError):  # together, these changes make no class
        return
    objects = PlanObjects(names)
    restored = decode(checkpoint, objects)
    assert restored.keys() == checkpoint.names.keys()
    for name, classes in classes_by_variable(checkpoint).items():
        if not objects.lack(classes):
            layout(restored[name])
