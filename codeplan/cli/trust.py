"""``codeplan trust``: lets the settings file of a folder set everything that the user's own configuration may set."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options

if TYPE_CHECKING:
    from codeplan.runner.trusted_folders import TrustedFile

Folder = Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder of the settings file; default: this one.")]
List = Annotated[bool, typer.Option("--list", help="List the trusted settings files instead.")]
Forget = Annotated[bool, typer.Option("--forget", help="Trust this folder's settings file no longer.")]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("trust", epilog="Example: codeplan trust .")(trust)


def trust(
    folder: Folder = Path(), list_all: List = False, forget: Forget = False, as_json: options.Json = False
) -> None:
    """Trust the settings file of a folder, as it is now: codeplan.toml, or [tool.codeplan] in pyproject.toml.

    Until then it cannot choose a model, an endpoint, a key, a file or what else concerns this machine. The command
    prints what the file sets. If the file changes, codeplan ignores such settings again until you repeat the command.
    """
    from codeplan.errors import UsageError

    if list_all and forget:
        raise UsageError("--list and --forget exclude each other; give one of them")
    if list_all:
        _print_list(as_json)
    elif forget:
        _forget(folder, as_json)
    else:
        _trust(folder, as_json)


def _trust(folder: Path, as_json: bool) -> None:
    from codeplan.errors import UsageError
    from codeplan.runner import trusted_folders
    from codeplan.runner.settings_file import describe_settings, read_settings_file

    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; name the folder of a settings file")
    file = read_settings_file(folder)
    if file is None:
        raise UsageError(f"there is no codeplan.toml in {folder}, and no [tool.codeplan] in a pyproject.toml there")
    path = trusted_folders.real_path(file.path)
    trusted_folders.trust(file.path, file.sha256)
    shown = describe_settings(file.settings)
    document = {"trusted": path, "sha256": file.sha256, "settings": shown}
    options.print_output(document, as_json, lambda: _describe(path, shown))


def _describe(path: str, settings: dict[str, str]) -> list[str]:
    if not settings:
        return [f"{_shown(path)} is trusted; it sets nothing."]
    lines = [f"  {name} = {value}" for name, value in settings.items()]
    return [f"{_shown(path)} is trusted until it changes. It sets:", *lines]


def _forget(folder: Path, as_json: bool) -> None:
    from codeplan.errors import UsageError
    from codeplan.runner import trusted_folders

    gone = trusted_folders.forget(folder)
    if not gone:
        raise UsageError(f"no settings file in {folder} is trusted; codeplan trust --list names those that are")
    options.print_output(
        {"forgotten": list(gone)}, as_json, lambda: [f"{_shown(path)} is trusted no longer." for path in gone]
    )


def _print_list(as_json: bool) -> None:
    from codeplan.runner import trusted_folders

    listed = [{"path": entry.path, "state": _state(entry)} for entry in trusted_folders.trusted_files()]
    options.print_output(listed, as_json, lambda: _list_lines(listed))


def _list_lines(listed: list[dict[str, Any]]) -> list[str]:
    if not listed:
        return ["No settings file is trusted."]
    return [f"{entry['state']:8} {_shown(entry['path'])}" for entry in listed]


def _state(entry: TrustedFile) -> str:
    """Whether the file is as it was when the user trusted it: "trusted", "changed" or "missing"."""
    from codeplan.runner.settings_file import MAX_SETTINGS_BYTES
    from codeplan.untrusted import files

    try:
        content = files.read_bytes(entry.path, MAX_SETTINGS_BYTES)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "changed"
    return "trusted" if hashlib.sha256(content).hexdigest() == entry.sha256 else "changed"


def _shown(path: str) -> str:
    from codeplan.untrusted.terminal import one_line

    return one_line(path, 1000)
