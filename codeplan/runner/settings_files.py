"""Reads the settings files of folders, and keeps the list of folders that the user trusts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from codeplan.budget import Budget
from codeplan.durable_files import config_folder, exclusive_lock, make_private
from codeplan.errors import UsageError
from codeplan.llm import endpoint
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import ROUTES
from codeplan.plugins import is_secret_name, parse_json, remove_secrets, setting_specs
from codeplan.runner import models
from codeplan.types import Value
from codeplan.untrusted import files, toml
from codeplan.untrusted.texts import one_line
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
    table = toml.require_toml(text.replace("\r\n", "\n"), name)
    tools = table.get("tool", {})
    if not isinstance(tools, dict):
        raise UsageError(f"{name}: tool is not a table; write [tool.codeplan] above codeplan's settings")
    return tools.get("codeplan", {} if name == "pyproject.toml" else table)


def _validate(table: Any, name: str) -> dict[str, Any]:
    if isinstance(table, dict) and "api_key" in table:
        raise UsageError(f"{name}: api_key: keys do not belong in a file; put it into the variable OPENAI_API_KEY")
    checked = toml.convert_value(table, SettingsSchema, name)
    given = {key: getattr(checked, key) for key in table if key != "budget"}
    return given | ({"budget": table["budget"]} if "budget" in table else {})


MAX_LIST_BYTES = 1_000_000
"""The largest list of trusted settings files, in bytes."""


class TrustedFile(Value, frozen=True):
    """A settings file that the user trusts: its path without links, and the SHA-256 of its bytes in hexadecimal."""

    path: str
    sha256: str


class _TrustList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    trusted: tuple[TrustedFile, ...]


def real_path(file: Path) -> str:
    """The settings file's path with its folder's links resolved, by which the list knows it."""
    return os.path.join(os.path.realpath(file.parent), file.name)


def is_trusted(file: Path, sha256: str) -> bool:
    """Whether the user trusts this settings file with these bytes. Raises UsageError if the list is damaged."""
    return TrustedFile(real_path(file), sha256) in trusted_files()


def trusted_files() -> tuple[TrustedFile, ...]:
    """The trusted settings files, by path. Raises UsageError if the list is damaged, or others may write it."""
    folder = config_folder()
    return () if folder is None else _read_list(_list_file(folder))


def trust(file: Path, sha256: str) -> None:
    """Add a settings file to the list, in place of an earlier version of it.

    Raises: UsageError: the list is damaged, full, or cannot be written.
    """
    path = real_path(file)
    with _changed_list() as (file_of_list, before):
        kept = [entry for entry in before if entry.path != path]
        _write_list(file_of_list, [*kept, TrustedFile(path, sha256)])


def forget(place: Path) -> tuple[str, ...]:
    """Remove a file, or all files of a folder, from the list and return their paths. The place need not exist.

    Raises: UsageError: the list is damaged or cannot be written.
    """
    gone = os.path.realpath(place)
    with _changed_list() as (file_of_list, before):
        kept = [entry for entry in before if gone not in (entry.path, os.path.dirname(entry.path))]
        if len(kept) < len(before):
            _write_list(file_of_list, kept)
    return tuple(entry.path for entry in before if entry not in kept)


def _list_file(folder: Path) -> Path:
    return folder / "trusted.json"


@contextlib.contextmanager
def _changed_list() -> Iterator[tuple[Path, tuple[TrustedFile, ...]]]:
    """The list's file and its entries, locked against other processes."""
    folder = config_folder()
    if folder is None:
        raise UsageError("there is no home folder for the list of trusted folders; set XDG_CONFIG_HOME to a folder")
    try:
        make_private(folder)
        with exclusive_lock(folder / "trusted.lock"):
            yield _list_file(folder), _read_list(_list_file(folder))
    except OSError as e:
        raise UsageError(f"the list of trusted folders cannot be written to {folder}: {e.strerror}") from None


def _write_list(file: Path, entries: list[TrustedFile]) -> None:
    plain = [msgspec.to_builtins(entry) for entry in sorted(entries, key=lambda entry: entry.path)]
    text = json.dumps({"trusted": plain}, indent=1) + "\n"  # in ASCII: a path may hold bytes that are not UTF-8
    if len(text) > MAX_LIST_BYTES:
        raise UsageError("the list of trusted folders is full; remove some with: codeplan trust --forget FOLDER")
    target = os.path.realpath(file)  # the list may be a link that the user made
    files.write_atomically(target, text)
    os.chmod(target, 0o600)


def _read_list(file: Path) -> tuple[TrustedFile, ...]:
    """The entries; none if there is no list. It is the user's own file, so links are followed."""
    try:
        with open(file, "rb", opener=_open_without_waiting) as opened:
            _require_own_file(file, os.fstat(opened.fileno()))
            text = opened.read(MAX_LIST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as e:
        raise UsageError(f"the list of trusted folders {file} cannot be read: {e.strerror}") from None
    try:
        if len(text) > MAX_LIST_BYTES:
            raise ValueError
        return msgspec.convert(json.loads(text), _TrustList).trusted
    except (ValueError, RecursionError):  # JSON, UTF-8 and validation errors are ValueErrors
        raise UsageError(
            f"the list of trusted folders {file} is damaged; correct or remove it, then trust your folders again"
        ) from None


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would block otherwise


def _require_own_file(file: Path, status: os.stat_result) -> None:
    """Raises UsageError unless the list is a regular file that only this user, or root, may write."""
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"the list of trusted folders {file} is not a regular file; remove it")
    if not hasattr(os, "geteuid"):
        return  # Windows: the settings folder belongs to the user alone
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError(f"others may write the list of trusted folders {file}; take it over with chown and chmod 600")


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
    if not untrusted or is_trusted(found.path, found.sha256):
        return dict(found.settings), found.path.name, ()
    return accepted, found.path.name, untrusted


def _read_variables(variables: Mapping[str, str], kind: type[msgspec.Struct], prefix: str) -> dict[str, Any]:
    """The fields that variables set; lists and tables are written as JSON."""
    found: dict[str, Any] = {}
    for field in kind.__struct_fields__:
        text = variables.get(variable := prefix + field.upper())
        if text and field != "budget":
            value = parse_json(text) if field in ("stop", "extra_body") else text
            found[field] = getattr(toml.convert_value({field: value}, kind, variable, strict=False), field)
    return found
