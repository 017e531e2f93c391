"""Settings of models and budgets, from environment variables and from a file in the current folder.

A command-line option overrides a variable, and a variable overrides the file. The file is ``codeplan.toml``, or the
table ``[tool.codeplan]`` of ``pyproject.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.llm import endpoint, toml_files
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import ROUTES
from codeplan.plugins import parse_json, setting_specs
from codeplan.runner import models

ENDPOINT_SETTINGS = (
    *("base_url", "key_variable", "extra_body", "timeout", "deadline", "max_retries"),
    *("requests_per_minute", "tokens_per_minute", "prices"),
)
"""Settings that say how an endpoint is reached, and at what price. They may differ when an episode runs again."""

_PREFIX = "CODEPLAN_"
_ADDRESS_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")


def _check_names(settings: Any) -> None:
    for name in ("model", *ROUTES, "key_variable"):
        value = getattr(settings, name)
        if value is not None and not value.strip():
            raise UsageError(f"{name} is empty; give a name, or leave it out")
    if settings.base_url:
        endpoint.resolve_base_url(settings.base_url)


_SPECS = {spec.name: spec.type for spec in setting_specs(OpenAIModel) if spec.name not in ("name", "api_key")}
_TYPES = {"model": str, **dict.fromkeys(ROUTES, str), **_SPECS, "prices": str, "budget": Budget}
SettingsSchema = msgspec.defstruct(
    "SettingsSchema",
    [(name, kind | None, None) for name, kind in _TYPES.items()],
    namespace={"__post_init__": _check_names},
    frozen=True,
    forbid_unknown_fields=True,
)
"""The settings that a file or variables may hold, by name: OpenAIModel's, other models' names, and a budget.

Raises UsageError for an empty name and for an invalid base URL.
"""


class UserConfig(msgspec.Struct, frozen=True):
    """The user's settings: the model's name (None if not set), its settings, and the limits of the budget."""

    model: str | None
    settings: dict[str, Any]
    budget: dict[str, Any]


def load_config(folder: Path, variables: Mapping[str, str]) -> UserConfig:
    """Read the folder's file and the variables. Raises UsageError, with the line, key or variable, for a mistake."""
    given = _read_file(folder)
    if any(variables.get(name) for name in _ADDRESS_VARIABLES):
        given.pop("base_url", None)  # the variable overrides it
    budget = {**given.pop("budget", {}), **_read_variables(variables, Budget, f"{_PREFIX}BUDGET_")}
    given |= _read_variables(variables, SettingsSchema, _PREFIX)
    return UserConfig(given.pop("model", None), given, budget)


def settings_for_model(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that this model takes. The stand-in takes no models for other purposes: it needs no network."""
    names = {*models.setting_names(model)} - ({*ROUTES} if model == "scripted" else set())
    return {name: value for name, value in settings.items() if name in names}


def endpoint_settings(config: UserConfig) -> dict[str, Any]:
    """The current settings that apply when a recorded episode runs again; all others are as recorded."""
    return {name: value for name, value in config.settings.items() if name in ENDPOINT_SETTINGS}


def _read_file(folder: Path) -> dict[str, Any]:
    """The settings in the folder's file; empty if there is no such file."""
    for name in ("codeplan.toml", "pyproject.toml"):
        path = folder / name
        if path.exists():
            table = toml_files.parse_toml(toml_files.read_text(path, "the settings file"), name)
            tools = table.get("tool", {})
            if not isinstance(tools, dict):
                raise UsageError(f"{name}: tool is not a table; write [tool.codeplan] above codeplan's settings")
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
    """The fields that variables set; lists and tables are written as JSON."""
    found: dict[str, Any] = {}
    for field in kind.__struct_fields__:
        text = variables.get(variable := prefix + field.upper())
        if text and field != "budget":
            value = parse_json(text) if field in ("stop", "extra_body") else text
            found[field] = getattr(toml_files.convert_value({field: value}, kind, variable, strict=False), field)
    return found
