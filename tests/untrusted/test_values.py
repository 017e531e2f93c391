"""Text of foreign values: as Python writes it, bounded, and shared parts once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.foreign_values import count_steps, doubled

from codeplan.types import Task
from codeplan.untrusted.values import (
    ELLIPSIS,
    MAX_COUNT_CHARS,
    ValueWriter,
    in_quotes,
    iterate_scalars,
    value_text,
    whole_value_text,
)

SMALL = [
    *(1, -2.5, None, True, "a'b", b"\0", float("inf"), "\u202e", "\ud800\n", -(2**70)),
    *([], [1, [2]], (), (1,), (1, 2), {}, {"a": 1}, {1: {2: [3]}}, [[1]] * 3, {(1, 2): (3,)}),
    *(set(), {1}, frozenset({1}), frozenset(), deque(), deque([1], maxlen=3), deque([1]), Counter("aab")),
    *(defaultdict(list, a=[1]), defaultdict(None, a=1)),
]


@pytest.mark.parametrize("value", SMALL)
def test_a_small_value_is_written_as_python_writes_it(value: object) -> None:
    if not isinstance(value, defaultdict):
        assert value_text(value, 1000) == repr(value)
    else:
        assert value_text(value, 1000) == repr(value).replace("<class 'list'>", "list")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=4) | st.tuples(inner)
)


@given(trees, st.integers(0, 200))
def test_any_value_takes_no_more_than_its_room_and_is_whole_if_it_fits(value: object, room: int) -> None:
    text = value_text(value, room)
    assert len(text) <= room + 1
    whole = repr(value)
    assert text == whole or text.endswith("…") or "<same" in text
    assert whole_value_text(value, room) == (whole if len(whole) <= room else None)


def test_a_container_shown_before_is_a_mark_and_a_short_one_is_shown_again() -> None:
    long, short = ["shelf 1", "shelf 2", "desk 1"], [1]
    assert value_text([long, long, short, short], 200) == f"[{long}, <same list as above>, [1], [1]]"
    assert value_text({"a": deque(long), "b": [tuple(long)] * 2}, 200).endswith("<same tuple as above>]}")


def test_a_value_that_contains_itself_says_so() -> None:
    mine: dict[str, Any] = {}
    mine["me"] = [mine]
    assert value_text(mine, 200) == "{'me': [<the enclosing dict>]}"
    assert whole_value_text(mine, 200) is None


def test_sets_have_the_same_text_in_every_process() -> None:
    program = (
        "from codeplan.untrusted.values import value_text;"
        "print(value_text([{*'abcdef'}, frozenset({('x', 1), ('y', 2), frozenset('pq')})], 500))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1


class _Loud:
    def __repr__(self) -> str:
        raise AssertionError("its __repr__ ran")

    __str__ = __format__ = __len__ = __iter__ = __eq__ = __hash__ = __repr__  # type: ignore[assignment]


class _LoudText(str):
    __repr__ = __str__ = __len__ = __getitem__ = _Loud.__repr__  # type: ignore[assignment]


class _LoudList(list):  # type: ignore[type-arg]
    __repr__ = __iter__ = __len__ = __getitem__ = _Loud.__repr__  # type: ignore[assignment]


class _LoudDict(dict):  # type: ignore[type-arg]
    __repr__ = __iter__ = items = keys = __len__ = _Loud.__repr__  # type: ignore[assignment]


class _LoudInt(int):
    __repr__ = __str__ = __format__ = bit_length = _Loud.__repr__  # type: ignore[assignment]


def test_no_method_of_a_value_runs() -> None:
    values = [_Loud(), _LoudText("t"), _LoudList([1]), _LoudDict(a=1), _LoudInt(3)]
    assert value_text(values, 500) == "[<a _Loud>, 't', [1], _LoudDict({'a': 1}), 3]"


def test_other_values_are_named_and_values_of_codeplan_show_their_fields() -> None:
    assert value_text([range(3), 1j, object], 100) == "[<a range>, 1j, <a type>]"
    assert value_text(namedtuple("P", "a")(1), 100) == "(1,)"
    assert value_text(Task("pick/0"), 200).startswith("Task(id='pick/0', env=")
    assert value_text(KeyError("x" * 900, ["y"]), 40) == "KeyError('" + "x" * 30 + "…"
    assert value_text(OSError(2, "no file"), 100) == repr(OSError(2, "no file"))


def test_an_ordered_dict_keeps_its_order() -> None:
    moved = OrderedDict(a=1, b=2)
    moved.move_to_end("a")
    assert value_text(moved, 100) == "OrderedDict({'b': 2, 'a': 1})"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: [x, x],
        lambda x: {"a": x, "b": x},
        lambda x: defaultdict(dict, a=x, b=x),
        lambda x: deque([x, x]),
        lambda x: [x] * 12,
    ],
)
def test_the_work_does_not_grow_with_what_a_value_shares(wrap: Any) -> None:
    few, many = (count_steps(lambda n=n: value_text(doubled(n, wrap), 3_000)) for n in (40, 80))  # type: ignore[misc]
    assert many < 2 * few + 200
    assert many < 40_000


def test_the_work_depends_on_the_room_and_not_on_the_value() -> None:
    small, large = ([["x" * 1000] * n] * n for n in (300, 3000))
    assert count_steps(lambda: value_text(large, 500)) <= count_steps(lambda: value_text(small, 500)) + 5


def test_frozensets_within_frozensets_are_put_in_order_once() -> None:
    value: Any = frozenset()
    for n in range(60):
        value = frozenset([value, frozenset([value, n])])
    assert count_steps(lambda: value_text(value, 2000)) < 100_000


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: {"a": x}, lambda x: (x,), lambda x: frozenset([x])])
def test_a_deep_value_ends_in_an_ellipsis(wrap: Any) -> None:
    value: Any = 1
    for _ in range(100_000 if wrap(1) == [1] else 300):
        value = wrap(value)
    assert "…" in value_text(value, 10_000)
    while isinstance(value, list):  # lets go of it level by level
        value = value[0]


def test_a_name_in_a_message_is_quoted_and_cut() -> None:
    assert in_quotes("a'b\n") == '"a\'b\\n"'
    assert in_quotes("x" * 5_000_000) == "'" + "x" * 80 + "'…"
    assert len(in_quotes("\x00" * 1_000_000)) <= 85
    assert in_quotes(3) == "3"


def test_every_scalar_of_a_value_is_found_once_for_each_container() -> None:
    shared = ["deep"]
    value = {"k": [shared] * 9, ("t",): {b"b"}}
    assert sorted(map(str, iterate_scalars(value))) == ["b'b'", "deep", "k", "t"]
    assert count_steps(lambda: list(iterate_scalars(doubled(1000)))) < 30_000


# ------------------------------------------------------------------ counts and names


def counted(value: object, room: int, max_string: int | None = None) -> str:
    return ValueWriter(counts=True, max_string=max_string).text(value, room)


def test_with_counts_a_mark_says_how_many_characters_of_a_text_are_left_out() -> None:
    assert counted("x" * 500, 1_000, max_string=3) == "'xxx'[497 characters left out]"
    assert counted(["x" * 4, "y"], 1_000, max_string=3) == "['xxx'[1 character left out], 'y']"
    assert counted("abc", 1_000, max_string=3) == "'abc'"


def test_with_counts_a_mark_says_how_many_elements_are_left_out() -> None:
    assert counted(list(range(1_000)), 12) == "[0, 1, 2, 3, [996 elements left out]"
    assert counted({"a": [1, 2, 3], "b": 4, "c": 5}, 12) == "{'a': [1, 2, [1 element left out], [3 elements left out]"
    assert counted(dict.fromkeys(range(9)), 5) == "{[9 elements left out]"
    assert counted({"k": 1, "long key": "v"}, 20) == "{'k': 1, [1 element left out]"


def test_a_container_of_which_nothing_is_shown_counts_as_one_element() -> None:
    assert counted([1, 2, [3, 4]], 7) == "[1, 2, [1 element left out]"
    assert counted([1, 2, [3, 4]], 8) == "[1, 2, [[2 elements left out], [1 element left out]"
    assert counted([[1], [2]], 1) == "[[2 elements left out]"
    assert counted({"a": 1, "b": [2]}, len("{'a': 1, 'b': ")) == "{'a': 1, [1 element left out]"
    assert counted([1, 2], 0) == "[2 elements left out]"


def test_where_only_the_closing_bracket_has_no_room_nothing_is_left_out() -> None:
    assert counted([1, 2, 3], 8) == "[1, 2, 3"


@given(
    st.recursive(
        st.text(max_size=50) | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ),
    st.integers(0, 200),
    st.sampled_from([None, 0, 1, 20]),
)
def test_a_text_with_counts_never_exceeds_its_room_by_more_than_the_marks(value, room, max_string) -> None:
    text = counted(value, room, max_string)
    assert len(text) <= room + MAX_COUNT_CHARS
    assert ELLIPSIS not in text or ELLIPSIS in value_text(value, 10_000)
    if len(whole := value_text(value, 10_000, max_string=max_string)) <= room and ELLIPSIS not in whole:
        assert text == whole


def test_a_text_with_a_name_is_shown_by_it() -> None:
    writer = ValueWriter(names={"a page": "<answer 3>"})
    assert writer.text({"here": "a page", "there": ["a page", "another"]}, 100) == (
        "{'here': <answer 3>, 'there': [<answer 3>, 'another']}"
    )
    assert writer.abbreviated
