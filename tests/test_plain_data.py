"""Plain data packed for JSON and MessagePack, and unpacked: it comes back as it was, within bounds."""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.plain_data import MAX_DEPTH, MAX_INT_BITS, MAX_SAME_HASH, MAX_VALUES, NotPlainData, pack, unpack

surrogates = st.text(st.characters(codec="utf-8") | st.sampled_from("\ud800\udfff"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | surrogates | st.just(10**3_000)
keys = scalars | st.sampled_from(["$dict", "$", ""]) | st.tuples(st.integers(), st.text(max_size=2))
plain = st.recursive(scalars, lambda d: st.lists(d) | st.dictionaries(keys, d) | st.tuples(d, d), max_leaves=12)


def same_hash(count: int) -> list[int]:
    """Whole numbers with the hash 0."""
    return [n * sys.hash_info.modulus for n in range(count)]


def nested(depth: int, value: object) -> object:
    for _ in range(depth):
        value = [value]
    return value


@given(plain)
def test_plain_data_comes_back_as_it_was_through_json_and_messagepack(value: object) -> None:
    packed = pack(value)
    through_json = json.loads(msgspec.json.encode(packed), parse_constant=pytest.fail)
    for arrived in (packed, through_json, msgspec.msgpack.decode(msgspec.msgpack.encode(packed))):
        found = unpack(arrived)
        assert found == value
        assert repr(found) == repr(value)  # neither True for 1 nor a list for a tuple


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_float_that_is_no_number_comes_back(number: str) -> None:
    assert str(unpack(pack([float(number)]))) == f"[{number}]"


def test_subclasses_become_the_plain_types() -> None:
    kinds = [type("Sub", (base,), {}) for base in (str, int, float, list, tuple, dict)]
    assert [type(unpack(pack(kind()))).__name__ for kind in kinds] == ["str", "int", "float", "list", "tuple", "dict"]


@pytest.mark.parametrize(
    ("most", "beyond", "why"),
    [
        (nested(MAX_DEPTH, 1), nested(MAX_DEPTH + 1, 1), "contains itself, or is nested deeper than 32"),
        (nested(MAX_DEPTH, ()), nested(MAX_DEPTH, (1,)), "nested deeper than 32"),
        ([0] * (MAX_VALUES - 1), [0] * MAX_VALUES, "more than 20,000 values"),
        (dict.fromkeys(range(9_999)), dict.fromkeys(range(10_000)), "more than 20,000 values"),
        ([2**MAX_INT_BITS - 1], [2**MAX_INT_BITS], "a whole number of more than 13,000 bits"),
        (1 - 2**MAX_INT_BITS, -(2**MAX_INT_BITS), "a whole number of more than 13,000 bits"),
        (dict.fromkeys(same_hash(MAX_SAME_HASH)), dict.fromkeys(same_hash(MAX_SAME_HASH + 1)), "32 keys of the same"),
    ],
    ids=["depth", "depth of a tuple", "values", "values of a dict", "bits", "negative", "hash"],
)
def test_each_limit_has_two_sides(most: object, beyond: object, why: str) -> None:
    assert unpack(pack(most)) == most
    with pytest.raises(NotPlainData, match=why):
        pack(beyond)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({1}, "^a set, which is not plain data$"),
        ([object()], "^an object, which is not plain data$"),
        (b"", "^a bytes, which is not plain data$"),
        ({((1,),): 1, frozenset(): 1}, "^a frozenset, which is not plain data$"),
        ({(): [int]}, "^a type, which is not plain data$"),
    ],
)
def test_anything_else_is_refused(value: object, why: str) -> None:
    with pytest.raises(NotPlainData, match=why):
        pack(value)


def test_a_key_that_could_be_taken_for_a_tag_is_packed_as_an_odd_one() -> None:
    assert pack({"a": 1, "$a": 2}) == {"$dict": [["a", 1], ["$a", 2]]}
    assert pack({"a$": 1, "": 2}) == {"a$": 1, "": 2}


FORGED: list[Any] = [
    *({"$x": 1}, {"$": 1}, {"$tuple": 1}, {"$tuple": {"a": 1}}, {"$dict": {}}, {"$dict": [1]}, {"$dict": [[1, 2, 3]]}),
    *({"$dict": [[[], 1]]}, {"$dict": [[{"$tuple": [[]]}, 1]]}, {"$int": "z"}, {"$int": 5}, {"$int": []}),
    *({"$float": "1"}, {"$float": []}, {"$text": "5"}, {"$text": 5}, {"$text": "ff"}, {"a": [{"$other": None}]}),
]


@pytest.mark.parametrize("packed", FORGED, ids=str)
def test_forged_forms_are_refused(packed: object) -> None:
    with pytest.raises(NotPlainData, match="an unknown form"):
        unpack(packed)


@pytest.mark.parametrize(
    ("most", "beyond", "why"),
    [
        ([0] * (2 * MAX_VALUES - 1), [0] * (2 * MAX_VALUES), "more than 20,000 values"),
        ({"$tuple": [0] * (2 * MAX_VALUES - 1)}, {"$tuple": [0] * (2 * MAX_VALUES)}, "more than 20,000 values"),
        (dict.fromkeys("ab"), {str(n): 0 for n in range(2 * MAX_VALUES)}, "more than 20,000 values"),
        (nested(2 * MAX_DEPTH + 2, 1), nested(2 * MAX_DEPTH + 3, 1), "nested deeper than 32"),
        ({"$int": hex(2**MAX_INT_BITS - 1)}, {"$int": hex(2**MAX_INT_BITS)}, "more than 13,000 bits"),
        ({"$dict": [[n, 0] for n in same_hash(32)]}, {"$dict": [[n, 0] for n in same_hash(33)]}, "keys of the same"),
    ],
    ids=["values", "tuple", "dict", "depth", "bits", "hash"],
)
def test_what_is_unpacked_is_bounded(most: object, beyond: object, why: str) -> None:
    unpack(most)
    with pytest.raises(NotPlainData, match=why):
        unpack(beyond)
