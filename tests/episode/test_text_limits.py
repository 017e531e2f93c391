"""The texts that pass between model, plan and environment are cut at exactly their length, and can be written."""

from __future__ import annotations

import json

import pytest

from codeplan.episode.replayable import (
    MAX_OBSERVATION_CHARS,
    MAX_PROMPT_CHARS,
    MAX_REPLY_CHARS,
    bound_text,
    observation_too_long,
    prompt_too_long,
    reply_too_long,
)
from codeplan.errors import SizeExceeded


@pytest.mark.parametrize(
    ("text", "most", "bounded"),
    [
        ("a", 0, ("", 1)),
        ("abc", 3, ("abc", 0)),
        ("abcd", 3, ("abc", 4)),
        ("é🙂x", 2, ("é🙂", 3)),
        ("\ud800", 6, ("\\ud800", 0)),
        ("\ud800b", 6, ("\\ud800", 0)),
        ("\ud800b", 7, ("\\ud800b", 0)),
        ("a\ud800", 3, ("a\\u", 0)),
        ("ab\ud800", 2, ("ab", 3)),
    ],
)
def test_a_text_is_cut_at_its_limit(text: str, most: int, bounded: tuple[str, int]) -> None:
    assert bound_text(text, most) == bounded
    assert json.dumps(bound_text(text, most)[0], ensure_ascii=False).encode()


def test_an_error_names_what_is_too_long_its_length_and_the_limit() -> None:
    for error, what, limit in (
        (reply_too_long(256_001), "reply", MAX_REPLY_CHARS),
        (observation_too_long(500_001), "observation", MAX_OBSERVATION_CHARS),
        (prompt_too_long(1_000_001, "ask", made_by_agent=True), "prompt", MAX_PROMPT_CHARS),
    ):
        assert isinstance(error, SizeExceeded)
        assert (error.what, error.limit) == (what, limit)
        assert f"{limit + 1:,} characters, more than {limit:,}" in str(error)
