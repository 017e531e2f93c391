"""Settings of models and budgets, from environment variables and from the current folder's settings file.

A command-line option overrides a variable, and a variable overrides the file. Until the user trusts the file, it sets
only the harmless settings that any folder may set.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from codeplan.budget import Budget
from codeplan.llm import toml_files
from codeplan.llm.routing import ROUTES
from codeplan.plugins import parse_json
from codeplan.runner import models, trusted_folders
from codeplan.runner.settings_file import SettingsSchema, read_settings_file, split_settings

_PREFIX = "CODEPLAN_"
_ADDRESS_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")


class UserConfig(msgspec.Struct, frozen=True):
    """The user's settings: the model's name (None if not set), its settings, and the limits of the budget.

    ``file`` is the name of the folder's settings file, empty without one. ``ignored`` names the settings in it that
    have no effect until the user trusts the file.
    """

    model: str | None
    settings: dict[str, Any]
    budget: dict[str, Any]
    file: str = ""
    ignored: tuple[str, ...] = ()


def load_config(folder: Path, variables: Mapping[str, str]) -> UserConfig:
    """Read the folder's file and the variables. Raises UsageError, with the line, key or variable, for a mistake."""
    given, file, ignored = _read_folder(folder)
    if any(variables.get(name) for name in _ADDRESS_VARIABLES):
        given.pop("base_url", None)  # the variable overrides it
    budget = {**given.pop("budget", {}), **_read_variables(variables, Budget, f"{_PREFIX}BUDGET_")}
    given |= _read_variables(variables, SettingsSchema, _PREFIX)
    return UserConfig(given.pop("model", None), given, budget, file, ignored)


def settings_for_model(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that this model takes. The stand-in takes no models for other purposes: it needs no network."""
    names = {*models.setting_names(model)} - ({*ROUTES} if model == "scripted" else set())
    return {name: value for name, value in settings.items() if name in names}


def _read_folder(folder: Path) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """The settings of the folder's file that apply, the file's name, and the names of the settings that do not."""
    found = read_settings_file(folder)
    if found is None:
        return {}, "", ()
    accepted, untrusted = split_settings(found.settings)
    if not untrusted or trusted_folders.is_trusted(found.path, found.sha256):
        return dict(found.settings), found.path.name, ()
    return accepted, found.path.name, untrusted


def _read_variables(variables: Mapping[str, str], kind: type[msgspec.Struct], prefix: str) -> dict[str, Any]:
    """The fields that variables set; lists and tables are written as JSON."""
    found: dict[str, Any] = {}
    for field in kind.__struct_fields__:
        text = variables.get(variable := prefix + field.upper())
        if text and field != "budget":
            value = parse_json(text) if field in ("stop", "extra_body") else text
            found[field] = getattr(toml_files.convert_value({field: value}, kind, variable, strict=False), field)
    return found
