"""Opens a shop: codeplan's own catalogue, or a database built once from the user's files."""

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
from typing import Any, Literal, NamedTuple

import msgspec

from codeplan.envs.webshop import data_files, tantivy_index
from codeplan.envs.webshop.catalogue import Catalogue, CatalogueEntry, ShoppingInstruction, build_catalogue
from codeplan.envs.webshop.data_files import WebShopFiles
from codeplan.envs.webshop.products import is_on_sale, parse_product
from codeplan.envs.webshop.search import SearchIndex, SqliteIndex
from codeplan.errors import UsageError
from codeplan.recording.file_lock import wait_for_lock

SearchEngine = Literal["fts5", "tantivy"]

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
    files = data_files.find_files(data, products)
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
        return ShopData(catalogue, tantivy_index.TantivyIndex(folder / _TEXT_INDEX))
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
        tantivy_index.build_tantivy_index(part / _TEXT_INDEX, Catalogue.open(part / _DATABASE).index_texts())


def _read_entries(files: WebShopFiles, products: int | None) -> Iterator[CatalogueEntry]:
    """Join the three files, product by product."""
    asked = dict(data_files.read_object(files.instructions))
    with closing(sqlite3.connect("")) as known:  # a temporary file: the attributes of a million products
        known.executescript(_FAST + "CREATE TABLE known(asin TEXT PRIMARY KEY, facts TEXT) WITHOUT ROWID")
        rows = ((asin, json.dumps(facts)) for asin, facts in data_files.read_object(files.attributes))
        known.executemany("INSERT OR REPLACE INTO known VALUES (?, ?)", rows)
        for record in islice(data_files.read_list(files.items), products):
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
