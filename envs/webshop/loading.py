"""Opening a shop: the catalogue that comes with codeplan, or the user's files, made into a database once."""

from __future__ import annotations

import fcntl
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

from codeplan.envs.webshop import catalogue, data_files, tantivy_index
from codeplan.envs.webshop.catalogue import Catalogue, CatalogueEntry, ShoppingInstruction
from codeplan.envs.webshop.products import is_on_sale, parse_product
from codeplan.envs.webshop.search import SearchIndex, SqliteIndex
from codeplan.errors import UsageError

SearchEngine = Literal["fts5", "tantivy"]

EMBEDDED_CATALOGUE = Path(__file__).parent / "catalogue.jsonl"
"""The catalogue that comes with codeplan: a line is a ``Listed`` as JSON."""

_DATABASE, _TEXTS = "catalogue.sqlite", "texts"
_FORM = 1
"""Counts up when databases that were made before must not be read any more."""

_FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"


class ShopData(NamedTuple):
    """A catalogue and the index that searches it."""

    catalogue: Catalogue
    text_index: SearchIndex


@cache
def load_embedded_shop() -> ShopData:
    """The shop that comes with codeplan, made in memory once in a process and shared."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    with EMBEDDED_CATALOGUE.open("rb") as lines:
        catalogue.build_catalogue(database, (msgspec.json.decode(line, type=CatalogueEntry) for line in lines))
    goods = Catalogue(database)
    return ShopData(goods, SqliteIndex(goods))


def open_shop(
    data: str, folder: str | None = None, products: int | None = None, engine: SearchEngine = "fts5"
) -> ShopData:
    """The shop of the user's files in ``data``, of their first ``products`` where that is given.

    What is made of them stands in ``folder``, or in ``data`` in a folder of its own, and is made anew when a file has
    changed. Raises UsageError where a file is missing or not as it should be, or the folder cannot be written.
    """
    found = data_files.find_files(data, products)
    place = Path(folder).expanduser() if folder else found.items.parent / "codeplan-index"
    return _kept(found, place.absolute(), products, engine, _stamp(found, products, engine))


@cache
def _kept(
    found: data_files.WebShopFiles, place: Path, products: int | None, engine: SearchEngine, stamp: str
) -> ShopData:
    folder = place / f"webshop-{stamp}"
    if not folder.is_dir():
        _make(folder, found, products, engine)
    goods = Catalogue.open(folder / _DATABASE)
    if engine == "tantivy":
        return ShopData(goods, tantivy_index.TantivyIndex(folder / _TEXTS))
    return ShopData(goods, SqliteIndex(goods))


def _stamp(found: data_files.WebShopFiles, products: int | None, engine: SearchEngine) -> str:
    """Changes when a file changes, or what is made of it."""
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in found]
    return hashlib.sha256(repr((_FORM, products, engine, facts)).encode()).hexdigest()[:12]


# ------------------------------------------------------------------ making the database


def _make(folder: Path, found: data_files.WebShopFiles, products: int | None, engine: SearchEngine) -> None:
    """Make what is to stand in ``folder``: all of it, or nothing; one process at a time."""
    part = folder.with_suffix(".part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.is_dir():
                return
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            _fill(part, found, products, engine)
            os.replace(part, folder)
    except (OSError, sqlite3.Error) as e:
        why = getattr(e, "strerror", None) or e
        raise UsageError(
            f"the shop's index cannot be written to {folder.parent} ({why}); name a folder by index"
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fill(part: Path, found: data_files.WebShopFiles, products: int | None, engine: SearchEngine) -> None:
    with closing(sqlite3.connect(part / _DATABASE)) as database:
        database.executescript(_FAST)
        catalogue.build_catalogue(database, _listed(found, products), with_text_index=engine == "fts5")
    if engine == "tantivy":
        (part / _TEXTS).mkdir()
        tantivy_index.build_tantivy_index(part / _TEXTS, Catalogue.open(part / _DATABASE).index_texts())


def _listed(found: data_files.WebShopFiles, products: int | None) -> Iterator[CatalogueEntry]:
    """The products of the files, with what is known of each and what people asked for."""
    asked = dict(data_files.read_object(found.instructions))
    with closing(sqlite3.connect("")) as known:  # a file of its own that SQLite deletes: there are a million of them
        known.executescript(_FAST + "CREATE TABLE known(asin TEXT PRIMARY KEY, facts TEXT) WITHOUT ROWID")
        rows = ((asin, json.dumps(facts)) for asin, facts in data_files.read_object(found.attributes))
        known.executemany("INSERT OR REPLACE INTO known VALUES (?, ?)", rows)
        for record in islice(data_files.read_list(found.items), products):
            if isinstance(record, dict) and is_on_sale(record):
                row = known.execute("SELECT facts FROM known WHERE asin = ?", (record["asin"],)).fetchone()
                yield _with_wishes(record, json.loads(row[0]) if row else {}, asked.get(record["asin"]))


def _with_wishes(record: dict[str, Any], facts: Any, asked: Any) -> CatalogueEntry:
    facts = facts if isinstance(facts, dict) else {}
    attributes = facts.get("attributes")
    wishes = (_instruction(each, "instruction_options") for each in (asked if isinstance(asked, list) else []))
    return CatalogueEntry(
        product=parse_product(record, attributes if isinstance(attributes, list) else None),
        instructions=tuple(wish for wish in wishes if wish is not None),
        synthetic=_instruction(facts, ""),
    )


def _instruction(told: Any, options: str) -> ShoppingInstruction | None:
    """The instruction in a record of either file; None where it lacks the sentence, or attributes."""
    if not isinstance(told, dict) or not isinstance(told.get("instruction"), str):
        return None
    attributes, values = told.get("instruction_attributes"), told.get(options, [])
    if not isinstance(attributes, list) or not attributes or not isinstance(values, list):
        return None
    return ShoppingInstruction(told["instruction"], tuple(map(str, attributes)), tuple(map(str, values)))
