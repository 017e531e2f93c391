"""Converts the answer of a server's tool to data for the plan. Images and other bytes become files beside the trace."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from codeplan.errors import AgentError, EnvironmentFailure
from codeplan.untrusted import files
from codeplan.untrusted.texts import one_line

if TYPE_CHECKING:
    from mcp_types import CallToolResult

FOLDER_NAME: Final = "files"
"""The folder beside the trace."""

MAX_FILES: Final = 1_000
"""Maximum number of files of one episode."""

MAX_FILES_BYTES: Final = 256 << 20
"""Maximum size of all files of one episode, in bytes."""

MAX_ERROR_CHARS: Final = 2_000
"""Maximum length of a failed call's message for a plan, in characters."""

NO_WORDS: Final = "it does not say why"
"""The words for a failure about which a server says nothing."""

_MAX_TYPE_CHARS: Final = 80
_MAX_URI_CHARS: Final = 2_000
_SUFFIXES: Final = {
    "application/json": "json",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/html": "html",
    "text/plain": "txt",
}


class FileStore:
    """Keeps the files that tools return, each under a name made of its content. Without a folder it keeps none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._names: set[str] = set()
        self._bytes = 0

    def add(self, data: bytes, mime_type: str) -> str | None:
        """The path of the new file; None if none is kept. Raises: AgentError: there are too many, or too large ones."""
        if self._folder is None:
            return None
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.{_SUFFIXES.get(mime_type, 'bin')}"
        path = self._folder / FOLDER_NAME / name
        if name not in self._names:
            self._require_room(len(data))
            self._write(self._folder, path, data)
            self._names.add(name)
            self._bytes += len(data)
        return str(path.absolute())

    def _write(self, folder: Path, path: Path, data: bytes) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files.create_folder(path.parent, below=folder)
            files.write_atomically(path, data, below=folder)
        except OSError as error:
            raise EnvironmentFailure(f"a tool's file cannot be kept in {path.parent}: {error.strerror}") from None

    def _require_room(self, size: int) -> None:
        if len(self._names) >= MAX_FILES or self._bytes + size > MAX_FILES_BYTES:
            raise AgentError(
                f"the tools of this episode returned more than {MAX_FILES:,} files or {MAX_FILES_BYTES >> 20} MiB"
            )


def read_result(tool: str, result: CallToolResult, *, wrapper: str | None, store: FileStore) -> Any:
    """The structured content, else the text, else a dict of the text and the files.

    ``wrapper`` is that of the tool's signature.

    Raises: AgentError: the tool failed; with its words.
    """
    if result.is_error:
        words = _text(result).strip() or _structured_words(result) or NO_WORDS
        raise AgentError(f"{tool} failed: {_bounded(words)}")
    structured: Any = result.structured_content
    if structured is not None and (wrapper is not None or not result.content):
        wrapped = isinstance(structured, dict) and structured.keys() == {wrapper}
        return structured[wrapper] if wrapped else structured
    if all(block.type == "text" for block in result.content):
        return _text(result)
    found = [_file(tool, block, store) for block in result.content if block.type != "text"]
    return {"text": _text(result), "files": found}


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def _structured_words(result: CallToolResult) -> str:
    """The structured content of a failure as JSON; empty if there is none."""
    return json.dumps(result.structured_content, ensure_ascii=False) if result.structured_content else ""


def _bounded(words: str) -> str:
    return words if len(words) <= MAX_ERROR_CHARS else words[:MAX_ERROR_CHARS] + "…"


def _file(tool: str, block: Any, store: FileStore) -> dict[str, Any]:
    """An image, a sound or a resource as a dict; keys without a value are left out."""
    if block.type in ("image", "audio"):
        return _stored(tool, block.data, block.mime_type, store)
    if block.type == "resource":
        resource = block.resource
        kind = resource.mime_type or ""
        content = (
            {"text": resource.text, "mime_type": _short(kind)}
            if hasattr(resource, "text")
            else _stored(tool, resource.blob, kind, store)
        )
        return {"uri": _uri(resource.uri), **content}
    if block.type == "resource_link":
        return {"uri": _uri(block.uri), "name": one_line(block.name), "mime_type": _short(block.mime_type or "")}
    return {"mime_type": _short(block.type)}


def _stored(tool: str, data: str, mime_type: str, store: FileStore) -> dict[str, Any]:
    try:
        content = _decode(data)
    except (binascii.Error, ValueError):
        raise AgentError(f"{tool} returned a file that is not encoded in base64") from None
    path = store.add(content, mime_type)
    return {"mime_type": _short(mime_type), "bytes": len(content), **({"path": path} if path else {})}


def _decode(data: str) -> bytes:
    """The bytes of base64 as servers write it: in lines, as a data URL, in the alphabet for URLs, or without its end.

    Raises: ValueError: it is none.
    """
    head, comma, rest = data.partition(",") if data.startswith("data:") else ("", "", data)
    plain = "".join((rest if comma or not head else data).split()).replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _short(mime_type: str) -> str:
    return one_line(mime_type, _MAX_TYPE_CHARS)


def _uri(uri: object) -> str:
    return one_line(f"{uri}", _MAX_URI_CHARS)
