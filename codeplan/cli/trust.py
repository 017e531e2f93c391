"""``codeplan trust``: lets a settings file, or a bench's file, set everything that the user's own configuration may."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from codeplan.cli import options
from codeplan.untrusted.texts import shell_word

if TYPE_CHECKING:
    from codeplan.runner.trusted_folders import TrustedFile

Place = Annotated[
    Path,
    typer.Argument(
        metavar="[FOLDER]", help="The folder of the settings file, or a bench's file. [this folder]", show_default=False
    ),
]
List = Annotated[bool, typer.Option("--list", help="List the trusted files instead.")]
Forget = Annotated[bool, typer.Option("--forget", help="Trust this folder's files, or this file, no longer.")]


class _Candidate(NamedTuple):
    """A file to trust: its path, the SHA-256 of its bytes, and its settings as text."""

    path: Path
    sha256: str
    settings: dict[str, str]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("trust", epilog="Example: codeplan trust .")(trust)


def trust(place: Place = Path(), list_all: List = False, forget: Forget = False, as_json: options.Json = False) -> None:
    """Trust the settings file of a folder, as it is now: codeplan.toml, or [tool.codeplan] in pyproject.toml.

    Until then it cannot choose a model, an endpoint, a key, a file or anything else on this machine. The file of a
    bench (codeplan bench grid.toml) needs the same. The command prints what the file sets. If the file changes, it is
    not trusted until you repeat the command.
    """
    from codeplan.errors import UsageError

    if list_all and forget:
        raise UsageError("--list and --forget exclude each other; give one of them")
    if list_all:
        _print_list(as_json)
    elif forget:
        _forget(place, as_json)
    else:
        _trust(place, as_json)


def _trust(place: Path, as_json: bool) -> None:
    from codeplan.runner import trusted_folders
    from codeplan.runner.settings_file import SETTINGS_FILES

    folder = place.parent if place.name in SETTINGS_FILES else place
    found = _read_folder(folder) if folder.is_dir() else _read_bench(place)
    path = trusted_folders.real_path(found.path)
    trusted_folders.trust(found.path, found.sha256)
    document = {"trusted": path, "sha256": found.sha256, "settings": found.settings}
    options.print_output(document, as_json, lambda: _describe(path, found.settings))


def _read_folder(folder: Path) -> _Candidate:
    from codeplan.errors import UsageError
    from codeplan.runner.settings_file import describe_settings, read_settings_file

    file = read_settings_file(folder)
    if file is None:
        raise UsageError(f"there is no codeplan.toml in {folder}, and no [tool.codeplan] in a pyproject.toml there")
    return _Candidate(file.path, file.sha256, describe_settings(file.settings))


def _read_bench(path: Path) -> _Candidate:
    """The file of a bench, with those of its settings that need trust."""
    from codeplan.bench.bench_spec import read_spec, untrusted_settings
    from codeplan.errors import UsageError
    from codeplan.runner.settings_file import describe_settings

    if not path.is_file():
        raise UsageError(f"there is no folder or file {path}; name the folder of a settings file, or a bench's file")
    digests: list[str] = []

    def accept(sha256: str) -> bool:
        digests.append(sha256)
        return True

    spec = read_spec(path, accept)
    if not digests:
        raise UsageError(
            f"the bench in {path} sets nothing that needs your trust; run it with: codeplan bench {shell_word(path)}"
        )
    return _Candidate(path.resolve(), digests[0], describe_settings(untrusted_settings(spec)))


def _describe(path: str, settings: dict[str, str]) -> list[str]:
    if not settings:
        return [f"{_shown(path)} is trusted; it sets nothing."]
    lines = [f"  {name} = {value}" for name, value in settings.items()]
    return [f"{_shown(path)} is trusted until it changes. It sets:", *lines]


def _forget(place: Path, as_json: bool) -> None:
    from codeplan.errors import UsageError
    from codeplan.runner import trusted_folders

    gone = trusted_folders.forget(place)
    if not gone:
        raise UsageError(f"no file in {place} is trusted; codeplan trust --list names those that are")
    options.print_output(
        {"forgotten": list(gone)}, as_json, lambda: [f"{_shown(path)} is trusted no longer." for path in gone]
    )


def _print_list(as_json: bool) -> None:
    from codeplan.runner import trusted_folders

    listed = [{"path": entry.path, "state": _state(entry)} for entry in trusted_folders.trusted_files()]
    options.print_output(listed, as_json, lambda: _list_lines(listed))


def _list_lines(listed: list[dict[str, Any]]) -> list[str]:
    if not listed:
        return ["No file is trusted."]
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
    from codeplan.untrusted.texts import one_line

    return one_line(path, 1000)
