"""A checkpoint decodes to what was encoded, or says by name what it left out; damage never gets further than an error."""

from __future__ import annotations

import datetime
import math
import random
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplan.sandbox import decode, encode
from codeplan.sandbox.protocol.codec import (
    MAX_DROPPED_BYTES,
    MAX_KEY_DEPTH,
    MAX_NAMES,
    MAX_NODES,
    OTHERS_KEY,
    CheckpointError,
)
from codeplan.types import Checkpoint
from codeplan.untrusted.values import NotKnown

ROOM = 1 << 20

OFFSETS = st.timedeltas(datetime.timedelta(hours=-23), datetime.timedelta(hours=23))
ZONES = st.none() | st.builds(datetime.timezone, OFFSETS.filter(bool)) | st.just(datetime.UTC)
EXACT = (
    st.dates()
    | st.datetimes(timezones=ZONES).map(lambda value: value.replace(fold=0))
    | st.times(timezones=ZONES).map(lambda value: value.replace(fold=0))
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.sampled_from([Decimal("1E+50"), Decimal("-0E-7"), Decimal("1.50"), Decimal("-NaN12"), Decimal("-Infinity")])
    | st.fractions()
    | st.complex_numbers()
    | st.floats()
    | st.text(st.sampled_from("ab/.")).map(PurePosixPath)
    | st.sampled_from([PureWindowsPath("c:/x"), PureWindowsPath("A\\b"), NotKnown])
)
SCALARS = EXACT | st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)) | st.binary()
HASHABLE = st.recursive(SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=6)


def repeated(value: list[object]) -> list[object]:
    """A list that the value shares with itself, and that contains itself."""
    outer: list[object] = [value, {1: value}]
    outer.append(outer)
    return outer


def nested(scalars: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.recursive(
        scalars | HASHABLE,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.tuples(inner, inner)
            | st.dictionaries(HASHABLE, inner, max_size=4)
            | st.sets(HASHABLE, max_size=4)
            | st.builds(deque, st.lists(inner, max_size=3), st.none() | st.integers(0, 5))
            | st.dictionaries(HASHABLE, inner, max_size=3).map(OrderedDict)
            | st.dictionaries(HASHABLE, inner, max_size=3).map(Counter)
            | st.builds(
                defaultdict, st.sampled_from([None, list, Counter]), st.dictionaries(HASHABLE, inner, max_size=3)
            )
            | st.lists(inner, max_size=3).map(repeated)
        ),
        max_leaves=20,
    )


VALUES = nested(SCALARS)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)

SEGMENTS = st.text(st.sampled_from("ab/\\.:c \udc80é*?"), max_size=6)
ODD = (
    st.datetimes(timezones=ZONES).map(lambda value: value.replace(fold=1))
    | st.times(timezones=ZONES).map(lambda value: value.replace(fold=1))
    | st.builds(lambda zone: datetime.time(1, tzinfo=zone), st.builds(datetime.timezone, OFFSETS, st.text()))
    | st.builds(PurePosixPath, SEGMENTS, SEGMENTS)
    | st.builds(PureWindowsPath, SEGMENTS, SEGMENTS)
    | st.sampled_from([Decimal("-NaN12"), PureWindowsPath("A\\b"), range(3)])
)


def layout(value: Any, seen: dict[int, int] | None = None) -> object:
    """What tells a value from every other: its type, text, hash and parts in order, and which parts are one object."""
    seen, kind = {} if seen is None else seen, type(value)
    if value is None or kind in (bool, int, str, bytes):
        return kind, value
    if id(value) in seen:
        return "the same", seen[id(value)]
    if kind is not float or math.isnan(value):
        seen[id(value)] = len(seen)
    if kind in (set, frozenset):
        return kind, sorted((layout(part) for part in value), key=repr)
    if isinstance(value, list | tuple | deque):
        return kind, getattr(value, "maxlen", None), [layout(part, seen) for part in value]
    if isinstance(value, dict):
        factory = getattr(value, "default_factory", None)
        return kind, factory, [layout(part, seen) for item in value.items() for part in item]
    aspects = [getattr(value, name, None) for name in ("parts", "anchor", "fold")]
    zone = value.tzname() if hasattr(value, "tzname") else None
    return kind, repr(value), hash(value) if value == value else None, aspects, zone


def same(a: object, b: object) -> bool:
    return layout(a) == layout(b)


