"""Opens a shop: codeplan's own catalogue, or a database built once from WebShop's own files.

The full list of products is 5 GB of JSON and never fits in memory: it is streamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import msgspec

from codeplan.durable_files import wait_for_lock
from codeplan.envs.webshop.catalogue import (
    Catalogue,
    CatalogueEntry,
    SearchIndex,
    ShoppingInstruction,
    SqliteIndex,
    TantivyIndex,
    build_catalogue,
    build_tantivy_index,
)
from codeplan.envs.webshop.goals import is_on_sale, parse_product
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


SearchEngine = Literal["fts5", "tantivy"]


# ------------------------------------------------------------------ the shop

EMBEDDED_CATALOGUE = Path(__file__).parent / "catalogue.jsonl"
"""codeplan's own catalogue: one ``CatalogueEntry`` per line, as JSON."""

_DATABASE, _TEXT_INDEX = "catalogue.sqlite", "texts"
_FORMAT = 2
"""The version of the database. Older databases are not read."""

_FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"


class ShopData(NamedTuple):
    """A catalogue and the index that searches it."""

    catalogue: Catalogue
    text_index: SearchIndex


@cache
def load_embedded_shop() -> ShopData:
    """Build codeplan's own shop in memory, once per process."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    with EMBEDDED_CATALOGUE.open("rb") as lines:
        build_catalogue(database, (msgspec.json.decode(line, type=CatalogueEntry) for line in lines))
    catalogue = Catalogue(database)
    return ShopData(catalogue, SqliteIndex(catalogue))


def open_shop(
    data: str, folder: str | None = None, products: int | None = None, engine: SearchEngine = "fts5"
) -> ShopData:
    """Open the shop of the files in ``data``, limited to their first ``products`` if given.

    The database goes into ``folder``, by default into a folder within ``data``. It is rebuilt when a file changes.

    Raises: UsageError if a file is missing or malformed, or the folder is not writable.
    """
    files = find_files(data, products)
    parent = Path(folder).expanduser() if folder else files.items.parent / "codeplan-index"
    return _open_database(files, parent.absolute(), products, engine, _fingerprint(files, products, engine))


@cache
def _open_database(
    files: WebShopFiles, parent: Path, products: int | None, engine: SearchEngine, fingerprint: str
) -> ShopData:
    folder = parent / f"webshop-{fingerprint}"
    if not folder.is_dir():
        _build_folder(folder, files, products, engine)
    catalogue = Catalogue.open(folder / _DATABASE)
    if engine == "tantivy":
        return ShopData(catalogue, TantivyIndex(folder / _TEXT_INDEX))
    return ShopData(catalogue, SqliteIndex(catalogue))


def _fingerprint(files: WebShopFiles, products: int | None, engine: SearchEngine) -> str:
    """A digest of the files and of the settings that the database depends on."""
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr((_FORMAT, products, engine, facts)).encode()).hexdigest()[:12]


# ------------------------------------------------------------------ building the database


def _build_folder(folder: Path, files: WebShopFiles, products: int | None, engine: SearchEngine) -> None:
    """Build the folder atomically. A lock keeps other processes from building it at the same time."""
    part = folder.with_suffix(".part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / "lock").open("wb") as lock:
            wait_for_lock(lock)
            if folder.is_dir():
                return
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            _build_database(part, files, products, engine)
            os.replace(part, folder)
    except (OSError, sqlite3.Error) as e:
        cause = getattr(e, "strerror", None) or e
        raise UsageError(
            f"the shop's index cannot be written to {folder.parent} ({cause}); name a folder by index"
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _build_database(part: Path, files: WebShopFiles, products: int | None, engine: SearchEngine) -> None:
    with closing(sqlite3.connect(part / _DATABASE)) as database:
        database.executescript(_FAST)
        build_catalogue(database, _read_entries(files, products), with_text_index=engine == "fts5")
    if engine == "tantivy":
        (part / _TEXT_INDEX).mkdir()
        build_tantivy_index(part / _TEXT_INDEX, Catalogue.open(part / _DATABASE).index_texts())


def _read_entries(files: WebShopFiles, products: int | None) -> Iterator[CatalogueEntry]:
    """Join the three files, product by product."""
    asked = dict(read_object(files.instructions))
    with closing(sqlite3.connect("")) as known:  # a temporary file: the attributes of a million products
        known.executescript(_FAST + "CREATE TABLE known(asin TEXT PRIMARY KEY, facts TEXT) WITHOUT ROWID")
        rows = ((asin, json.dumps(facts)) for asin, facts in read_object(files.attributes))
        known.executemany("INSERT OR REPLACE INTO known VALUES (?, ?)", rows)
        for record in islice(read_list(files.items), products):
            if isinstance(record, dict) and is_on_sale(record):
                row = known.execute("SELECT facts FROM known WHERE asin = ?", (record["asin"],)).fetchone()
                yield _make_entry(record, json.loads(row[0]) if row else {}, asked.get(record["asin"]))


def _make_entry(record: dict[str, Any], facts: Any, asked: Any) -> CatalogueEntry:
    facts = facts if isinstance(facts, dict) else {}
    attributes = facts.get("attributes")
    found = (_parse_instruction(each, "instruction_options") for each in (asked if isinstance(asked, list) else []))
    return CatalogueEntry(
        product=parse_product(record, attributes if isinstance(attributes, list) else None),
        instructions=tuple(instruction for instruction in found if instruction is not None),
        synthetic=_parse_instruction(facts, ""),
    )


def _parse_instruction(record: Any, options: str) -> ShoppingInstruction | None:
    """The instruction in a record of either file; None if it has no sentence or no attributes."""
    if not isinstance(record, dict) or not isinstance(record.get("instruction"), str):
        return None
    attributes, values = record.get("instruction_attributes"), record.get(options, [])
    if not isinstance(attributes, list) or not attributes or not isinstance(values, list):
        return None
    return ShoppingInstruction(record["instruction"], tuple(map(str, attributes)), tuple(map(str, values)))
