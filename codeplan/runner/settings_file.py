"""The settings file of a folder: ``codeplan.toml``, or the table ``[tool.codeplan]`` of ``pyproject.toml``.

Anyone may have written it, so it is read once, within bounds and without following links: the digest is that of the
parsed bytes. ``split_settings`` says which of its settings need the user's trust in the folder.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.llm import endpoint, toml_files
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import ROUTES
from codeplan.plugins import setting_specs
from codeplan.recording.redaction import is_secret_name, remove_secrets
from codeplan.types import Value
from codeplan.untrusted import files
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.values import value_text

SETTINGS_FILES = ("codeplan.toml", "pyproject.toml")
"""The names of settings files; the first that has settings counts."""

MAX_SETTINGS_BYTES = 1_000_000
"""The largest settings file, in bytes."""

MAX_SHOWN_CHARACTERS = 200
"""The characters that are shown of one setting's value."""

_LOGIN = re.compile(r"(?<=://)[^/@\s]*@")


def _check_names(settings: Any) -> None:
    for name in ("model", *ROUTES, "key_variable"):
        value = getattr(settings, name)
        if value is not None and not value.strip():
            raise UsageError(f"{name} is empty; give a name, or leave it out")
    if settings.base_url:
        endpoint.resolve_base_url(settings.base_url)


_SPECS = {spec.name: spec for spec in setting_specs(OpenAIModel) if spec.name not in ("name", "api_key")}
_TYPES = {
    "model": str,
    **dict.fromkeys(ROUTES, str),
    **{name: spec.type for name, spec in _SPECS.items()},
    "prices": str,
    "budget": Budget,
}
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


class SettingsFile(Value, frozen=True):
    """A settings file as it was read: its path, the SHA-256 of its bytes, and its settings by name."""

    path: Path
    sha256: str
    settings: dict[str, Any]


def read_settings_file(folder: Path) -> SettingsFile | None:
    """The folder's settings file; None if there is none.

    Raises: UsageError: it is not a regular file of at most ``MAX_SETTINGS_BYTES``, or not valid; the message says
    where.
    """
    for name in SETTINGS_FILES:
        content = _read(folder / name)
        if content is not None:
            found = _codeplan_table(content, name)
            if found or name == "codeplan.toml":
                return SettingsFile(folder / name, hashlib.sha256(content).hexdigest(), _validate(found, name))
    return None


def split_settings(settings: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings that any folder may set, and the names of those that need the user's trust.

    Any folder may set settings that are declared as safe, within their declared bounds, and may lower the default
    limits of a budget. It may not name a model: otherwise a run that would use the stand-in would call an endpoint, at
    the user's cost.
    """
    accepted: dict[str, Any] = {}
    ignored: list[str] = []
    for name, value in settings.items():
        if name == "budget":
            accepted["budget"] = {limit: v for limit, v in value.items() if tightens_budget(limit, v)}
            ignored += [f"budget.{limit}" for limit in value if limit not in accepted["budget"]]
        elif name in _SPECS and _SPECS[name].allows_foreign(value):
            accepted[name] = value
        else:
            ignored.append(name)
    return accepted, tuple(ignored)


def describe_settings(settings: dict[str, Any]) -> dict[str, str]:
    """Each setting's value as one short line of clean text, without keys and logins."""
    return {
        name: "(not shown)" if is_secret_name(name) else _describe(remove_secrets(value))
        for name, value in settings.items()
    }


def tightens_budget(limit: str, value: float | None) -> bool:
    """Whether this limit of a budget is no looser than the default."""
    default = getattr(Budget(), limit)
    return default is None or (value is not None and value <= default)


def _describe(value: object) -> str:
    return _LOGIN.sub("", one_line(value_text(value, MAX_SHOWN_CHARACTERS), MAX_SHOWN_CHARACTERS))


def _read(path: Path) -> bytes | None:
    try:
        return files.read_bytes(path, MAX_SETTINGS_BYTES)
    except FileNotFoundError:
        return None
    except OSError as e:
        raise UsageError(f"the settings file {path} cannot be read: {e.strerror}") from None


def _codeplan_table(content: bytes, name: str) -> Any:
    """The table with codeplan's settings in a file of this name; empty if there is none."""
    try:
        text = content.decode("utf-8-sig")  # editors of Windows put a byte order mark first
    except UnicodeDecodeError:
        raise UsageError(f"the settings file {name} is not text in UTF-8; save it as UTF-8") from None
    table = toml_files.parse_toml(text.replace("\r\n", "\n"), name)
    tools = table.get("tool", {})
    if not isinstance(tools, dict):
        raise UsageError(f"{name}: tool is not a table; write [tool.codeplan] above codeplan's settings")
    return tools.get("codeplan", {} if name == "pyproject.toml" else table)


def _validate(table: Any, name: str) -> dict[str, Any]:
    if isinstance(table, dict) and "api_key" in table:
        raise UsageError(f"{name}: api_key: keys do not belong in a file; put it into the variable OPENAI_API_KEY")
    checked = toml_files.convert_value(table, SettingsSchema, name)
    given = {key: getattr(checked, key) for key in table if key != "budget"}
    return given | ({"budget": table["budget"]} if "budget" in table else {})
