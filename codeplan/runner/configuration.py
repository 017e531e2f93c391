"""Settings of models and budgets from the environment and from a file in the current folder.

A flag wins over a variable, and a variable over the file. The file is ``codeplan.toml``, or the table
``[tool.codeplan]`` of ``pyproject.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.llm import endpoint, toml_files
from codeplan.llm.routing import ROUTES
from codeplan.runner import models

ENDPOINT_SETTINGS = (
    "base_url",
    "key_variable",
    "extra_body",
    "timeout",
    "deadline",
    "max_retries",
    "requests_per_minute",
    "tokens_per_minute",
    "prices",
)
"""Settings that say how an endpoint is reached, and at what price. They may change while an episode lies on disk."""

_PREFIX = "CODEPLAN_"
_ADDRESS_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")


class SettingsSchema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be set, by name; for each see ``codeplan.llm.connect`` and ``codeplan.budget.Budget``.

    Raises UsageError for an empty name and for a base URL that is none.
    """

    model: str | None = None
    ask_model: str | None = None
    refine_model: str | None = None
    executor_model: str | None = None
    base_url: str | None = None
    key_variable: str | None = None
    api: Literal["chat", "responses"] | None = None
    temperature: float | None = None
    model_seed: int | None = None
    max_tokens: int | None = None
    stop: list[str] | None = None
    reasoning_effort: str | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    extra_body: dict[str, Any] | None = None
    timeout: float | None = None
    deadline: float | None = None
    max_retries: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    prices: str | None = None
    budget: Budget | None = None

    def __post_init__(self) -> None:
        for name in ("model", *ROUTES, "key_variable"):
            value = getattr(self, name)
            if value is not None and not value.strip():
                raise UsageError(f"{name} is empty; give a name, or leave it out")
        if self.base_url:
            endpoint.resolve_base_url(self.base_url)


class UserConfig(msgspec.Struct, frozen=True):
    """What was set: the model's name (None: nowhere), its settings and the limits of the budget, by name."""

    model: str | None
    settings: dict[str, Any]
    budget: dict[str, Any]


def load_config(folder: Path, variables: Mapping[str, str]) -> UserConfig:
    """What file and environment set. Raises UsageError, with the file and the line or key, for what is wrong there."""
    given = _read_file(folder)
    if any(variables.get(name) for name in _ADDRESS_VARIABLES):
        given.pop("base_url", None)  # the environment's goes before it
    budget = {**given.pop("budget", {}), **_read_variables(variables, Budget, f"{_PREFIX}BUDGET_")}
    given |= _read_variables(variables, SettingsSchema, _PREFIX)
    return UserConfig(given.pop("model", None), given, budget)


def settings_for_model(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that this model takes. The stand-in takes no other models: it needs no network."""
    takes = {*models.setting_names(model)} - ({*ROUTES} if model == "scripted" else set())
    return {name: value for name, value in settings.items() if name in takes}


def endpoint_settings(config: UserConfig) -> dict[str, Any]:
    """What an episode that is done again takes of today's settings: all others are as they were recorded."""
    return {name: value for name, value in config.settings.items() if name in ENDPOINT_SETTINGS}


def _read_file(folder: Path) -> dict[str, Any]:
    """The table of the folder's file as plain values; empty where there is none."""
    for name in ("codeplan.toml", "pyproject.toml"):
        path = folder / name
        if path.exists():
            table = toml_files.parse_toml(toml_files.read_text(path, "the settings file"), name)
            tools = table.get("tool", {})
            if not isinstance(tools, dict):
                raise UsageError(f"{name}: tool is no table; write [tool.codeplan] above codeplan's settings")
            found = tools.get("codeplan", {} if name == "pyproject.toml" else table)
            if found or name == "codeplan.toml":
                return _validate_table(found, name)
    return {}


def _validate_table(table: Any, name: str) -> dict[str, Any]:
    if isinstance(table, dict) and "api_key" in table:
        raise UsageError(f"{name}: api_key: keys do not belong in a file; put it into the variable OPENAI_API_KEY")
    checked = toml_files.convert_value(table, SettingsSchema, name)
    given = {key: getattr(checked, key) for key in table if key != "budget"}
    return given | ({"budget": table["budget"]} if "budget" in table else {})


def _read_variables(variables: Mapping[str, str], kind: type[msgspec.Struct], prefix: str) -> dict[str, Any]:
    """The fields that variables set; lists and tables are written as JSON there."""
    found: dict[str, Any] = {}
    for field in kind.__struct_fields__:
        text = variables.get(variable := prefix + field.upper())
        if text and field != "budget":
            value = _parse_json(text) if field in ("stop", "extra_body") else text
            found[field] = getattr(toml_files.convert_value({field: value}, kind, variable, strict=False), field)
    return found


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
