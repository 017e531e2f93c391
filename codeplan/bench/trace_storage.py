"""Copies traces through a shared storage, for machines without a shared folder: any address that fsspec supports."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from codeplan.errors import InfrastructureError, UsageError
from codeplan.untrusted.folders import find_files
from codeplan.untrusted.values import value_text

_MAX_DEPTH = 4


def upload_folder(folder: Path, address: str, run: str) -> None:
    """Copy an episode's folder to ``address/run``. Raises: InfrastructureError if the storage fails."""
    files, root = _open_file_system(address)
    _with_storage_errors("written to", address, lambda: _upload_files(files, folder, f"{root}/{run}"))


def download_folder(address: str, run: str, folder: Path) -> None:
    """Copy ``address/run`` to an episode's folder. Raises: InfrastructureError if the storage fails."""
    files, root = _open_file_system(address)
    folder.mkdir(parents=True, exist_ok=True)
    _with_storage_errors("read from", address, lambda: files.get(f"{root}/{run}/", f"{folder}/", recursive=True))


def _upload_files(files: Any, folder: Path, place: str) -> None:
    for file in find_files(folder, None, _MAX_DEPTH):
        there = f"{place}/{file.relative_to(folder).as_posix()}"
        files.makedirs(there.rpartition("/")[0], exist_ok=True)
        files.put_file(str(file), there)


def _with_storage_errors(what: str, address: str, do: Any) -> None:
    try:
        do()
    except Exception as e:  # each storage has its own exceptions
        raise InfrastructureError(f"traces cannot be {what} the storage {address}: {value_text(e, 500)}") from e


def _open_file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it. Raises: UsageError for an unknown address."""
    try:
        fsspec: Any = import_module("fsspec")
    except ImportError:
        raise UsageError("--storage needs fsspec: pip install fsspec (and s3fs for s3://, gcsfs for gs://)") from None
    try:
        files, root = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as e:
        raise UsageError(f"the storage {address} cannot be used: {e}") from None
    return files, root.rstrip("/")
