"""Long texts are cut at the ends of lines, and the cut is marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.untrusted.texts import excerpt

LINES = "\n".join(f"line {number}" for number in range(1, 101))


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert excerpt(LINES, len(LINES)) == LINES
    assert excerpt("", 0) == ""


def test_the_start_stays_in_whole_lines_and_the_last_line_says_how_much_is_missing() -> None:
    shown = excerpt(LINES, 200).split("\n")
    assert shown[:-1] == LINES.split("\n")[: len(shown) - 1]
    assert len(shown) > 15
    missing = len(LINES) - len("\n".join(shown[:-1]))
    assert shown[-1] == f"[{missing} characters left out]"


def test_start_and_end_stay_in_whole_lines() -> None:
    head, mark, tail = excerpt(LINES, 300, start=0.5).partition("\n[")
    assert mark
    tail = tail.partition("]\n")[2]
    assert LINES.startswith(head + "\n")
    assert LINES.endswith("\n" + tail)
    assert min(len(head), len(tail)) > 100


def test_the_end_alone_stays() -> None:
    shown = excerpt(LINES, 200, start=0.0)
    assert shown.startswith("[")
    assert shown.endswith("line 99\nline 100")


@pytest.mark.parametrize("start", [0.0, 0.5, 1.0])
def test_a_line_that_is_too_long_is_cut_within(start: float) -> None:
    shown = excerpt("x" * 1_000_000, 1_000, start=start)
    assert 900 < len(shown) <= 1_000
    assert "characters left out" in shown


@given(st.text(alphabet="ab\n\r\u2028", max_size=400), st.integers(60, 300), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_an_excerpt_never_exceeds_its_room(text: str, room: int, start: float) -> None:
    shown = excerpt(text, room, start=start)
    assert len(shown) <= room
    assert (shown == text) == (len(text) <= room)
