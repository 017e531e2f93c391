"""Text and variables on a page: nothing is hidden, nothing is endless."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, defaultdict, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.report.pages.variable_text import dropped_variables, variable_texts
from codeplan.report.pages.visible_text import clip, label, make_visible
from codeplan.sandbox import encode
from codeplan.types import Checkpoint
from codeplan.untrusted.values import value_text


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


@pytest.mark.parametrize(
    "value",
    [1, -2.5, None, True, "a'b", b"\0", [], [1, [2]], (), (1,), (1, 2), {}, {"a": 1}, set(), {1}, frozenset({1})],
)
def test_a_small_value_is_written_as_python_writes_it(value: object) -> None:
    assert value_text(value, 1000) == repr(value)


def test_other_containers_are_named() -> None:
    assert value_text(deque([1]), 100) == "deque([1])"
    assert value_text(Counter("a"), 100) == "Counter({'a': 1})"
    assert value_text(OrderedDict(a=1), 100) == "OrderedDict({'a': 1})"
    assert value_text(defaultdict(int, a=1), 100) == "defaultdict({'a': 1})"


def test_a_huge_integer_is_written_without_its_decimal_digits() -> None:
    assert value_text(1 << 50_000, 10**6).startswith("0x1000")


def test_a_cyclic_value_has_a_bounded_text() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert value_text(loop, 500).endswith("…]" + "]" * 30)


def test_an_endless_value_in_a_small_checkpoint_has_a_bounded_text() -> None:
    value: object = "x" * 1000
    for _ in range(200):
        value = [value, value]
    started = time.process_time()
    text = variable_texts(encode({"bomb": value, "a": 1}, 1 << 18), 2000)
    assert len(text["bomb"]) <= 2001
    assert text["a"] == "1"
    assert time.process_time() - started < 5


def test_a_damaged_checkpoint_has_no_variables_and_says_why() -> None:
    damaged = Checkpoint(names={"a": 7}, nodes=[1])
    assert variable_texts(damaged, 100) == {}
    assert "damaged" in dropped_variables(damaged)[""]


def test_dropped_variables_have_reasons() -> None:
    assert dropped_variables(Checkpoint(dropped={"f": "a function cannot be saved"})) == {
        "f": "a function cannot be saved"
    }
