"""Variables as text share one room fairly."""

from __future__ import annotations

from support.foreign_values import count_steps, doubled

from codeplan.untrusted.values import clip_name, variable_texts


def test_small_variables_are_whole_and_large_ones_share_the_rest() -> None:
    shown = variable_texts({"a": "x" * 9000, "b": 1, "c": "y" * 9000, "d": [2]}, 1000)
    assert (shown.texts["b"], shown.texts["d"]) == ("1", "[2]")
    assert 450 < len(shown.texts["a"]) < 510
    assert len(shown.texts["a"]) == len(shown.texts["c"])
    assert shown.abbreviated


def test_a_variable_that_shares_with_an_earlier_one_is_a_mark() -> None:
    seen = ["shelf 1", "shelf 2", "shelf 3"]
    shown = variable_texts({"seen": seen, "also": seen, "within": {"k": seen}}, 1000)
    assert shown.texts["also"] == "<same list as above>"
    assert shown.texts["within"] == "{'k': <same list as above>}"


def test_each_value_and_each_text_can_have_a_limit_of_its_own() -> None:
    shown = variable_texts({"a": ["x" * 900] * 9}, 5000, max_each=100, max_string=10)
    assert shown.texts["a"].startswith("['xxxxxxxxxx'…, 'xxx")
    assert len(shown.texts["a"]) <= 101


def test_many_variables_are_named_as_far_as_there_is_room_and_then_counted() -> None:
    shown = variable_texts({f"variable_{i}": [i] * 99 for i in range(100_000)}, 6000)
    size = sum(len(n) + len(t) for n, t in shown.texts.items()) + sum(map(len, shown.unshown))
    assert size <= 6000
    assert len(shown.texts) == 60
    assert len(shown.unshown) > 50
    assert len(shown.texts) + len(shown.unshown) + shown.unnamed == 100_000


def test_a_name_of_a_megabyte_takes_no_ones_room() -> None:
    shown = variable_texts({"n" * 1_000_000: "x" * 400, "m": "y" * 400}, 1000)
    assert "".join(map(clip_name, shown.texts)) == "n" * 60 + "…" + "m"
    assert len(shown.texts["m"]) == 402


def test_nothing_is_shown_of_no_variables() -> None:
    assert variable_texts({}, 100) == ({}, [], 0, False)


def test_the_work_is_bounded_by_the_room() -> None:
    few, many = (
        count_steps(lambda n=n: variable_texts({f"v{i}": doubled(50) for i in range(n)}, 6000))  # type: ignore[misc]
        for n in (60, 6000)
    )
    assert many - few < 6000 * 100  # building the values is a part of it
