"""Plain copies: equal to the value, of exact builtin types, bounded in size and time."""

from collections import Counter, OrderedDict, defaultdict, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.foreign_values import doubled

from codeplan.untrusted.json_values import MAX_CHARS, MAX_VALUES, plain_variables

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = st.integers() | st.text() | st.tuples(st.integers(), st.text()) | st.frozensets(st.integers())
data = st.recursive(
    scalars, lambda d: st.lists(d) | st.dictionaries(keys, d) | st.tuples(d, d) | st.sets(keys), max_leaves=15
)


@given(data)
def test_a_plain_value_is_copied_whole(value):
    found = plain_variables({"x": value})
    assert found.values == {"x": value} and found.omitted == {}


@pytest.mark.parametrize(
    ("value", "copy"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=[1]), {"a": [1]}),
        (defaultdict(list, a=1), {"a": 1}),
        (deque([1, 2], 5), [1, 2]),
    ],
)
def test_containers_of_collections_become_builtin_ones(value, copy):
    found = plain_variables({"x": value}).values["x"]
    assert found == copy and type(found) is type(copy)


def test_a_copy_shares_nothing_with_the_value():
    inner = [1]
    found = plain_variables({"x": [inner, inner]}).values["x"]
    found[0].append(2)
    assert found == [[1, 2], [1]] and inner == [1]


def endless():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (doubled(20), "more values than"),
        (doubled(60), "nested deeper than 32"),
        (endless(), "it contains itself"),
        ([0] * MAX_VALUES, "more values than"),
        (["x" * 1_000] * (MAX_CHARS // 1_000 + 1), "longer texts than"),
        (1 << 4 * MAX_CHARS, "longer texts than"),
        (object(), "an object is no plain data"),
        ([print], "a builtin_function_or_method is no plain data"),
    ],
    ids=["shared", "deep", "endless", "many", "texts", "number", "object", "function"],
)
def test_a_value_without_a_plain_copy_is_omitted_with_the_reason(value, why):
    found = plain_variables({"x": value, "y": 1})
    assert found.values == {"y": 1} and why in found.omitted["x"]


def test_just_within_the_limits_a_value_is_whole():
    assert plain_variables({"x": [0] * (MAX_VALUES - 1), "y": "x" * MAX_CHARS}).omitted == {}


def test_all_variables_together_have_a_limit():
    found = plain_variables({f"v{n}": [0] * (MAX_VALUES - 1) for n in range(6)})
    assert (list(found.values), list(found.omitted)) == (["v0", "v1", "v2", "v3"], ["v4", "v5"])
