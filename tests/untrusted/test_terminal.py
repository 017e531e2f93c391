"""Untrusted text made fit to show."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeplan.untrusted.texts import clean, one_line, shell_word, source_excerpt


@given(st.text())
def test_clean_text_holds_nothing_but_printable_characters_and_line_ends(text: str) -> None:
    assert all(c == "\n" or c.isprintable() for c in clean(text))


@given(
    st.text(
        alphabet=st.characters(categories=["L", "N", "P", "S"], exclude_characters="\u115f\u1160\u2800\u3164\uffa0")
    )
)
def test_clean_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_one_line_has_at_most_the_given_width() -> None:
    assert one_line(" a\n b\t c ") == "a b c"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"


def test_the_caret_stands_under_the_column() -> None:
    assert source_excerpt("a\nfoo(bar)", 2, 5) == ["foo(bar)", "    ^"]
    assert source_excerpt("a\n\tfoo", 2, 2) == ["    foo", "    ^"]


def test_a_commands_argument_is_in_quotes_if_a_shell_would_split_it() -> None:
    assert [shell_word("runs/first"), shell_word(Path("my runs"))] == ["runs/first", "'my runs'"]
