"""Streams WebShop's own files. The full list of products is 5 GB of JSON and never fits in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from codeplan.errors import UsageError
from codeplan.untrusted.values import in_quotes

CHUNK_SIZE = 1 << 20
"""Characters per read."""

_MAX_VALUE_CHARACTERS = 1 << 25
_SPACE = " \t\n\r"
_IN_NUMBERS = "0123456789.eE+-"
_SURROGATE_ESCAPE = "\\ud"
"""The start of a JSON escape for a surrogate, which is not valid text unless paired."""
_NAMES = {
    "items": ("items_shuffle.json", "items_shuffle_1000.json"),
    "attributes": ("items_ins_v2.json", "items_ins_v2_1000.json"),
    "instructions": ("items_human_ins.json",),
}


class WebShopFiles(NamedTuple):
    """The paths of WebShop's three files."""

    items: Path
    attributes: Path
    instructions: Path


def find_files(folder: str, products: int | None = None) -> WebShopFiles:
    """Find the files of the full set in a folder, or those of 1,000 products if there are no others.

    For 1,000 ``products`` or fewer the small files are preferred; they hold the first thousand.
    Raises: UsageError if the folder or a file is missing.
    """
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}; data names the folder of WebShop's files")
    small_first = products is not None and products <= 1000
    return WebShopFiles(*(_find_one(root, names[::-1] if small_first else names) for names in _NAMES.values()))


def _find_one(root: Path, names: tuple[str, ...]) -> Path:
    found = next((root / name for name in names if (root / name).is_file()), None)
    if found is None:
        raise UsageError(f"the folder {root} lacks {' or '.join(sorted(names))}, one of WebShop's three files")
    return found


def read_list(file: Path, chunk_size: int = CHUNK_SIZE) -> Iterator[Any]:
    """Yield the values of a file that holds one JSON list. Raises: UsageError if it holds anything else."""
    with _open_reader(file, chunk_size) as reader:
        reader.expect("[")
        while not reader.ends_with("]"):
            yield reader.value()
            reader.separate("]")


def read_object(file: Path, chunk_size: int = CHUNK_SIZE) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a file that holds one JSON object. Raises: UsageError if it holds anything else."""
    with _open_reader(file, chunk_size) as reader:
        reader.expect("{")
        while not reader.ends_with("}"):
            name = reader.value()
            reader.expect(":")
            yield name, reader.value()
            reader.separate("}")


# ------------------------------------------------------------------ streaming JSON


def _open_reader(file: Path, chunk_size: int) -> _Reader:
    try:
        return _Reader(file, file.open(encoding="utf-8"), chunk_size)
    except OSError as e:
        raise UsageError(f"{file} cannot be read: {e.strerror}") from None


class _Reader:
    """Reads JSON with at most one chunk in memory, or one value if that is longer."""

    def __init__(self, file: Path, source: IO[str], chunk_size: int) -> None:
        self._file, self._source, self._chunk_size = file, source, chunk_size
        self._text, self._at, self._before = "", 0, 0
        self._decode = json.JSONDecoder().raw_decode

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    def value(self) -> Any:
        """The next value."""
        self._next()
        size = self._chunk_size
        while True:
            found, end = self._try_decode()
            cut_off = end < 0 or end == len(self._text) or self._text[end] in _IN_NUMBERS
            if not cut_off or size > _MAX_VALUE_CHARACTERS or not self._more(size):
                break
            size *= 2
        if end < 0:
            raise self._malformed("invalid JSON")
        start, self._at = self._at, end
        return _replace_surrogates(found) if _SURROGATE_ESCAPE in self._text[start:end].lower() else found

    def _try_decode(self) -> tuple[Any, int]:
        """The value at the current position and its end; -1 if it is incomplete or invalid."""
        try:
            return self._decode(self._text, self._at)
        except (ValueError, RecursionError):
            return None, -1

    def expect(self, sign: str) -> None:
        """Skip the next character, which must be ``sign``."""
        if self._next() != sign:
            raise self._malformed(f"{in_quotes(sign)} is missing")
        self._at += 1

    def ends_with(self, sign: str) -> bool:
        """Whether the next character is ``sign``."""
        return self._next() == sign

    def separate(self, end: str) -> None:
        """Skip the comma between two values. There is none before ``end``."""
        if self._next() != end:
            self.expect(",")
            if self._next() == end:
                raise self._malformed("a value is missing after the comma")

    def _next(self) -> str:
        """The next character that is not white space; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._more(self._chunk_size):
                return self._text[self._at : self._at + 1]

    def _more(self, size: int) -> bool:
        try:
            chunk = self._source.read(size)
        except UnicodeDecodeError:
            raise self._malformed("invalid UTF-8") from None
        if chunk:
            self._before += self._at
            self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)

    def _malformed(self, what: str) -> UsageError:
        return UsageError(f"{self._file} is not a valid WebShop file: {what} at character {self._before + self._at}")


def _replace_surrogates(value: Any) -> Any:
    """The value with a question mark for every unpaired surrogate."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
