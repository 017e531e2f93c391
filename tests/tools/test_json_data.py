"""What values become as JSON data, and where too much of it is refused."""

from __future__ import annotations

import dataclasses
import json
from collections import OrderedDict
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.errors import AgentError
from codeplan.tools.json_data import MAX_DEPTH, MAX_VALUES, NotPlain, from_json_data, stands_for_itself, to_json_data

TAGS = st.sampled_from(["$tuple", "$dict", "$int", "$float", "$", "a", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TAGS,
    lambda d: st.lists(d, max_size=4) | st.dictionaries(TAGS, d, max_size=2),
    max_leaves=100,
)


@dataclasses.dataclass
class One:
    only: object


@dataclasses.dataclass
class Two:
    first: object
    second: object


class Number(Enum):
    FIVE = 5


@given(JSON)
def test_what_stands_for_itself_is_read_unchanged(data):
    text = json.dumps(data)
    for written in (text, text.replace("$", "\\u0024")):
        assert json.loads(written) == data
        if stands_for_itself(written):
            assert from_json_data(data) == data


@pytest.mark.parametrize(
    "text", ['{"$int": "0x5"}', '{"\\u0024int": "0x5"}', "[" * 63 + "]" * 63, f"[{'1,' * 20_000}1]"]
)
def test_tags_depth_and_length_need_a_look(text):
    assert not stands_for_itself(text)


def nested(depth, value):
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"k": v}, One, lambda v: (v,), lambda v: OrderedDict(k=v)])
def test_depth_is_bounded_in_every_container(wrap):
    deep: object = 1
    for _ in range(MAX_DEPTH):
        deep = wrap(deep)
    to_json_data(deep)
    with pytest.raises(NotPlain, match="nested deeper than 30"):
        to_json_data(wrap(deep))


@pytest.mark.parametrize(
    ("build", "most"),
    [
        (lambda n: [0] * n, MAX_VALUES - 1),
        (lambda n: (0,) * n, MAX_VALUES - 1),
        (lambda n: iter([0] * n), MAX_VALUES - 1),
        (lambda n: dict.fromkeys(map(str, range(n))), (MAX_VALUES - 1) // 2),
        (lambda n: OrderedDict.fromkeys(range(n)), (MAX_VALUES - 1) // 2),
        (lambda n: [Number.FIVE] * n, (MAX_VALUES - 1) // 2),
        (lambda n: [One(1)] * n, (MAX_VALUES - 1) // 3),
        (lambda n: [Two(1, 2)] * n, (MAX_VALUES - 1) // 5),
    ],
    ids=["list", "tuple", "iterator", "dict", "odd dict", "enum", "one field", "two fields"],
)
def test_every_value_is_counted(build, most):
    to_json_data(build(most))
    with pytest.raises(NotPlain, match="more than 20,000 values"):
        to_json_data(build(most + 1))


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_of_more_than_ten_thousand_bits_is_written_in_hexadecimal(sign):
    largest = sign * (2**10_000 - 1)
    assert to_json_data([largest]) == [largest]
    assert to_json_data([largest + sign]) == [{"$int": hex(largest + sign)}]
    assert from_json_data({"$int": hex(largest + sign)}) == largest + sign


def test_a_key_that_could_be_taken_for_a_tag_is_written_as_an_odd_one():
    assert to_json_data({"a": 1, "$a": 2}) == {"$dict": [["a", 1], ["$a", 2]]}
    assert to_json_data({"a$": 1, "": 2}) == {"a$": 1, "": 2}


def test_an_iterator_may_change_what_it_has_given():
    def rows():
        row = {}
        for n in range(3):
            row["n"] = n
            yield row

    assert to_json_data(rows()) == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_fields_become_data_in_their_order():
    value = [One(Two(2, (1,))), Two(Number.FIVE, {"a": One(None), 2: float("inf")})]
    assert to_json_data(value) == [
        {"only": {"first": 2, "second": {"$tuple": [1]}}},
        {"first": 5, "second": {"$dict": [["a", {"only": None}], [2, {"$float": "inf"}]]}},
    ]


def test_data_that_is_read_is_bounded():
    widest = [0] * (2 * MAX_VALUES - 1)
    assert from_json_data(widest) == widest
    assert from_json_data(nested(62, [])) == nested(62, [])
    for data in ([*widest, 0], {"$tuple": [*widest, 0]}, {str(n): 0 for n in range(2 * MAX_VALUES)}, nested(63, 1)):
        with pytest.raises(AgentError, match="the data of a call is too large"):
            from_json_data(data)
