"""Comparing foreign values gives what ``==`` gives, in time linear in their parts."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.foreign_values import count_steps, doubled

from codeplan.untrusted.comparison import BoundedValue, same_values

keys = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", b"", b"a", 0.0, 1.0]),
    lambda inner: st.tuples(inner) | st.tuples(inner, inner) | st.frozensets(inner, max_size=2),
    max_leaves=4,
)
values = st.recursive(
    keys,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
        | st.lists(inner, max_size=2).map(deque)
        | st.sets(keys, max_size=3)
        | st.dictionaries(keys, inner, max_size=2).map(OrderedDict)
        | st.dictionaries(keys, inner, max_size=2).map(lambda d: defaultdict(list, d))
    ),
    max_leaves=6,
)


@given(values, values)
@example(1, 1.0)
@example("ab", "".join(["a", "b"]))
@example(OrderedDict(a=1, b=2), {"b": 2, "a": 1})
@example({"b": 2, "a": 1}, OrderedDict(a=1, b=2))
@example(OrderedDict(a=1, b=2), OrderedDict(b=2, a=1))
def test_it_agrees_with_python(left: object, right: object) -> None:
    assert same_values(left, right) == (left == right)
    assert same_values([left, right], [left, left]) == (left == right)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: [x, x],
        lambda x: (x, x),
        lambda x: {"a": x, "b": x},
        lambda x: OrderedDict([((1, 2), x), ("b", x)]),
        lambda x: Counter(a=x, b=x),
        lambda x: deque([x, x]),
    ],
)
def test_shared_parts_are_compared_once(wrap: Any) -> None:
    left, right = doubled(500, wrap), doubled(500, wrap)
    assert same_values(left, right)
    assert count_steps(lambda: same_values(left, right)) < 60_000
    assert not same_values(left, doubled(501, wrap))


@pytest.mark.parametrize(("depth", "same"), [(200, True), (201, False)])
def test_keys_are_compared_up_to_a_depth(depth: int, same: bool) -> None:
    def key() -> Any:
        value: Any = ("innermost",)
        for _ in range(depth):
            value = (value,)
        return value

    assert same_values({key(): 1}, {key(): 1}) is same


def test_keys_that_share_are_hashed_once() -> None:
    def key(last: int) -> Any:
        value: Any = (last,)
        for _ in range(100):
            value = (value, value)
        return value

    # Such a key cannot be in a dict that was built: hashing it takes 2**100 steps. Sets of short ones can.
    assert not same_values([key(1)], [key(2)])
    assert same_values({(1, (2, frozenset({3})))}, {(1, (2, frozenset({3})))})


def test_cycles_are_compared() -> None:
    def ring(size: int, value: int) -> list[Any]:
        first: list[Any] = [value]
        last = first
        for _ in range(size - 1):
            last.append([value])
            last = last[1]
        last.append(first)
        return first

    assert same_values(ring(2, 1), ring(3, 1))  # both stand for the same endless value
    assert not same_values(ring(2, 1), ring(3, 2))


def test_deep_values_are_compared_without_recursion() -> None:
    def deep(value: Any) -> Any:
        for _ in range(100_000):
            value = [value]
        return value

    left, right, other = deep(1), deep(1), deep(2)
    assert same_values(left, right)
    assert not same_values(left, other)
    for value in (left, right, other):
        while isinstance(value, list):
            value = value.pop()


class _Liar:
    def __eq__(self, other: object) -> bool:
        raise AssertionError("its __eq__ ran")

    __hash__ = object.__hash__


def test_no_method_of_a_value_runs() -> None:
    assert not same_values([_Liar()], [_Liar()])
    assert not same_values([_Liar()], [1])
    liar = _Liar()
    assert same_values([liar], [liar])


def test_a_failed_assertion_shows_a_bounded_text() -> None:
    huge = BoundedValue({"x": doubled(60), "n": 1})
    assert huge["n"] == 1
    assert huge != {"x": doubled(59), "n": 1}
    with pytest.raises(AssertionError) as failure:
        assert huge == {"n": 1}
    assert len(str(failure.value)) < 10_000
    assert repr(BoundedValue(list(range(9_000)))).endswith("…") and len(repr(BoundedValue("x" * 9_000))) < 2_010
