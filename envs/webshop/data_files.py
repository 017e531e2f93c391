"""WebShop's own files, read piece by piece: the full list of products is 5 GB of JSON, and never in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from codeplan.errors import UsageError

CHUNK_SIZE = 1 << 20
"""How many characters are read at once."""

_LONGEST = 1 << 25
_SPACE = " \t\n\r"
_IN_NUMBERS = "0123456789.eE+-"
_HALF_ESCAPED = "\\ud"
"""How JSON may write one half of a character beyond the first 65,536, which is no text without the other half."""
_NAMES = {
    "items": ("items_shuffle.json", "items_shuffle_1000.json"),
    "attributes": ("items_ins_v2.json", "items_ins_v2_1000.json"),
    "instructions": ("items_human_ins.json",),
}


class WebShopFiles(NamedTuple):
    """Where the three files are: the products, what is known of them, and what people asked for."""

    items: Path
    attributes: Path
    instructions: Path


def find_files(folder: str, products: int | None = None) -> WebShopFiles:
    """The files of a folder: those of the full set, or of 1,000 products where there are no others.

    For 1,000 ``products`` or fewer the small files are taken where they are there; they are the first thousand.
    Raises UsageError where the folder or a file is missing.
    """
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}; data names the folder of WebShop's files")
    small_first = products is not None and products <= 1000
    return WebShopFiles(*(_one_of(root, names[::-1] if small_first else names) for names in _NAMES.values()))


def _one_of(root: Path, names: tuple[str, ...]) -> Path:
    found = next((root / name for name in names if (root / name).is_file()), None)
    if found is None:
        raise UsageError(f"the folder {root} lacks {' or '.join(sorted(names))}; it is one of WebShop's three files")
    return found


def read_list(file: Path, chunk_size: int = CHUNK_SIZE) -> Iterator[Any]:
    """The values of a file that is one JSON list, one after the other. Raises UsageError where it is something else."""
    with _opened(file, chunk_size) as reader:
        reader.expect("[")
        while not reader.ends_with("]"):
            yield reader.value()
            reader.separate("]")


def read_object(file: Path, chunk_size: int = CHUNK_SIZE) -> Iterator[tuple[str, Any]]:
    """The names and values of a file that is one JSON object. Raises UsageError where it is something else."""
    with _opened(file, chunk_size) as reader:
        reader.expect("{")
        while not reader.ends_with("}"):
            name = reader.value()
            reader.expect(":")
            yield name, reader.value()
            reader.separate("}")


# ------------------------------------------------------------------ reading JSON by pieces


def _opened(file: Path, piece: int) -> _Reader:
    try:
        return _Reader(file, file.open(encoding="utf-8"), piece)
    except OSError as e:
        raise UsageError(f"{file} cannot be read: {e.strerror}") from None


class _Reader:
    """A JSON text of which no more is in memory than a piece, or one value where that is longer."""

    def __init__(self, file: Path, source: IO[str], piece: int) -> None:
        self._file, self._source, self._piece = file, source, piece
        self._text, self._at, self._before = "", 0, 0
        self._decode = json.JSONDecoder().raw_decode

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    def value(self) -> Any:
        """The next value."""
        self._next()
        size = self._piece
        while True:
            found, end = self._tried()
            cut_off = end < 0 or end == len(self._text) or self._text[end] in _IN_NUMBERS
            if not cut_off or size > _LONGEST or not self._more(size):
                break
            size *= 2
        if end < 0:
            raise self._broken("no JSON")
        start, self._at = self._at, end
        return _whole(found) if _HALF_ESCAPED in self._text[start:end].lower() else found

    def _tried(self) -> tuple[Any, int]:
        """The value that begins here, and where it ends; -1 where it is cut off, or none."""
        try:
            return self._decode(self._text, self._at)
        except (ValueError, RecursionError):
            return None, -1

    def expect(self, sign: str) -> None:
        """Pass the next sign, which must be this one."""
        if self._next() != sign:
            raise self._broken(f"{sign!r} is missing")
        self._at += 1

    def ends_with(self, sign: str) -> bool:
        """Whether the next sign is this one."""
        return self._next() == sign

    def separate(self, end: str) -> None:
        """Pass the comma between two values; none is there before the end."""
        if self._next() != end:
            self.expect(",")
            if self._next() == end:
                raise self._broken("a value is missing after the comma")

    def _next(self) -> str:
        """The next sign that is no white space; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._more(self._piece):
                return self._text[self._at : self._at + 1]

    def _more(self, size: int) -> bool:
        try:
            piece = self._source.read(size)
        except UnicodeDecodeError:
            raise self._broken("no UTF-8") from None
        if piece:
            self._before += self._at
            self._text, self._at = self._text[self._at :] + piece, 0
        return bool(piece)

    def _broken(self, what: str) -> UsageError:
        return UsageError(
            f"{self._file} is not as WebShop's file should be: {what} at character {self._before + self._at}"
        )


def _whole(value: Any) -> Any:
    """The value with a question mark for every half of a character in its texts."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