def through_json(checkpoint: Checkpoint) -> Checkpoint:
    return msgspec.json.decode(msgspec.json.encode(checkpoint), type=Checkpoint)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_is_encoded_decodes_to_the_same_also_from_a_trace(variables):
    checkpoint = encode(variables, ROOM)
    assert checkpoint.dropped == {}
    assert same(decode(checkpoint), variables)
    assert same(decode(through_json(checkpoint)), variables)


@given(st.dictionaries(NAMES, nested(SCALARS | ODD), max_size=4), st.sampled_from([0, 1]))
def test_each_variable_comes_back_as_it_was_or_is_named_in_any_context_of_decimals(variables, capitals):
    with localcontext() as context:
        context.capitals = capitals
        checkpoint = encode(variables, ROOM)
    assert checkpoint.names.keys() | checkpoint.dropped.keys() == variables.keys()
    kept = {name: value for name, value in variables.items() if name in checkpoint.names}
    assert same(decode(through_json(checkpoint)), kept)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.integers(min_value=0, max_value=400))
def test_a_checkpoint_never_takes_more_bytes_than_it_may(variables, room):
    checkpoint = encode(variables, room)
    assert len(msgspec.msgpack.encode((checkpoint.names, checkpoint.nodes))) <= room + 10
    assert {*checkpoint.names, *checkpoint.dropped} == {*variables}


@pytest.mark.parametrize(
    "value",
    [
        2**64,
        -(2**63) - 1,
        10**400,
        math.inf,
        -math.inf,
        -0.0,
        b"\x00\xff",
        "\ud800 alone",
        "",
        (),
        deque([1], maxlen=sys.maxsize),
    ],
    ids=repr,
)
def test_each_plain_type_comes_back_exactly(value):
    assert same(decode(encode({"x": value}, ROOM))["x"], value)


def test_an_ordered_dict_keeps_its_order():
    shelves = OrderedDict(a=1, b=2, c=3)
    shelves.move_to_end("a")
    back = decode(encode({"x": shelves}, ROOM))["x"]
    assert back == shelves
    assert [*back] == ["b", "c", "a"]  # type: ignore[misc]  # an OrderedDict


def test_aliases_are_kept_within_and_between_variables():
    shared = [1]
    back = decode(encode({"a": shared, "b": {"k": [shared, shared]}, "c": (shared,)}, ROOM))
    assert back["a"] is back["b"]["k"][0] is back["b"]["k"][1] is back["c"][0]  # type: ignore[index]  # known


def test_cycles_are_kept_also_through_a_tuple():
    loop: list[object] = []
    loop.append((loop, {"me": loop}))
    back = decode(encode({"loop": loop}, ROOM))["loop"]
    assert back[0][0] is back and back[0][1]["me"] is back  # type: ignore[index]  # known


def test_a_list_nested_tens_of_thousands_deep_does_not_overflow_anything():
    deep: list[object] = []
    for _ in range(MAX_NODES - 10):
        deep = [deep]
    checkpoint = encode({"deep": deep}, 4 * ROOM)
    assert "deep" in decode(checkpoint)


