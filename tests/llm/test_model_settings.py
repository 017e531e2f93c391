"""Settings of models: wrong ones are refused, and no secret is shown."""

from __future__ import annotations

from typing import Any

import pytest
from support.reply_server import KEY

from codeplan.errors import UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.runner.models import connect


def test_without_key_and_address_the_error_names_both_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=r"OPENAI_API_KEY.*--base-url.*--model scripted"):
        connect("gpt-4.1-mini")


@pytest.mark.parametrize("url", ["localhost:80/v1", "ftp://host/v1", "http://", "http://host:port/v1", "http://a b/v1"])
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="base URL"):
        OpenAIModel("tiny", base_url=url)


@pytest.mark.parametrize(
    "settings",
    [
        {"api_key": "sk-ключ"},
        {"api_key": "sk a"},
        {"timeout": 0.0},
        {"max_retries": -1},
        {"max_tokens_field": "tokens"},
        {"max_tokens": 0},
        {"api": "telepathy"},
        {"api": "responses", "model_seed": 1},
        {"deadline": float("nan")},
        {"requests_per_minute": 0},
        {"prices": "no/such/table.toml"},
        {"extra_body": {"top_k": [float("nan")]}},
        {"extra_body": {"since": object()}},
        {"extra_body": {"text": "\udcff"}},
    ],
)
def test_an_invalid_setting_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        OpenAIModel("tiny", base_url="http://localhost/v1", **settings)


def test_an_unknown_setting_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(
        UsageError,
        match="no setting 'temprature'; did you mean 'temperature'. there are: api, api_key, ask_model, base_url",
    ):
        connect("tiny", temprature=0)
    with pytest.raises(
        UsageError, match="'scripted' has no setting 'base_url'; there are: ask_model, .*mistakes, model_seed"
    ):
        connect("scripted", base_url="http://localhost/v1")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("tiny", {"timeout": "soon"}),
        ("tiny", {"temperature": "hot"}),
        ("tiny", {"model_seed": 1.5}),
        ("tiny", {"extra_body": 3}),
        ("scripted", {"model_seed": "x"}),
        ("scripted", {"mistakes": 3}),
    ],
)
def test_a_setting_of_the_wrong_type_is_refused(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"setting {next(iter(settings))}=.* does not fit"):
        connect(name, **settings)


@pytest.mark.parametrize(
    ("share", "fits"), [(0.0, False), (0.01, True), (1.0, True), (1.01, False), (float("nan"), False)]
)
def test_top_p_is_a_share_above_0_and_up_to_1(share: float, fits: bool) -> None:
    if fits:
        assert OpenAIModel("tiny", base_url="http://host/v1", top_p=share).settings["top_p"] == share
    else:
        with pytest.raises(UsageError, match="top_p is .*; give a share above 0 and up to 1"):
            OpenAIModel("tiny", base_url="http://host/v1", top_p=share)


def test_a_model_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no name"):
        connect(" ", base_url="http://localhost/v1")
    with pytest.raises(UsageError, match="not text in UTF-8"):
        connect("a\udcff", base_url="http://localhost/v1")


def test_the_key_and_the_credentials_in_an_address_are_never_shown() -> None:
    model = OpenAIModel("tiny", base_url="http://me:hunter2@host:1/v1", api_key=KEY, temperature=0.5)
    shown = repr(model) + repr(model.settings)
    assert "http://host:1/v1" in shown
    assert not any(secret in shown for secret in ("hunter", KEY))
    assert model.settings == {"base_url": "http://host:1/v1", "temperature": 0.5}


@pytest.mark.parametrize("end", ["?api-key=hunter2", "#hunter2", "/?"])
def test_an_address_with_a_query_is_refused_since_logs_would_show_it(end: str) -> None:
    with pytest.raises(UsageError, match="a query or a fragment") as caught:
        OpenAIModel("tiny", base_url=f"http://localhost:1/v1{end}")
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize("routed", [False, True])
def test_a_function_of_a_file_is_no_name_of_a_model(routed):
    with pytest.raises(
        UsageError, match=r"^the model 'm.py:reply' would be a function of a file, which --model alone takes;"
    ):
        connect("scripted", ask_model="m.py:reply") if routed else connect("m.py:reply", base_url="http://localhost/v1")
