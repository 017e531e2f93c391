"""Each limit of texts of values and variables, on both of its sides."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from codeplan.untrusted import comparison
from codeplan.untrusted.comparison import BoundedValue, same_values
from codeplan.untrusted.json_values import json_variables, matches_json
from codeplan.untrusted.values import (
    MAX_DEPTH,
    ValueWriter,
    clip_name,
    fair_shares,
    in_quotes,
    value_text,
    variable_texts,
    whole_value_text,
)


def nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


# ------------------------------------------------------------------ one value


def test_a_container_thirty_levels_deep_is_shown_and_the_next_is_not() -> None:
    whole = "[" * 31 + "1" + "]" * 31
    assert MAX_DEPTH == 30
    assert value_text(nested(1, 31), 200) == whole == whole_value_text(nested(1, 31), 200)
    assert value_text(nested(1, 32), 200) == "[" * 31 + "…" + "]" * 31
    assert whole_value_text(nested(1, 32), 200) is None


def test_an_int_of_four_thousand_bits_is_written_in_digits_and_a_larger_one_is_not() -> None:
    most = 2**4000 - 1
    assert value_text(most, 2000) == str(most) == whole_value_text(most, 2000)
    assert value_text(-most, 2000) == str(-most)
    assert value_text(most + 1, 2000) == "<an int of 4,001 bits>"
    assert whole_value_text(most + 1, 2000) is None


def test_sixty_characters_of_a_type_s_name_are_shown() -> None:
    def named(name: str) -> object:
        return type(name, (), {})()

    assert value_text(named("T" * 60), 200) == f"<a {'T' * 60}>"
    assert value_text(named("T" * 61), 200) == f"<a {'T' * 60}>"
    assert value_text(named("no\x1bname"), 200) == "<a value>"
    assert value_text([object(), named("Ox")], 200) == "[<an object>, <an Ox>]"


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ({10, 9, 2}, "{2, 9, 10}"),
        ({"b", "a"}, "{'a', 'b'}"),
        ({b"b", b"a"}, "{b'a', b'b'}"),
        ({10, 9, "a"}, "{10, 9, 'a'}"),  # by kind and text
        ({-1, False}, "{False, -1}"),
        ({10.0, 9.0}, "{10.0, 9.0}"),
        ({(2,), (10,)}, "{(10,), (2,)}"),
    ],
)
def test_elements_of_a_set_stand_in_order(elements: set[Any], text: str) -> None:
    assert value_text(elements, 200) == text


def test_a_hundred_characters_of_an_element_decide_its_place() -> None:
    elements = {("x" * 97 + letter,) for letter in "hgfedcba"}  # the letter is the hundredth character
    shown = [text[0] for text in value_text(elements, 2_000).split("x" * 97)[1:]]
    assert "".join(shown) == "abcdefgh"


def test_the_factory_of_a_defaultdict_is_named_by_its_kind() -> None:
    shown = [value_text(defaultdict(made), 100) for made in (list, None, lambda: 1, len)]
    assert shown == [f"defaultdict({name}, {{}})" for name in ("list", "None", "function", "function")]


def test_a_container_is_written_again_up_to_the_length_of_its_mark() -> None:
    mark = "<same list as above>"
    short, long = ["x" * (len(mark) - 4)], ["x" * (len(mark) - 3)]
    assert value_text([short, short], 200) == f"[{short}, {short}]"
    assert value_text([long, long], 200) == f"[{long}, {mark}]"


@pytest.mark.parametrize("text", ["abc", b"abc"])
def test_a_text_up_to_its_limit_is_whole(text: Any) -> None:
    for limit, abbreviated in ((3, False), (2, True), (None, False)):
        writer = ValueWriter(max_string=limit)
        assert writer.text(text, 100).endswith("…") == abbreviated
        assert writer.abbreviated == abbreviated


def test_a_value_that_just_fits_is_whole() -> None:
    for value in ([1, 2], "four", {"a": 1}):
        size = len(str(value)) + 2 * isinstance(value, str)
        writer = ValueWriter()
        assert (writer.text(value, size)[-1] != "…", writer.abbreviated) == (True, False)
        assert (writer.text(value, size - 1)[-1], writer.abbreviated) == ("…", True)


def test_what_was_left_half_written_is_not_above_the_next_value() -> None:
    shared = ["a" * 30, "b" * 30]
    writer = ValueWriter()
    assert writer.text([shared], 40).endswith("…")
    assert writer.text([shared], 200) == f"[{shared}]"
    assert writer.text(shared, 200) == "<same list as above>"


def test_eighty_characters_of_a_name_stand_in_a_message() -> None:
    assert in_quotes("x" * 80) == "'" + "x" * 80 + "'"
    assert in_quotes("x" * 81) == "'" + "x" * 80 + "'…"
    assert in_quotes("xyz", 2) == "'xy'…"


# ------------------------------------------------------------------ several variables


def test_a_name_of_sixty_characters_is_whole() -> None:
    assert clip_name("n" * 60) == "n" * 60
    assert clip_name("n" * 61) == "n" * 60 + "…"


@pytest.mark.parametrize(("room", "shown"), [(0, 1), (99, 1), (199, 1), (200, 2), (299, 2), (300, 3)])
def test_a_variable_takes_a_hundred_characters_or_is_only_named(room: int, shown: int) -> None:
    found = variable_texts({"a": 1, "b": 2, "c": 3, "d": 4}, room)
    assert len(found.texts) == shown
    assert len(found.unshown) + found.unnamed == 4 - shown


def test_a_quarter_of_the_room_is_for_names_without_values() -> None:
    names = ["shown", *(f"n{k}" for k in range(9))]  # a name of two characters takes eight
    found = [variable_texts(dict.fromkeys(names), room) for room in (127, 128, 159, 160)]
    assert [(len(each.unshown), each.unnamed) for each in found] == [(3, 6), (4, 5), (4, 5), (5, 4)]
    assert found[0].unshown == ["n0", "n1", "n2"]


def test_the_names_take_their_part_of_the_room() -> None:
    whole = "x" * 91  # with two quotes, "n" and 6 more characters: 100
    assert variable_texts({"n": whole}, 100).texts == {"n": f"'{whole}'"}
    assert variable_texts({"n": whole}, 99).texts["n"].endswith("…")
    assert variable_texts({"n" * 70: "x" * 32}, 100).texts == {"n" * 70: f"'{'x' * 32}'"}  # 60 of the name count
    assert variable_texts({"n" * 70: "x" * 33}, 100).texts["n" * 70].endswith("…")


def test_a_value_up_to_its_own_limit_is_whole() -> None:
    assert variable_texts({"n": "x" * 18}, 500, max_each=20).texts == {"n": f"'{'x' * 18}'"}
    assert variable_texts({"n": "x" * 19}, 500, max_each=20).texts == {"n": "'" + "x" * 19 + "…"}


@pytest.mark.parametrize(
    ("sizes", "room", "shares"),
    [
        ([], 10, []),
        ([10, 10], 20, [10, 10]),
        ([10, 11], 20, [10, 10]),
        ([9, 11], 20, [9, 11]),
        ([9, 12], 20, [9, 11]),
        ([5, 5, 5], 2, [0, 0, 0]),
        ([1, 1, 1], 2, [0, 0, 0]),
        ([5, 0], -3, [0, 0]),
        ([1, 50, 50], 101, [1, 50, 50]),
        # Each round leaves room for one more; after four rounds the rest is shared as it is.
        ([0, 1001, 1201, 1250, 1267, 1281], 6000, [0, 1001, 1201, 1250, 1274, 1274]),
    ],
)
def test_what_short_values_leave_is_shared_again(sizes: list[int], room: int, shares: list[int]) -> None:
    values = {str(n): size for n, size in enumerate(sizes)}
    found = fair_shares(values, room, lambda size, most: size if size <= most else None)
    assert found == {str(n): share for n, share in enumerate(shares)}


def test_a_value_that_just_fits_its_part_leaves_the_rest_to_the_others() -> None:
    shown = variable_texts({"a": "x" * 91, "b": "y" * 999}, 201)  # 187 without the names: parts of 93
    assert shown.texts["a"] == f"'{'x' * 91}'"
    assert len(shown.texts["b"]) == 94 + 1


# ------------------------------------------------------------------ JSON


def test_json_is_as_deep_as_forty_levels() -> None:
    shown = json_variables({"ok": nested(1, 40), "deep": nested(1, 41)}, 100_000)
    assert (list(shown.values), list(shown.omitted)) == (["ok"], ["deep"])
    assert "nested deeper than 40" in shown.omitted["deep"]
    assert matches_json(nested(1, 40), nested(1, 40))
    assert not matches_json(nested(1, 41), nested(1, 41))
    assert not matches_json(nested({"a": 1}, 40), nested({"a": 1}, 40))


def test_dicts_are_compared_as_deep_as_forty_levels() -> None:
    def dicts(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = {"k": value}
        return value

    assert matches_json(dicts(40), dicts(40))
    assert not matches_json(dicts(41), dicts(41))


def test_a_number_of_ten_thousand_bits_is_a_number_and_a_larger_one_a_text() -> None:
    most = 2**10_000 - 1
    shown = json_variables({"a": most, "b": most + 1}, 100_000).values
    assert shown == {"a": most, "b": hex(most + 1)}
    assert matches_json(most, most) and not matches_json(most, hex(most))
    assert matches_json(most + 1, hex(most + 1)) and not matches_json(most + 1, most + 1)


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (1, 1),
        ("abcd", 6),
        ("é", 8),
        ([], 10),
        ({}, 10),
        ((), 10),
        ([1, 2], 34),
        ({"k": True}, 31),
        ([[1]], 49),
        ({"k": {"é": "ü"}}, 71),
        ({1}, 5),
    ],
)
def test_a_variable_takes_these_bytes_and_none_less(value: Any, taken: int) -> None:
    variables = {"x": [value, "w" * 200]}
    room = next(room for room in range(142, 999) if json_variables(variables, room).omitted == {})
    assert room >= len(json.dumps({"checkpoint": json_variables(variables, room).values}, indent=2)) - 24
    assert room - 71 - 202 - 26 == taken  # without the name, the second text and the list


@pytest.mark.parametrize(("name", "room"), [("x", 142), ("xyz", 146), ("é", 164)])
def test_names_take_half_of_the_room(name: str, room: int) -> None:
    assert json_variables({name: 1}, room).values == {name: 1}
    assert json_variables({name: 1}, room - 1) == ({}, {}, 1)


def test_only_values_of_json_s_own_forms_match_it() -> None:
    assert matches_json([1], [1]) and not matches_json([1, 2], [1]) and not matches_json("[1]", [1])
    assert not matches_json([1], "[1]") and not matches_json({"a": 1}, "{'a': 1}")
    assert matches_json({1: 2}, "{1: 2}") and not matches_json({1: 2}, {"1": 2})
    assert not matches_json({1}, 1) and not matches_json({1}, "{1}…") and not matches_json({1, 2}, "{1}")


# ------------------------------------------------------------------ comparisons


@pytest.mark.parametrize(("steps", "same"), [(12, True), (11, True), (10, False)])
def test_a_comparison_takes_so_many_steps_and_no_more(steps: int, same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MAX_STEPS", steps)
    assert same_values(list(range(10)), list(range(10))) is same


@pytest.mark.parametrize(("steps", "same"), [(7, True), (6, False)])
def test_each_key_is_a_step(steps: int, same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MAX_STEPS", steps)
    assert same_values({"a": 1, "b": 2}, {"a": 1, "b": 2}) is same


def test_a_failed_comparison_shows_two_thousand_characters() -> None:
    def shown(value: object) -> str:
        return f"{BoundedValue(value)!r}"

    assert shown("x" * 1998) == "'" + "x" * 1998 + "'"
    assert shown("x" * 1999).endswith("…")
    assert len(shown("x" * 9999)) == 2001
