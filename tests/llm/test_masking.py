"""Secrets are masked in messages and answers; ordinary words never are."""

from __future__ import annotations

import pytest

from codeplan.llm.endpoint import mask

LONG = "internationalizations-24"  # 24 characters


@pytest.mark.parametrize(
    ("text", "secret", "masked"),
    [
        ("it is 1234567", "1234567", "it is 1234567"),
        ("it is 12345678", "12345678", "it is ***"),
        ("password1, password12, mypassword1, password1_x", "password1", "***, password12, mypassword1, password1_x"),
        ("temperature is not supported", "temperature", "*** is not supported"),
        ("Bearer=passport,", "passport", "Bearer=***,"),
        ("(passport) 'passport' passport.", "passport", "(***) '***' ***."),
        ("passport", "", "passport"),
        (f"x{LONG}y", LONG, "x***y"),
        (f"x{LONG[1:]}y", LONG[1:], f"x{LONG[1:]}y"),
        (f"see {LONG[1:]}!", LONG[1:], "see ***!"),
        ("a.*b.*c.*d and aXXbYYcZZd", "a.*b.*c.*d", "*** and aXXbYYcZZd"),
        ("übergrößen übergröße", "übergröße", "übergrößen ***"),
    ],
)
def test_a_secret_is_masked_only_where_it_is_no_part_of_a_word(text: str, secret: str, masked: str) -> None:
    assert mask(text, [secret]) == masked


def test_a_secret_that_contains_another_is_masked_whole() -> None:
    assert mask("login abc-password and password", ["password", "abc-password"]) == "login *** and ***"
