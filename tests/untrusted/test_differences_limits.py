"""Each limit of a comparison of texts, on both of its sides."""

from __future__ import annotations

import pytest

from codeplan.untrusted.comparison import (
    MAX_CHARACTERS,
    TOO_LARGE,
    compare_lines,
    describe_changes,
    diff_lines,
    nearest_name,
)

ONE, OTHER = ["a", "b"] * 100, ["b", "a"] * 100
"""200 lines each, with no start and no end in common: the largest piece that is aligned."""


def too_large(before: list[str], after: list[str]) -> int:
    return sum(row.text == TOO_LARGE for row in compare_lines(before, after) if row.mark == "@")


def test_a_piece_of_two_hundred_by_two_hundred_lines_is_aligned_and_no_larger_one() -> None:
    assert too_large(ONE, OTHER) == 0
    assert too_large(ONE, [*OTHER, "c"]) == 1
    assert too_large(["c", *ONE], OTHER) == 1


@pytest.mark.parametrize(("pieces", "unaligned"), [(5, 0), (6, 1)])
def test_five_such_pieces_are_aligned_and_those_behind_them_are_not(pieces: int, unaligned: int) -> None:
    before = [line for n in range(pieces) for line in (*ONE, f"anchor {n}")]
    after = [line for n in range(pieces) for line in (*OTHER, f"anchor {n}")]
    assert too_large(before, after) == unaligned
    same = [row.text for row in compare_lines(before, after) if row.mark == " "]
    assert [line for line in same if line.startswith("anchor")] == [f"anchor {n}" for n in range(pieces)]


@pytest.mark.parametrize(("pieces", "unaligned"), [(4, 0), (5, 1)])
def test_behind_five_such_pieces_not_even_one_line_is_aligned(pieces: int, unaligned: int) -> None:
    before, after = ([line for n in range(pieces) for line in (*part, f"anchor {n}")] for part in (ONE, OTHER))
    assert too_large([*before, "p"], [*after, "q"]) == unaligned
    assert too_large([*before, "p"], after) == 0  # a line that is only left out needs no aligning


def test_the_common_start_and_end_of_a_large_piece_are_not_part_of_it() -> None:
    start, end = ["x", "x"] * 300, ["y", "z", "z"] * 300
    rows = list(compare_lines([*start, *ONE, *end], [*start, *OTHER, *end]))
    assert [row.text for row in rows if row.mark == " "][:600] == start
    assert [row.text for row in rows if row.mark == " "][-900:] == end
    assert not any(row.mark == "@" for row in rows)


def test_a_line_that_occurs_twice_in_one_of_the_texts_does_not_align_them() -> None:
    once, twice = [*ONE, "anchor", *ONE], [*OTHER, "anchor", *OTHER, "anchor", "c"]
    for before, after in ((once, twice), (twice, once)):
        assert too_large(before, after) == 1
        assert not any(row.mark == " " for row in compare_lines(before, after))


def test_the_longest_rising_series_of_lines_is_kept() -> None:
    numbers = [f"{n}" for n in range(300)]
    moved = [*numbers[200:], *numbers[:200]]
    assert [row.text for row in compare_lines(numbers, moved) if row.mark == " "] == numbers[:200]
    assert [row.text for row in compare_lines(moved, numbers) if row.mark == " "] == numbers[:200]


@pytest.mark.parametrize(
    ("changed", "context", "shown"),
    [
        ((0,), 2, "@1 -0 +x  1  2"),
        ((1, 9), 1, "@1  0 -1 +x  2 @9  8 -9 +x"),
        ((3, 6), 1, "@3  2 -3 +x  4  5 -6 +x  7"),
        ((3, 7), 1, "@3  2 -3 +x  4 @7  6 -7 +x  8"),
        ((4,), 0, "@5 -4 +x"),
    ],
)
def test_changes_whose_surroundings_touch_stand_together(changed: tuple[int, ...], context: int, shown: str) -> None:
    before = [str(n) for n in range(10)]
    after = ["x" if n in changed else str(n) for n in range(10)]
    rows = diff_lines("\n".join(before), "\n".join(after), context)
    assert " ".join(mark + line.removeprefix("line ") for mark, line in rows) == shown


def test_a_message_has_two_hundred_lines_and_counts_the_others() -> None:
    lines = describe_changes("", "x\n" * 199).split("\n")
    assert lines == ["@ line 1", *["+x"] * 199]
    lines = describe_changes("", "x\n" * 200).split("\n")
    assert lines == ["@ line 1", *["+x"] * 199, "… (1 more line)"]


def test_a_message_shows_one_line_around_each_change() -> None:
    assert describe_changes("a\nb\nc\nd\ne", "a\nb\nC\nd\ne") == "@ line 2\n b\n-c\n+C\n d"


def test_a_line_of_a_message_has_five_hundred_characters() -> None:
    assert describe_changes("", "x" * 499) == "@ line 1\n+" + "x" * 499
    assert describe_changes("", "x" * 500) == "@ line 1\n+" + "x" * 498 + "…"


def test_a_million_characters_are_compared_and_no_more() -> None:
    start = "x\n" * (MAX_CHARACTERS // 2 - 1) + "x"
    before, after = start + "a", start + "b"
    assert len(before) == MAX_CHARACTERS
    assert list(diff_lines(before, after, 0)) == [("@", f"line {MAX_CHARACTERS // 2}"), ("-", "xa"), ("+", "xb")]
    assert list(diff_lines(before, before)) == []
    remark = ("@", "only the first 1,000,000 characters are compared")
    assert list(diff_lines(before, before + "b")) == [remark]
    assert list(diff_lines(before + "b", before)) == [remark]
    assert list(diff_lines(before + "b", before + "b")) == []


@pytest.mark.parametrize(
    ("name", "valid", "near"),
    [
        ("a" * 100, "a" * 100, True),
        ("a" * 100, "a" * 101, False),
        ("a" * 43 + "b" * 1_000, "a" * 43, True),  # 100 characters of the name count: just enough are alike
        ("a" * 42 + "b" * 1_000, "a" * 42, False),
    ],
)
def test_a_hundred_characters_of_a_name_are_compared(name: str, valid: str, near: bool) -> None:
    assert nearest_name(name, [valid]) == (valid if near else None)
