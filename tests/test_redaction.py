"""Settings whose names mark secrets are left out; ordinary settings stay."""

from __future__ import annotations

import pytest

from codeplan.plugins import is_secret_name, remove_secrets

SECRET = [
    *("key", "api_key", "api-key", "apikey", "apiKey", "X-Api-Key", "access_token", "accessToken", "clientSecret"),
    *("secret", "password", "PASSWD", "user_password", "userPassword", "passphrase", "Authorization", "credentials"),
    *("proxy-authorization", "Cookie", "session.cookie", "contact"),
]
ORDINARY = [
    "monkey",
    "turkey",
    "max_tokens",
    "key_variable",
    "tokens_per_minute",
    "secretary",
    "keys_first",
    "tokenizer",
]


@pytest.mark.parametrize("name", SECRET)
def test_a_name_that_marks_a_secret_is_known(name: str) -> None:
    assert is_secret_name(name)
    assert remove_secrets({"a": [{name: "x", "b": 1}]}) == {"a": [{"b": 1}]}


def test_only_texts_are_names() -> None:
    value = {3: "x", None: [{("key",): 1}], "tokens": ({"key": 1, "a": 2},)}
    assert remove_secrets(value) == {3: "x", None: [{("key",): 1}], "tokens": [{"a": 2}]}


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_name_stays(name: str) -> None:
    assert remove_secrets({name: "x"}) == {name: "x"}
