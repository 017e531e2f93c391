"""Settings from the environment and from the folder's file; flags go before both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.trusted import trust_folder

from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.events import EpisodeStarted
from codeplan.recording.trace import Trace
from codeplan.runner.settings_files import UserConfig, load_config, settings_for_model

FILE = """
[tool.codeplan]
model = "strong"
ask_model = "cheap"
temperature = 0
stop = ["END"]
extra_body = {top_k = 3}

[tool.codeplan.budget]
money = 1.5
model_calls = 7
"""
SET = {"ask_model": "cheap", "temperature": 0.0, "stop": ["END"], "extra_body": {"top_k": 3}}


def test_settings_come_from_pyproject_toml(tmp_path):
    (tmp_path / "pyproject.toml").write_text(FILE)
    trust_folder(tmp_path)
    assert load_config(tmp_path, {}) == UserConfig("strong", SET, {"money": 1.5, "model_calls": 7}, "pyproject.toml")


def test_a_variable_overrides_the_file(tmp_path):
    (tmp_path / "codeplan.toml").write_text(FILE)
    trust_folder(tmp_path)
    variables = {
        "CODEPLAN_MODEL": "other",
        "CODEPLAN_TEMPERATURE": "0.5",
        "CODEPLAN_MAX_RETRIES": "9",
        "CODEPLAN_STOP": '["a", "b"]',
        "CODEPLAN_BUDGET_MONEY": "3",
        "CODEPLAN_DEBUG": "1",
        "CODEPLAN_API": "",
    }
    found = load_config(tmp_path, variables)
    assert found.model == "other"
    assert found.settings == SET | {"temperature": 0.5, "max_retries": 9, "stop": ["a", "b"]}
    assert found.budget == {"money": 3.0, "model_calls": 7}


def test_openais_address_variable_overrides_the_file(tmp_path):
    (tmp_path / "codeplan.toml").write_text("base_url = 'http://file/v1'")
    trust_folder(tmp_path)
    assert load_config(tmp_path, {}).settings == {"base_url": "http://file/v1"}
    assert load_config(tmp_path, {"OPENAI_BASE_URL": "http://variable/v1"}).settings == {}
    both = {"OPENAI_BASE_URL": "http://variable/v1", "CODEPLAN_BASE_URL": "http://own/v1"}
    assert load_config(tmp_path, both).settings == {"base_url": "http://own/v1"}


def test_the_stand_in_takes_only_its_own_settings():
    assert settings_for_model("scripted", {"ask_model": "cheap", "temperature": 1.0, "model_seed": 3}) == {
        "model_seed": 3
    }
    assert settings_for_model("strong", {"ask_model": "cheap", "model_seed": 3}) == {
        "ask_model": "cheap",
        "model_seed": 3,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = ", "codeplan.toml is not TOML: Invalid value (at end of document)"),
        ("temperature = 'hot'", "codeplan.toml: temperature: expected float | null, got str"),
        ("temprature = 1", "codeplan.toml: there is no key temprature"),
        ("api = 'telepathy'", "codeplan.toml: api: "),
        ("[budget]\nmony = 1", "codeplan.toml: budget: there is no key mony"),
        ("[budget]\nmoney = -1", "codeplan.toml: the budget of money is -1"),
        ("budget = 3", "codeplan.toml: budget: expected object"),
        ("api_key = 'sk-secret'", "keys do not belong in a file"),
        ("tool = 3", "codeplan.toml: tool is not a table"),
        ("model = ''", "codeplan.toml: model is empty"),
        ("key_variable = ''", "codeplan.toml: key_variable is empty"),
        ("base_url = 'localhost:8000/v1'", "codeplan.toml: the base URL is not a URL"),
    ],
)
def test_a_mistake_in_the_file_is_reported_in_one_line_with_its_place(tmp_path, text, said):
    (tmp_path / "codeplan.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_config(tmp_path, {})
    assert said in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_reported_in_one_line(tmp_path):
    (tmp_path / "codeplan.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        load_config(tmp_path, {})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CODEPLAN_TEMPERATURE", "hot"),
        ("CODEPLAN_MAX_RETRIES", "1.5"),
        ("CODEPLAN_STOP", "END"),
        ("CODEPLAN_BUDGET_MONEY", "-1"),
        ("CODEPLAN_BASE_URL", "localhost:8000/v1"),
        ("CODEPLAN_TIMEOUT", "\udcff"),
    ],
)
def test_a_mistake_in_a_variable_is_reported_in_one_line_with_its_name(tmp_path, variable, value):
    with pytest.raises(UsageError, match=variable):
        load_config(tmp_path, {variable: value})


# ------------------------------------------------------------------ on the command line


def header(folder: str) -> EpisodeStarted:
    event = Trace.read(Path(folder) / "trace.jsonl")[0]
    assert isinstance(event, EpisodeStarted)
    return event


def test_options_override_variables_and_variables_override_the_file(serve, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    address = f"base_url = '{serve().url}'\ntemperature = 0.1\nmodel_seed = 1\nmodel = 'of-the-file'\n"
    (tmp_path / "codeplan.toml").write_text(address + "[budget]\nmodel_calls = 9\nactions = 80\n")
    trust_folder(tmp_path)
    monkeypatch.setenv("CODEPLAN_MODEL_SEED", "2")
    monkeypatch.setenv("CODEPLAN_TEMPERATURE", "0.2")
    monkeypatch.setenv("CODEPLAN_BUDGET_ACTIONS", "70")
    assert main(["run", "household", "--temperature", "0.3", "--max-money", "2", "--out", "one", "--json"]) == 0
    shown = header("one")
    assert shown.model == "of-the-file"
    assert shown.model_settings["temperature"] == 0.3
    assert shown.model_settings["seed"] == 2
    assert (shown.budget.model_calls, shown.budget.actions, shown.budget.money) == (9, 70, 2.0)
    capsys.readouterr()


@pytest.mark.parametrize(
    "command",
    [
        ["run", "household"],
        ["bench", "household"],
        ["exec", "plan.py", "--env", "household"],
        ["resume", "one"],
        ["fork", "one", "--at", "2", "--out", "two"],
    ],
)
def test_a_bad_file_ends_every_command_with_one_line(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.py").write_text("def solution(agent, start_from=1):\n    print(1)\n")
    (tmp_path / "codeplan.toml").write_text("temprature = 0")
    assert main(command) == 2
    err = capsys.readouterr().err
    assert err.startswith("codeplan: codeplan.toml: there is no key temprature")
    assert err.count("\n") == 1


def test_a_money_budget_without_a_price_is_reported(serve, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.toml").write_text("[models.tiny]\ninput = 1000.0\noutput = 1000.0\n")
    run = ["run", "household", "--model", "tiny", "--base-url", serve().url, "--max-money", "0.001"]
    assert main([*run, "--out", "one"]) == 0
    shown = capsys.readouterr()
    assert "no price is known for the model tiny" in shown.err
    assert re.search(r"Money +unknown", shown.out)
    assert main([*run, "--prices", "prices.toml", "--set", "code_check=always", "--out", "two"]) == 3
    shown = capsys.readouterr()
    assert "price" not in shown.err
    assert re.search(r"Money +\$\d", shown.out)
