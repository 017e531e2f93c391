"""Comparing untrusted texts: the right lines, and bounded work for every text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.steps import count_lines

from codeplan.recording.events import PlanDrafted
from codeplan.recording.trace import describe_difference
from codeplan.untrusted.comparison import compare_lines, diff_lines, nearest_name


def test_changes_have_two_lines_around_them_and_say_where_they_are() -> None:
    before = "\n".join("abcdefgh")
    after = before.replace("e", "E")
    assert list(diff_lines(before, after)) == [
        ("@", "line 3"),
        (" ", "c"),
        (" ", "d"),
        ("-", "e"),
        ("+", "E"),
        (" ", "f"),
        (" ", "g"),
    ]
    assert list(diff_lines(before, before)) == []


few_lines = st.lists(st.sampled_from(["a", "b", "c", "    d", ""]), max_size=300)
many_lines = st.builds(lambda lines, n: lines * n, few_lines, st.integers(1, 8))


@settings(max_examples=60, deadline=None)
@given(many_lines, many_lines)
def test_a_comparison_holds_both_texts_line_by_line(before: list[str], after: list[str]) -> None:
    rows = list(compare_lines(before, after))
    assert [row.text for row in rows if row.before] == before
    assert [row.text for row in rows if row.after] == after
    assert [row.before for row in rows if row.before] == list(range(1, len(before) + 1))
    assert [row.after for row in rows if row.after] == list(range(1, len(after) + 1))
    assert all(before[row.before - 1] == after[row.after - 1] for row in rows if row.before and row.after)


def test_a_small_change_in_a_large_plan_is_shown_as_that() -> None:
    before = [f"    x = agent.goto('desk {n}')" if n % 3 else "" for n in range(6000)]
    after = [*before[:100], "new", *before[100:4000], *before[4001:]]
    rows = [row for row in compare_lines(before, after) if row.mark != " "]
    assert [(row.mark, row.before, row.after) for row in rows] == [("+", None, 101), ("-", 4001, None)]


@pytest.mark.parametrize("extra", ["\x00", "\x1b", "\u202e", "\u200b"])
def test_a_message_shows_a_change_of_invisible_characters_as_that(extra: str) -> None:
    found = describe_difference(
        PlanDrafted(number=1, origin="plan", source="a\nb"), PlanDrafted(number=1, origin="plan", source="a\nb" + extra)
    )
    assert extra not in found
    assert "not shown" in found


@pytest.mark.parametrize(("name", "near"), [("housohold", "household"), ("h" * 10**6, None), ("", None), ("é", None)])
def test_the_nearest_name(name: str, near: str | None) -> None:
    assert nearest_name(name, ["household", "alfworld", "w" * 10**6]) == near


HOSTILE_TEXTS: dict[str, Callable[[int], tuple[list[str], list[str]]]] = {
    "two lines in turn, shifted": lambda n: (["a", "b"] * n, ["b", "a"] * n),
    "one line between unique ones": lambda n: (
        [t for k in range(n) for t in ("x", f"a{k}")],
        [t for k in range(n) for t in ("x", f"b{k}")],
    ),
    "reversed": lambda n: ([str(k) for k in range(n)], [str(k) for k in range(n, 0, -1)]),
    "nothing in common": lambda n: ([f"a{k}" for k in range(n)], [f"b{k}" for k in range(n)]),
    "blocks in other order": lambda n: (["a"] * n + ["b"] * n + ["c"] * n, ["c"] * n + ["a"] * n + ["b"] * n),
    "periods of coprime length": lambda n: ([str(k % 97) for k in range(n)], [str(k % 89) for k in range(n)]),
    "anchors with repeated lines between": lambda n: (
        [str(k) if k % 50 == 0 else "ab"[k % 2] for k in range(n)],
        [str(k) if k % 50 == 0 else "ab"[(k + 1) % 2] for k in range(n)],
    ),
    "growing prefixes": lambda n: (["a" * (k % 300) for k in range(n)], ["a" * ((k * 7) % 300) for k in range(n)]),
}


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_doubling_a_hostile_text_doubles_the_steps(name: str) -> None:
    small, large = (count_lines(lambda n=n: list(compare_lines(*HOSTILE_TEXTS[name](n)))) for n in (4_000, 8_000))
    assert large < 2.5 * small + 600_000  # the pieces that difflib aligns take a bounded number of steps


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_difflib_takes_a_bounded_number_of_steps(name: str) -> None:
    largest = max(count_lines(lambda n=n: list(compare_lines(*HOSTILE_TEXTS[name](n)))) for n in (100, 190, 199, 220))
    assert largest < 3_000_000
