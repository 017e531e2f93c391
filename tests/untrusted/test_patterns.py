"""Regular expressions of strangers: the right answer, or an end in time."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from codeplan.errors import ModelError
from codeplan.testing.answers import scripted_llm
from codeplan.untrusted import patterns
from codeplan.untrusted.patterns import compile_in_time, find_first_match, find_pattern_problem, search_pattern


@pytest.mark.parametrize(
    "pattern", ["mug", "m.g", r"m\+g\?", "m+ug", "^a|b$", "[a-c]{2}", r"(?i)MUG", r"\bmug\b", "", r"(\w)\1", "é+"]
)
@pytest.mark.parametrize("text", ["", "a mug 1", "m+g?", "bb", "a\nb", "\x00", "éé", "\ud800mug"])
def test_the_answer_is_that_of_re(pattern: str, text: str) -> None:
    assert search_pattern(pattern, text) == bool(re.search(pattern, text))


EXPONENTIAL = [
    r"(a+)+b",
    r"(a*)*b",
    r"(?:a|aa)+b",
    r"(a|a?)+b",
    r"(\w+\s?)*!",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(.*a){20}b",
    "a?" * 40 + "a" * 40 + "b",
    r"(x+x+)+y|(a+a+)+b",
    r"(?=(a+)+b)a",
    r"((a{1,30}){1,30}){1,30}b",
]


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_a_search_that_takes_too_long_is_ended(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.5)
    assert search_pattern(pattern, "a" * 60 + " " + "a" * 200) is None


def test_a_model_of_patterns_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.5)
    model = scripted_llm({r"(a+)+b": "yes"})
    with pytest.raises(ModelError, match="write simpler expressions"):
        model.complete([{"role": "user", "content": "a" * 60}], purpose="ask")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(" * 5_000, "nested too deeply|missing"),
        ("(?:" * 2_400 + ")" * 2_400, "nested too deeply"),
        ("a{99999999999999999999}", "too large"),
        ("(?P<a>b)(?P<a>c)", "redefinition"),
        ("[", "unterminated"),
        ("a**", "multiple repeat"),
        ("(?<=a*)b", "fixed-width"),
        ("\\", "bad escape"),
        ("x" * 100_000, "100,000 characters"),
        (r"(?P=a)", "unknown group"),
    ],
)
def test_what_is_no_regular_expression_is_refused_with_the_reason(pattern: str, problem: str) -> None:
    assert re.search(problem, find_pattern_problem(pattern) or "")
    with pytest.raises(ValueError):
        search_pattern(pattern, "a")


SLOW_TO_COMPILE = [
    "(?i)" + "[\x01-\uffff]" * 1_990,
    "[\x01-\uffff]" * 1_990,
    "(?i)" + "[^\x01-\uffff]" * 1_600,
    "(?i)" + r"[\1-\uffff]" * 900,
    "(?i)" + r"[\x01-\U0000ffff]" * 500,
]


@pytest.mark.parametrize("pattern", SLOW_TO_COMPILE, ids=range(len(SLOW_TO_COMPILE)))
def test_an_expression_that_takes_long_to_compile_is_ended(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.3)
    assert not compile_in_time(["mug", pattern])
    assert search_pattern(pattern, "a") is None


def test_expressions_that_compile_in_time_are_used() -> None:
    assert compile_in_time(["[é-ü]", "[", "(?i)[\u0400-\u04ff]+"])
    assert search_pattern("[é-ü]", "a ö") is True


def test_all_expressions_for_one_question_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.5)
    with pytest.raises(TimeoutError):
        find_first_match([f"x+{number}" for number in range(1_000)], "a" * 60)


def test_a_long_expression_without_repeats_is_searched_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.5)
    assert search_pattern("\\w" * 4_990 + "!", "a" * 1_000_000) is None


def test_a_pattern_that_python_warns_about_prints_nothing():
    code = "from codeplan.untrusted.patterns import find_pattern_problem as find; print(find('[[a]'), find('[a&&b]'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("None None\n", "")
