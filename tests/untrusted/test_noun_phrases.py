"""Numbers and articles before nouns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codeplan.untrusted.texts import with_article, with_count

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("count", "words", "phrase"),
    [
        (0, ("cell",), "0 cells"),
        (1, ("cell",), "1 cell"),
        (2_000, ("more pair",), "2,000 more pairs"),
        (1, ("try", "tries"), "1 try"),
        (3, ("try", "tries"), "3 tries"),
    ],
)
def test_a_count_fits_its_noun(count: int, words: tuple[str, ...], phrase: str) -> None:
    assert with_count(count, *words) == phrase


@pytest.mark.parametrize(
    ("article", "nouns"),
    [
        ("a", "RunJob dict list NoneType set bool float tuple Path UserDict UUID Union one hat JSONDecodeError"),
        ("an", "EndFrame int Observation episode OSError AskFrame hour LLM MCPServer HTTPError unknown"),
    ],
)
def test_an_article_fits_the_sound_of_its_noun(article: str, nouns: str) -> None:
    assert [with_article(noun) for noun in nouns.split()] == [f"{article} {noun}" for noun in nouns.split()]


def test_no_message_puts_a_fixed_article_before_the_name_of_a_type() -> None:
    fixed = re.compile(r"\b[Aa]n? \{[^{}]*__name__[^{}]*\}")
    files = [f for folder in ("codeplan", "sandbox", "envs", "prompts") for f in (ROOT / folder).rglob("*.py")]
    found = [f"{f}: {line}" for f in files for line in f.read_text(encoding="utf-8").splitlines() if fixed.search(line)]
    assert len(files) > 200
    assert not found