class Text(str):
    """Not exactly text."""


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (lambda: 1, "function"),
        (iter([1]), "list_iterator"),
        ((i for i in [1]), "generator"),
        (ValueError("x"), "ValueError"),
        (Text("x"), "Text"),
        (object(), "object"),
        (range(3), "range"),
        (Fraction(10**5000, 3), "Fraction"),
        (int, "a class"),
        (defaultdict(lambda: 0), "factory"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_plain_is_dropped_with_the_variable_that_reaches_it_and_named(value, named):
    checkpoint = encode({"bad": {"k": [value]}, "good": 1}, ROOM)
    assert decode(checkpoint) == {"good": 1}
    assert named in checkpoint.dropped["bad"]


def test_a_dropped_variable_leaves_nothing_behind_and_takes_no_room():
    shared = ["x" * 50]
    checkpoint = encode({"bad": [shared, print], "good": shared}, 200)
    assert decode(checkpoint) == {"good": shared}
    assert len(checkpoint.nodes) == 2


def test_three_hundred_thousand_texts_are_dropped_and_named_at_once():
    checkpoint = encode({"items": ["x" * 1000] * 300_000, "n": 3}, ROOM)
    assert decode(checkpoint) == {"n": 3}
    assert "more than 50,000 values" in checkpoint.dropped["items"]


def test_one_huge_text_is_dropped_and_the_limit_is_named():
    checkpoint = encode({"text": "x" * 2_000_000}, 1_000)
    assert "larger than the 1,000 bytes" in checkpoint.dropped["text"]


def test_a_tuple_too_deep_to_be_hashed_is_dropped_also_when_it_is_built_variable_by_variable():
    variables: dict[str, object] = {"t0": ()}
    for i in range(MAX_KEY_DEPTH + 5):
        variables[f"t{i + 1}"] = (variables[f"t{i}"],)
    checkpoint = encode(variables, ROOM)
    assert len(checkpoint.dropped) == 6
    assert all("nested deeper" in reason for reason in checkpoint.dropped.values())
    assert len(decode(checkpoint)) == MAX_KEY_DEPTH


def test_a_tuple_that_would_take_forever_to_hash_is_dropped():
    bomb: object = ()
    for _ in range(40):
        bomb = (bomb, bomb)
    checkpoint = encode({"bomb": bomb}, ROOM)
    assert "more than 100,000 values" in checkpoint.dropped["bomb"]


def test_a_key_is_nested_sixty_four_deep_at_most():
    deep: object = ()
    for _ in range(63):
        deep = (deep,)
    assert decode(encode({"deep": {deep}}, ROOM)) == {"deep": {deep}}
    assert "nested deeper than 64" in encode({"deep": {(deep,)}}, ROOM).dropped["deep"]


def weighing(values: int) -> tuple[object, ...]:
    """A tuple of so many values in all, itself included, most of them in one that it contains many times."""
    shared = (0,) * 999
    return (*(shared,) * (values // 1_000 - 1), *[0] * (values - 1 - 1_000 * (values // 1_000 - 1)))


def test_a_tuple_has_a_hundred_thousand_values_at_most():
    assert decode(encode({"x": weighing(100_000)}, ROOM)) == {"x": weighing(100_000)}
    assert "a tuple of more than 100,000 values" in encode({"x": weighing(100_001)}, ROOM).dropped["x"]


def test_all_keys_have_four_hundred_thousand_values_at_most():
    keys = {(n, weighing(99_998)): n for n in range(4)}
    assert decode(encode({"x": keys}, ROOM)) == {"x": keys}
    assert "more than 400,000 values in keys" in encode({"x": {**keys, "one more": 5}}, ROOM).dropped["x"]


def colliding_numbers(count: int) -> list[int]:
    """Numbers with one hash: each new key of a dict is compared with all before it."""
    return [n * sys.hash_info.modulus for n in range(1, count + 1)]


def colliding_tuples(depth: int) -> list[object]:
    """Tuples with one hash, because -1 and -2 have one."""
    level: list[object] = [-1, -2]
    for _ in range(depth):
        level = [(a, b) for a in level for b in level]
    return level


COLLIDING = {
    "numbers as keys": dict.fromkeys(colliding_numbers(3000)),
    "numbers in a set": set(colliding_numbers(3000)),
    "tuples as keys": dict.fromkeys(colliding_tuples(3)),
    "tuples in a set within a list": [set(colliding_tuples(3))],
    "tuples in a frozen set as a key": {frozenset(colliding_tuples(3)): 1},
}


@pytest.mark.parametrize("value", COLLIDING.values(), ids=COLLIDING)
def test_keys_that_would_take_long_to_compare_are_dropped_and_leave_the_others(value):
    checkpoint = encode({"before": 1, "x": value, "after": {2}}, 1 << 22)
    assert "keys with the same hash" in checkpoint.dropped["x"]
    assert decode(checkpoint) == {"before": 1, "after": {2}}


def test_keys_whose_hash_takes_long_in_all_are_dropped_also_over_several_variables():
    key: object = (0,)
    for _ in range(14):
        key = (key, key)
    variables = {f"v{n}": {(key, n): 1} for n in range(40)}
    checkpoint = encode(variables, ROOM)
    assert 3 < len(checkpoint.names) < 30
    assert all("values in keys" in reason for reason in checkpoint.dropped.values())
    assert len(decode(checkpoint)) == len(checkpoint.names)


@pytest.mark.parametrize("tag", ["list", "tuple"])
def test_such_values_are_saved_where_nothing_hashes_them(tag):
    value = {"list": list, "tuple": tuple}[tag](colliding_tuples(3))
    assert decode(encode({"x": value}, ROOM))["x"] == value


def hash_bomb(tag: str, keys: int = 9_000) -> Checkpoint:
    """A table that no encoder made: thousands of keys, each of which takes 65,000 steps to hash."""
    doubles = [["tuple", at + 1, at + 1] for at in range(15)]
    nodes = [*doubles, 0, *range(1, keys + 1), *(["tuple", 0, 16 + n] for n in range(keys))]
    pairs = [16 + keys + n for n in range(keys)]
    parts = pairs if "set" in tag else [part for pair in pairs for part in (pair, 15)]
    return Checkpoint({"x": len(nodes)}, [*nodes, [tag, *parts]])


def hash_collision(tag: str, keys: int = 20_000) -> Checkpoint:
    nodes = [["int", hex(n)] for n in colliding_numbers(keys)]
    parts = list(range(keys)) if "set" in tag else [part for n in range(keys) for part in (n, 0)]
    return Checkpoint({"x": keys}, [*nodes, [tag, *parts]])


DAMAGED = {
    **{f"keys that take long to hash in a {tag}": hash_bomb(tag) for tag in ("set", "frozenset", "dict", "counter")},
    **{f"keys that collide in a {tag}": hash_collision(tag) for tag in ("set", "frozenset", "ordered", "default:int")},
    "a name of a megabyte": Checkpoint({"n" * 1_000_000: 0}, [1]),
    "too many names": Checkpoint({f"n{n}": 0 for n in range(MAX_NAMES + 1)}, [1]),
    "too many dropped names": Checkpoint({}, [], {f"n{n}": "" for n in range(MAX_NAMES + 2)}),
    "a reason of a megabyte": Checkpoint({}, [], {"n": "r" * 1_000_000}),
    "an index out of range": Checkpoint({"x": 5}, [1]),
    "a part out of range": Checkpoint({"x": 0}, [["list", 7]]),
    "an unknown tag": Checkpoint({"x": 0}, [["object", 0]]),
    "an empty node": Checkpoint({"x": 0}, [[]]),
    "a node of a strange type": Checkpoint({"x": 0}, [{"k": 1}]),
    "a key without a value": Checkpoint({"x": 0}, [["dict", 1], 1]),
    "a list as a key": Checkpoint({"x": 0}, [["dict", 1, 1], ["list"]]),
    "a list in a set": Checkpoint({"x": 0}, [["set", 1], ["list"]]),
    "a key twice": Checkpoint({"x": 0}, [["dict", 1, 1, 2, 2], 1, True]),
    "a tuple that holds itself": Checkpoint({"x": 0}, [["tuple", 0]]),
    "tuples that hold each other": Checkpoint({"x": 0}, [["tuple", 1], ["frozenset", 0]]),
    "a number that is no number": Checkpoint({"x": 0}, [["int", "0xzz"]]),
    "a float that is code": Checkpoint({"x": 0}, [["float", "__import__('os')"]]),
    "bytes that are none": Checkpoint({"x": 0}, [["bytes", "zz"]]),
    "an unknown factory": Checkpoint({"x": 0}, [["default:eval"]]),
    "a deque that cannot hold its items": Checkpoint({"x": 0}, [["deque:1", 1, 2], 1, 2]),
    "a name that is no name": Checkpoint({"x y": 0}, [1]),
    "names that are no mapping": Checkpoint([1], [1]),  # type: ignore[arg-type]  # damage
    "nodes that are no list": Checkpoint({}, "abc"),  # type: ignore[arg-type]  # damage
    "dropped names that are none": Checkpoint({}, [], {1: 2}),  # type: ignore[dict-item]  # damage
}


@pytest.mark.parametrize("checkpoint", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_table_is_a_clear_error(checkpoint):
    with pytest.raises(CheckpointError, match=r"^the checkpoint is damaged: "):
        decode(checkpoint)


@pytest.mark.long
@settings(max_examples=300)
@given(st.dictionaries(NAMES, VALUES, max_size=3), st.integers())
def test_random_damage_is_refused_or_decoded_but_never_crashes(variables, seed):
    checkpoint = encode(variables, ROOM)
    nodes = msgspec.msgpack.decode(msgspec.msgpack.encode(checkpoint.nodes))
    dice = random.Random(seed)
    for _ in range(dice.randint(1, 4)):
        damage(nodes, dice)
    try:
        encode(decode(Checkpoint(checkpoint.names, nodes)), ROOM)
    except CheckpointError as error:
        assert "\n" not in str(error)


def damage(nodes: list[object], dice: random.Random) -> None:
    if not nodes:
        return
    at = dice.randrange(len(nodes))
    node = nodes[at]
    if isinstance(node, list) and node and dice.random() < 0.7:
        node[dice.randrange(len(node))] = dice.choice([0, at, -1, 10**9, "tuple", "dict", "int", None, 1.5])
    else:
        nodes[at] = dice.choice([["tuple", at], ["dict", 0], [], None, {}, b"x", ["default:list"], ["set", 0, 0]])


@pytest.mark.long
@settings(max_examples=200)
@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10))
def test_any_value_instead_of_a_table_is_refused_or_decoded(junk):
    try:
        decode(Checkpoint({"x": 0}, junk if isinstance(junk, list) else [junk]))
    except CheckpointError as error:
        assert str(error)


def test_variables_beyond_the_maximum_are_counted():
    checkpoint = encode({f"x{i}": i for i in range(MAX_NAMES + 7)}, 1 << 20)
    assert len(checkpoint.names) == MAX_NAMES
    assert checkpoint.dropped[OTHERS_KEY].startswith("7 more variables")


def test_dropped_variables_with_very_long_names_are_counted_and_take_no_room():
    checkpoint = encode({"v" * 5_000: 1, **{f"{'w' * 190}{i}": print for i in range(900)}}, 1 << 20)
    assert "v" * 5_000 not in checkpoint.dropped
    assert OTHERS_KEY in checkpoint.dropped
    assert len(msgspec.msgpack.encode(checkpoint.dropped)) <= MAX_DROPPED_BYTES + 1_000


def test_a_name_of_two_hundred_characters_is_saved_and_a_longer_one_is_counted():
    checkpoint = encode({"v" * 200: 1, "w" * 201: 2}, ROOM)
    assert decode(checkpoint) == {"v" * 200: 1}
    assert checkpoint.dropped.keys() == {OTHERS_KEY}
    assert checkpoint.dropped[OTHERS_KEY].startswith("1 more variable,")


@pytest.mark.parametrize(("longer", "counted"), [(0, None), (1, "1 more variable,")])
def test_dropped_variables_are_named_as_long_as_there_is_room(longer, counted):
    """Each takes its name, its reason and ten bytes."""
    (why,) = encode({"f": print}, ROOM).dropped.values()
    count, rest = divmod(MAX_DROPPED_BYTES, 190 + len(why) + 10)
    last = rest - len(why) - 10 + longer
    assert 1 <= last <= 190
    names = [*(f"{n:03}".ljust(190, "w") for n in range(count)), "z" * last]
    checkpoint = encode(dict.fromkeys(names, print), ROOM)
    assert (names[-1] in checkpoint.dropped) == (counted is None)
    assert checkpoint.dropped.get(OTHERS_KEY, "").startswith(counted or "")
    assert len(checkpoint.dropped) == len(names)


@pytest.mark.parametrize(("room", "saved"), [(23, {"a": 0}), (22, {})])
def test_a_variable_takes_ten_bytes_four_for_each_character_of_its_name_and_its_value(room, saved):
    assert decode(encode({"a": 0}, room)) == saved


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_from_two_to_the_power_of_53_on_is_a_text(sign):
    assert encode({"n": sign * (2**53 - 1)}, ROOM).nodes == [sign * (2**53 - 1)]
    assert encode({"n": sign * 2**53}, ROOM).nodes == [["int", hex(sign * 2**53)]]


@pytest.mark.parametrize("kind", [Counter, OrderedDict, deque])
def test_a_defaultdict_of_containers_goes_on_making_them(kind):
    back = decode(encode({"d": defaultdict(kind, {1: kind()})}, ROOM))["d"]
    assert back == {1: kind()}
    assert type(back["new"]) is kind


def test_a_date_in_a_named_zone_is_dropped_because_its_zone_would_be_lost():
    checkpoint = encode({"x": datetime.datetime(2024, 1, 1, tzinfo=ZoneInfo("Europe/Paris"))}, ROOM)
    assert checkpoint.dropped == {"x": "a datetime in a named time zone cannot be saved"}


@pytest.mark.parametrize(
    "node",
    [
        ["date", "2024-02-30"],
        ["datetime", "20240102"],
        ["timedelta", "1 2"],
        ["timedelta", "0 0 1000000"],
        ["decimal", "1_0"],
        ["decimal", "x"],
        ["fraction", "1/0"],
        ["fraction", "2/4"],
    ],
    ids=repr,
)
def test_a_date_or_number_in_another_form_is_damage(node):
    with pytest.raises(CheckpointError, match="damaged"):
        decode(Checkpoint({"x": 0}, [node], {}))
