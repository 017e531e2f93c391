"""What a folder and a recording may set: each limit on both of its sides."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from support.trace_samples import started
from support.trusted import config_folder

from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.plugins import MAX_FOREIGN_CHARS
from codeplan.runner.recorded_episodes import check_budget, choose_settings, main_model_name
from codeplan.runner.settings_files import (
    MAX_SETTINGS_BYTES,
    describe_settings,
    read_settings_file,
    split_settings,
    tightens_budget,
)

__all__ = ["config_folder"]

# ------------------------------------------------------------------ a folder


def test_a_settings_file_may_have_exactly_a_megabyte(tmp_path):
    (tmp_path / "codeplan.toml").write_text("temperature = 0.5\n".ljust(MAX_SETTINGS_BYTES, "#"))
    file = read_settings_file(tmp_path)
    assert file is not None and file.settings == {"temperature": 0.5}
    (tmp_path / "codeplan.toml").write_text("temperature = 0.5\n".ljust(MAX_SETTINGS_BYTES + 1, "#"))
    with pytest.raises(UsageError, match="larger than 1,000,000 bytes"):
        read_settings_file(tmp_path)


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, None),
        ({"codeplan.toml": ""}, "codeplan.toml"),
        ({"pyproject.toml": ""}, None),
        ({"pyproject.toml": "[tool.other]\nx = 1"}, None),
        ({"pyproject.toml": "[tool.codeplan]"}, None),
        ({"pyproject.toml": "[tool.codeplan]\ntemperature = 1.0"}, "pyproject.toml"),
        ({"codeplan.toml": "", "pyproject.toml": "[tool.codeplan]\ntemperature = 1.0"}, "codeplan.toml"),
        ({"codeplan.toml": "[tool.codeplan]\ntemperature = 1.0"}, "codeplan.toml"),
    ],
)
def test_the_first_file_with_settings_counts(tmp_path, files, name):
    for each, text in files.items():
        (tmp_path / each).write_text(text)
    found = read_settings_file(tmp_path)
    assert (found and found.path.name) == name
    if found:
        assert found.settings == ({"temperature": 1.0} if files[found.path.name] else {})


@pytest.mark.parametrize(
    ("limit", "value", "tighter"),
    [
        ("model_calls", 0, True),
        ("model_calls", 99, True),
        ("model_calls", 200, True),
        ("model_calls", 201, False),
        ("model_calls", None, False),
        ("tokens", 10**15, True),  # the default has no limit
        ("tokens", None, True),
        ("seconds", 0.5, True),
    ],
)
def test_a_folder_may_lower_a_limit_of_the_budget_to_at_most_the_default(limit, value, tighter):
    assert tightens_budget(limit, value) is tighter
    budget, name = {limit: value}, f"budget.{limit}"
    assert split_settings({"budget": budget}) == ({"budget": budget if tighter else {}}, () if tighter else (name,))


def test_a_shown_value_has_two_hundred_characters_and_no_login_or_key():
    shown = describe_settings(
        {
            "short": "x" * 198,
            "long": "x" * 199,
            "my_token": "geheim",
            "url": "https://me:geheim@host/v1",
            "table": {"password": "geheim", "other": 1},
        }
    )
    assert shown["short"] == "'" + "x" * 198 + "'"
    assert len(shown["long"]) == 200 and shown["long"].endswith("…")
    assert shown["my_token"] == "(not shown)"
    assert shown["url"] == "'https://host/v1'"
    assert shown["table"] == "{'other': 1}"


# ------------------------------------------------------------------ a recording


@pytest.mark.parametrize(
    ("recorded", "own", "refused"),
    [
        (5, 5, False),
        (4, 5, False),
        (6, 5, True),
        (None, 5, True),
        (5, None, False),
        (None, None, False),
        (0, 0, False),
        (1, 0, True),
    ],
)
@pytest.mark.parametrize("limit", Budget.__struct_fields__)
def test_a_recorded_limit_may_be_as_high_as_the_user_s(limit, recorded, own, refused):
    budgets = Budget(**{limit: recorded}), Budget(**{limit: own})  # type: ignore[arg-type]
    if not refused:
        check_budget(*budgets)
        return
    with pytest.raises(UsageError) as caught:
        check_budget(*budgets)
    shown = "unlimited" if recorded is None else str(recorded)
    text = "null" if recorded is None else str(recorded)
    way = (
        f"the variable CODEPLAN_BUDGET_REFINEMENTS={text}"
        if limit == "refinements"
        else f"--max-{limit.replace('_', '-')} {text}"
    )
    assert f"{limit}={shown} (yours: {own}); allow it with {way}" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("m", True),
        ("m" * MAX_FOREIGN_CHARS, True),
        ("m" * (MAX_FOREIGN_CHARS + 1), False),
        ("m@http://host", False),
        ("a:b/c@d", True),
    ],
)
def test_a_model_from_a_trace_has_a_short_plain_name(name, plain):
    if plain:
        assert main_model_name(started(model=name)) == name
    else:
        with pytest.raises(UsageError, match="has a plain name"):
            main_model_name(started(model=name))


def chosen(settings: dict[str, Any], *, live: bool = True, given: Any = (), configured: Any = ()) -> dict[str, Any]:
    header = started(method="adaplanner")
    header.settings.update(settings)
    parts = {"env": "household", "method": "adaplanner", "model": "scripted"}
    return choose_settings(header, parts, dict(given), dict(configured), live=live)


@pytest.mark.parametrize("live", [True, False])
def test_a_name_of_a_model_is_taken_up_to_its_length_and_without_an_address(live, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    longest = "m" * MAX_FOREIGN_CHARS
    assert chosen({"ask_model": longest}, live=live) == {"ask_model": longest}
    for name in (longest + "m", "m@http://host"):
        with pytest.raises(UsageError, match="ask_model"):
            chosen({"ask_model": name})


@pytest.mark.parametrize("name", ["ask_model", "refine_model"])
def test_a_name_of_a_model_is_taken_only_with_an_endpoint_of_the_users(name, monkeypatch):
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match=f"{name}='m'; if you trust it, give --set {name}=…$"):
        chosen({name: "m"})
    assert chosen({name: "m"}, live=False) == {name: "m"}
    assert chosen({name: "m"}, given={name: "m"}) == {name: "m"}
    assert chosen({name: "scripted"}) == {name: "scripted"}


def test_what_the_user_gives_comes_before_what_was_recorded():
    assert chosen({"tries": 3}) == {"tries": 3}
    assert chosen({"tries": 3}, given={"tries": 4}) == {"tries": 4}
    assert chosen({"tries": "many"}, given={"tries": 4}) == {"tries": 4}
    with pytest.raises(UsageError, match="tries"):
        chosen({"tries": "many"})


def test_several_missing_settings_are_named_in_the_plural_and_one_in_the_singular():
    with pytest.raises(UsageError, match=r"this setting, which is not taken.*prompts='/p'; .*--set prompts=…$"):
        chosen({"prompts": "/p"})
    both = {"prompts": "/p", "limits": {"wall": 9.0}}
    with pytest.raises(UsageError, match=r"these settings, which are not taken.*limits=\{'wall': 9.0\}"):
        chosen(both)
    assert chosen({"prompts": None, "limits": {"wall": 5.0}}) == {}  # as by default
    assert chosen(both, given=both) == both


def test_a_setting_of_an_environment_that_an_object_replaces_is_left_out():
    header = msgspec.structs.replace(started(method="adaplanner"), env="no-such-environment", settings={"rooms": 3})
    parts = {"env": object(), "method": "adaplanner", "model": "scripted"}
    assert choose_settings(header, parts, {}, {}, live=True) == {}
    with pytest.raises(UsageError, match="no-such-environment"):
        choose_settings(header, {**parts, "env": "no-such-environment"}, {}, {}, live=True)
    with pytest.raises(UsageError, match="'rooms', which does not exist here"):
        choose_settings(
            msgspec.structs.replace(header, env="household"), {**parts, "env": "household"}, {}, {}, live=True
        )
