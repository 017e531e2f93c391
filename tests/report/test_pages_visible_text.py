"""Text and variables on a page: nothing is hidden, nothing is endless."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from codeplan.report.pages.episode_pages import visible_data
from codeplan.report.pages.html_page import clip, dropped_variables, label, make_visible, variable_texts
from codeplan.sandbox import encode
from codeplan.types import Checkpoint


def test_escape_codes_invisible_marks_and_reordering_characters_become_signs() -> None:
    assert make_visible("\x1b[31mred\x7f") == "␛[31mred␡"
    assert make_visible("a\u202eb\u200bc") == "a⟨U+202E⟩b⟨U+200B⟩c"
    assert make_visible("a\ud800b") == "a⟨U+D800⟩b"


def test_plain_text_stays_as_it_is_but_for_tabs_and_line_ends() -> None:
    assert make_visible("grüß\n→ 日本") == "grüß\n→ 日本"
    assert make_visible("a\tb\r\nc\rd") == "a    b\nc␍d"


@given(st.text())
def test_every_character_of_any_text_is_visible(text: str) -> None:
    assert make_visible(text).replace("\n", "").isprintable()
    assert "\n" not in label(text)


def test_a_long_text_is_clipped_and_says_how_long_it_is() -> None:
    assert clip("abc", 3) == "abc"
    assert clip("abcd", 3) == {"text": "abc", "whole": 4}


def test_an_endless_value_in_a_small_checkpoint_has_a_bounded_text() -> None:
    value: object = "x" * 1000
    for _ in range(200):
        value = [value, value]
    texts = variable_texts(encode({"bomb": value, "a": 1}, 1 << 18), 2000).texts
    assert len(texts["bomb"]) <= 2001
    assert texts["a"] == "1"


def test_a_damaged_checkpoint_has_no_variables_and_says_why() -> None:
    damaged = Checkpoint(names={"a": 7}, nodes=[1])
    assert variable_texts(damaged, 100).texts == {}
    assert "damaged" in dropped_variables(damaged)[""]


def test_dropped_variables_have_reasons() -> None:
    assert dropped_variables(Checkpoint(dropped={"f": "a function cannot be saved"})) == {
        "f": "a function cannot be saved"
    }


def test_data_of_any_depth_and_width_is_shown_as_one_text_where_it_is_too_much() -> None:
    deep: list[object] = []
    for _ in range(900):
        deep = [deep]
    shown = visible_data({"deep": deep, "wide": list(range(100_000)), "text": "x" * 10_000, "n": {"a": [1]}})
    assert shown["n"] == {"a": [1]}
    assert len(json.dumps(shown)) < 12_000
