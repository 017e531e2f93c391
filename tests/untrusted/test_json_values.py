"""Variables as JSON: each whole, all together within a number of bytes; and variables compared with JSON data."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.foreign_values import count_steps, doubled

from codeplan.untrusted.json_values import json_variables, matches_json

ROOM = 256 << 10


def as_json(value: object) -> Any:
    (shown,) = json_variables({"x": value}, ROOM).values.values()
    return shown


@pytest.mark.parametrize("value", [None, True, 3, -1.5, "text", [1, [2]], {"a": {"b": []}}, 2**64])
def test_json_values_stay_unchanged(value: Any) -> None:
    assert json.loads(json.dumps(as_json(value))) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ((1, (2,)), [1, [2]]),
        ({1, 2}, "{1, 2}"),
        ({1: "a"}, "{1: 'a'}"),
        (b"ab", "b'ab'"),
        (float("inf"), "inf"),
        ([float("nan")], ["nan"]),
        (deque([1]), "deque([1])"),
        (OrderedDict(a=1), {"a": 1}),
    ],
)
def test_other_values_appear_in_python_notation_and_match_it(value: object, shown: Any) -> None:
    assert as_json(value) == shown
    assert matches_json(value, shown)


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
)


@given(st.dictionaries(st.from_regex("[a-zé]{1,9}", fullmatch=True), json_data, max_size=6), st.integers(0, 3000))
def test_what_is_printed_takes_no_more_than_the_room_and_every_value_is_whole(
    variables: dict[str, Any], room: int
) -> None:
    shown = json_variables(variables, room)
    document = {"checkpoint": shown.values, "omitted": shown.omitted}
    frame = len(json.dumps({"checkpoint": {"": 0}, "omitted": {"": 0}}, indent=2))
    assert len(json.dumps(document, indent=2)) <= room + frame
    assert all(variables[name] == value for name, value in shown.values.items())
    assert len(shown.values) + len(shown.omitted) + shown.unnamed == len(variables)


def test_a_variable_that_cannot_be_whole_is_omitted_by_name_and_the_others_stay() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    values = {"wide": doubled(25), "cycle": cycle, "page": "é" * 70_000, "n": 3, "deep": {1: doubled(60)}}
    shown = json_variables(values, ROOM)
    assert shown.values == {"n": 3}
    assert shown.omitted["page"] == "larger than its share of the output"
    assert set(shown.omitted) == {"wide", "cycle", "page", "deep"}


def test_a_large_variable_may_use_the_room_that_others_leave() -> None:
    shown = json_variables({"n": 1, "page": "x" * 250_000, "m": [2]}, ROOM)
    assert shown.omitted == {}


def test_names_that_do_not_fit_are_counted() -> None:
    shown = json_variables({f"{'n' * 150}{i}": "x" * 900 for i in range(1000)}, 20_000)
    assert shown.unnamed > 900
    assert len(json.dumps([shown.values, shown.omitted], indent=2)) < 20_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2], [1]),
        ([1], {"0": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({1: 2}, {"1": 2}),
        ("a", ["a"]),
        ({1, 2}, "{1, 2, 3}"),
        ({"a": 1}, "{'a': 1}"),
        ([1], "[1]"),
        (float("nan"), float("nan")),
        (None, False),
    ],
)
def test_other_data_does_not_match(value: object, expected: object) -> None:
    assert not matches_json(value, expected)


def test_comparing_with_data_takes_no_more_steps_than_the_data_has_parts() -> None:
    value = doubled(60)
    expected: Any = json.loads(json.dumps(doubled(9)))
    assert count_steps(lambda: matches_json(value, expected)) < 2**9 * 40
    assert count_steps(lambda: matches_json({1: value}, "{1: ")) < 300
    assert not matches_json(Counter({1: value}), "x" * 100_000)
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = [1]
    for _ in range(900):
        deep = [deep]
    assert not matches_json(endless, deep)
