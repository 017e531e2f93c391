"""Which searches run in a process of their own, and each limit of an expression on both of its sides.

A process gets no seconds here, so a search that needs one finds no answer, and any other search answers at once.
"""

from __future__ import annotations

import pytest

from codeplan.untrusted import patterns
from codeplan.untrusted.patterns import (
    MAX_PATTERN_CHARACTERS,
    compile_in_time,
    find_first_match,
    find_pattern_problem,
    search_pattern,
)


@pytest.mark.parametrize("pattern", ["mug", "m.g", "", r"\*\+\?\{\|", "[a-z]", r"(m)\1", "^a$", r"\bmug"])
def test_what_cannot_take_long_is_searched_here(pattern: str) -> None:
    assert search_pattern(pattern, "a mug", 0) is not None


@pytest.mark.parametrize(
    "pattern",
    [
        "m*",
        "m+",
        "m?",
        "m{2}",
        "m|u",
        r"\\*",
        "[é]",
        "[\x80]",
        r"[\u00e9]",
        r"[\U000000e9]",
        r"[\7]",
        r"[\0]",
        r"[\N{DIGIT ONE}]",
    ],
)
def test_repeats_alternatives_and_classes_of_wide_characters_need_a_process(pattern: str) -> None:
    assert search_pattern(pattern, "a mug", 0) is None
    assert search_pattern(pattern, "a mug") in (True, False)


@pytest.mark.parametrize("pattern", ["é", r"\u00e9", "\uffff", "[\x7f]", "[xyz]", r"[\d]"])
def test_wide_characters_without_a_class_need_none(pattern: str) -> None:
    assert search_pattern(pattern, "a mug", 0) is False


def test_a_search_of_ten_million_steps_needs_no_process_and_a_longer_one_does() -> None:
    pattern = "." * 100 + "!"
    assert search_pattern(pattern, "a" * (10_000_000 // 101), 0) is False
    assert search_pattern(pattern, "a" * (10_000_000 // 101 + 1), 0) is None
    assert search_pattern("!" * 100, "a" * 100_000, 0) is False
    assert search_pattern("!" * 11, "a" * 909_091, 0) is None  # one step more


def test_ten_thousand_characters_are_an_expression_and_more_are_not() -> None:
    longest = "x" * MAX_PATTERN_CHARACTERS
    assert MAX_PATTERN_CHARACTERS == 10_000
    assert find_pattern_problem(longest) is None
    assert search_pattern(longest, longest) is True
    assert find_pattern_problem(longest + "x") == "it has 10,001 characters; at most 10,000 are allowed"
    with pytest.raises(ValueError, match="10,001 characters"):
        search_pattern(longest + "x", "x")
    with pytest.raises(ValueError, match="10,001 characters"):
        search_pattern("x+" * 5_000 + "x", "x", 0)  # found without a process


def test_only_classes_of_wide_characters_are_compiled_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "[é-\uffff]"
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.0)
    assert compile_in_time([])
    assert compile_in_time(["x+", "[a-z]", "é", "[a]\\d", slow.ljust(MAX_PATTERN_CHARACTERS + 1)])
    assert not compile_in_time(["x", slow])
    assert not compile_in_time([slow.ljust(MAX_PATTERN_CHARACTERS)])


@pytest.mark.parametrize("pattern", ["a**", "(a+", "(?P=a)|b", "a{2,1}", "[é"])
def test_what_is_no_expression_is_refused_in_the_process_too(pattern: str) -> None:
    with pytest.raises(ValueError, match="no regular expression|unterminated|multiple|missing|unknown|min repeat"):
        search_pattern(pattern, "a")


def test_the_first_pattern_that_matches_is_found() -> None:
    assert find_first_match([], "mug") is None
    assert find_first_match(["x", "x+"], "mug") is None
    assert find_first_match(["x", "m+ug", "mug"], "mug") == 1
    assert find_first_match(["mug", "m+ug"], "mug") == 0


def test_a_search_that_is_out_of_time_names_its_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.0)
    with pytest.raises(TimeoutError) as caught:
        find_first_match(["x", "x+", "mug"], "mug")
    assert str(caught.value) == "x+"
    assert find_first_match(["x", "mug", "x+"], "mug") == 1
