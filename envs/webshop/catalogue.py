"""The catalogue: products, goal templates and the full-text index, in one SQLite database; and searching it."""

from __future__ import annotations

import importlib
import random
import re
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from codeplan.envs.webshop import goals
from codeplan.envs.webshop.goals import GoalTemplate, Product
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.types import Value

GoalSource = Literal["human", "synthetic"]
"""Goals that people wrote, or a sentence combined with every choice of options."""

_TABLES = """
CREATE TABLE products(id INTEGER PRIMARY KEY, asin TEXT UNIQUE, category TEXT, query TEXT, product BLOB);
CREATE TABLE attributes(attribute TEXT, id INTEGER);
CREATE TABLE human(number INTEGER PRIMARY KEY, id INTEGER, nth INTEGER, instruction BLOB);
CREATE TABLE synthetic(number INTEGER PRIMARY KEY, id INTEGER, count INTEGER, instruction BLOB);
"""
_TEXT_INDEX = "CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='porter unicode61');"
_INDEXES = """
CREATE INDEX by_category ON products(category);
CREATE INDEX by_query ON products(query);
CREATE INDEX by_attribute ON attributes(attribute, id);
"""
_MAX_CACHED_PRODUCTS = 256

_encode = msgspec.msgpack.encode


class CatalogueEntry(Value, frozen=True):
    """A product with the instructions that people wrote for it, and the base of its synthetic goals, if it has one."""

    product: Product
    instructions: tuple[ShoppingInstruction, ...] = ()
    synthetic: ShoppingInstruction | None = None


class ShoppingInstruction(Value, frozen=True):
    """A sentence that asks for a product, and the attributes and option values that it stands for."""

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()


def build_catalogue(
    database: sqlite3.Connection, entries: Iterable[CatalogueEntry], *, with_text_index: bool = True
) -> None:
    """Write a catalogue into an empty database. If an ASIN repeats, only its first product counts."""
    database.executescript(_TABLES + (_TEXT_INDEX if with_text_index else ""))
    id, synthetic = 1, 0
    for entry in entries:
        if not _add_product(database, id, entry.product):
            continue
        if with_text_index:
            database.execute("INSERT INTO texts(rowid, text) VALUES (?, ?)", (id, entry.product.index_text))
        _add_instructions(database, id, entry.instructions)
        if entry.synthetic is not None and (count := goals.count_option_combinations(entry.product)):
            row = (synthetic, id, count, _encode(entry.synthetic))
            database.execute("INSERT INTO synthetic VALUES (?, ?, ?, ?)", row)
            synthetic += count
        id += 1
    database.executescript(_INDEXES)
    database.commit()


def _add_product(database: sqlite3.Connection, id: int, product: Product) -> bool:
    """Add a product and return true, unless its ASIN is known."""
    row = (id, product.asin, product.category, product.query, _encode(product))
    if not database.execute("INSERT OR IGNORE INTO products VALUES (?, ?, ?, ?, ?)", row).rowcount:
        return False
    database.executemany("INSERT INTO attributes VALUES (?, ?)", ((a, id) for a in dict.fromkeys(product.attributes)))
    return True


def _add_instructions(database: sqlite3.Connection, id: int, instructions: Sequence[ShoppingInstruction]) -> None:
    rows = ((id, nth, _encode(each)) for nth, each in enumerate(instructions) if each.attributes)
    database.executemany("INSERT INTO human(id, nth, instruction) VALUES (?, ?, ?)", rows)


class Catalogue:
    """A read-only catalogue, safe to use from several threads. Products are numbered from 1.

    Methods raise EnvironmentFailure if the database is damaged.
    """

    def __init__(self, database: sqlite3.Connection, folder: Path | None = None) -> None:
        """``folder`` holds the database, None if it is in memory."""
        self._database, self._lock, self._folder = database, threading.Lock(), folder
        self._cached: OrderedDict[int, Product] = OrderedDict()
        weakref.finalize(self, database.close)
        self.size: int = self._rows("SELECT coalesce(max(id), 0) FROM products")[0][0]

    @classmethod
    def open(cls, file: Path) -> Catalogue:
        """Open a catalogue's file."""
        uri = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            database = sqlite3.connect(uri, uri=True, check_same_thread=False)
        except sqlite3.Error as e:
            raise damaged_catalogue_error(file.parent, e) from e
        return cls(database, file.parent)

    # -------------------------------------------------------------- products

    def product(self, id: int) -> Product:
        """The product of an existing number."""
        known = self._cached.get(id)
        if known is None:
            (known,) = self._row(Product, "SELECT product FROM products WHERE id = ?", id)
            with self._lock:
                self._cached[id] = known
                if len(self._cached) > _MAX_CACHED_PRODUCTS:
                    self._cached.popitem(last=False)
        return known

    def number_of(self, asin: str) -> int | None:
        """The number of the product with an ASIN; None if there is none."""
        rows = self._rows("SELECT id FROM products WHERE asin = ?", asin)
        return rows[0][0] if rows else None

    def products_with_attribute(self, attribute: str) -> tuple[int, ...]:
        """The numbers of all products with an attribute."""
        return self._numbers("SELECT id FROM attributes WHERE attribute = ? ORDER BY id", attribute)

    def products_in(self, column: Literal["category", "query"], name: str) -> tuple[int, ...]:
        """The numbers of all products in a category, or under a query."""
        return self._numbers(f"SELECT id FROM products WHERE {column} = ? ORDER BY id", name)

    def match_text(self, expression: str, limit: int) -> tuple[int, ...]:
        """The numbers of the products that match an FTS5 expression, best match first."""
        ranked = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid LIMIT ?"
        return self._numbers(ranked, expression, limit)

    def index_texts(self) -> Iterator[tuple[int, str]]:
        """Each product's number and searchable text."""
        for id in range(1, self.size + 1):
            yield id, self.product(id).index_text

    # -------------------------------------------------------------- goal templates

    def count_goal_templates(self, source: GoalSource) -> int:
        """The number of goal templates from a source."""
        count = "coalesce(max(number), 0)" if source == "human" else "coalesce(sum(count), 0)"
        return int(self._rows(f"SELECT {count} FROM {source}")[0][0])

    def goal_template(self, source: GoalSource, number: int) -> GoalTemplate:
        """The goal template of an existing number, counted from 0."""
        if source == "human":
            row = "SELECT id, nth, instruction FROM human WHERE number = ?"
            id, nth, asked = self._row(ShoppingInstruction, row, number + 1)
            return GoalTemplate(id, nth, goals.trim_instruction(asked.text), asked.attributes, asked.options)
        row = "SELECT number, id, instruction FROM synthetic WHERE number <= ? ORDER BY number DESC LIMIT 1"
        start, id, asked = self._row(ShoppingInstruction, row, number)
        return goals.synthetic_goal_template(id, self.product(id), asked.text, asked.attributes, number - start)

    # -------------------------------------------------------------- reading

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        try:
            with self._lock:
                return self._database.execute(sql, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as e:
            raise damaged_catalogue_error(self._folder, e) from e

    def _row(self, type: type[Value], sql: str, *values: Any) -> list[Any]:
        """The first row, which must exist; its last column is decoded as ``type``."""
        rows = self._rows(sql, *values)
        try:
            *others, packed = rows[0]
            return [*others, msgspec.msgpack.decode(packed, type=type)]
        except (IndexError, TypeError, UnicodeDecodeError, msgspec.DecodeError) as e:
            raise damaged_catalogue_error(self._folder, e) from e

    def _numbers(self, sql: str, *values: Any) -> tuple[int, ...]:
        return tuple(row[0] for row in self._rows(sql, *values))


def damaged_catalogue_error(folder: Path | None, cause: Exception) -> EnvironmentFailure:
    """The failure to raise if the files in a folder are damaged."""
    return EnvironmentFailure(f"the shop in {folder or 'memory'} cannot be read ({cause}); delete it to rebuild it")


MAX_RESULTS = 50
MAX_QUERY_WORDS = 1024
"""Maximum number of distinct words of a query. Lucene, which WebShop uses, has the same limit."""

_WORD = re.compile(r"[^\W_]+")
_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with"
)
_STOP_WORDS = frozenset(_WORDS.split())
"""Lucene's English stop words."""


class SearchIndex(Protocol):
    """Finds products by words."""

    def find_best(self, words: Sequence[str], limit: int) -> tuple[int, ...]:
        """The numbers of the products that contain any of the words, best match first."""
        ...


def find_products(catalogue: Catalogue, index: SearchIndex, query: str, random_seed: str) -> tuple[int, ...]:
    """The numbers of the products that a query finds, in display order.

    If the first word is ``<r>``, the result is random products; ``<a>`` finds an attribute, ``<c>`` a category, ``<q>``
    a product's query. The latter three return all products that match.
    """
    first, _, rest = query.strip().partition(" ")
    rest = rest.strip()
    if first == "<r>":
        size = catalogue.size
        return tuple(random.Random(random_seed).sample(range(1, size + 1), min(MAX_RESULTS, size)))
    if first == "<a>":
        return catalogue.products_with_attribute(rest)
    if first == "<c>":
        return catalogue.products_in("category", rest.split(" ")[0])
    if first == "<q>":
        return catalogue.products_in("query", rest)
    words = query_words(query)
    return index.find_best(words, MAX_RESULTS) if words else ()


def query_words(query: str) -> list[str]:
    """The distinct words of a query, in lower case, without stop words."""
    found = (word.lower() for word in _WORD.findall(query))
    return [word for word in dict.fromkeys(found) if word not in _STOP_WORDS][:MAX_QUERY_WORDS]


class SqliteIndex:
    """The index in the catalogue's own file: SQLite's FTS5 with Porter stems. Ties keep the catalogue's order."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def find_best(self, words: Sequence[str], limit: int) -> tuple[int, ...]:
        return self._catalogue.match_text(" OR ".join(f'"{word}"' for word in words), limit)


_HEAP_BYTES = 128_000_000


class TantivyIndex:
    """A SearchIndex in a folder: Snowball stems, BM25. Ties keep the catalogue's order."""

    def __init__(self, folder: Path) -> None:
        """Raises: UsageError if tantivy is missing, EnvironmentFailure if the folder holds no index."""
        tantivy = _import_tantivy()
        try:
            self._index = tantivy.Index.open(str(folder))
            self._searcher = self._index.searcher()
        except ValueError as e:
            raise damaged_catalogue_error(folder.parent, e) from e

    def find_best(self, words: Sequence[str], limit: int) -> tuple[int, ...]:
        query, _ = self._index.parse_query_lenient(" ".join(f'"{word}"' for word in words), ["text"])
        hits = self._searcher.search(query, limit, count=False).hits
        numbered = [(-score, self._searcher.doc(address)["id"][0]) for score, address in hits]
        return tuple(id for _, id in sorted(numbered))


def build_tantivy_index(folder: Path, texts: Iterable[tuple[int, str]]) -> None:
    """Write an index of numbered texts into an empty folder. Raises: UsageError if tantivy is missing."""
    tantivy = _import_tantivy()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=False, tokenizer_name="en_stem", index_option="freq")
    schema.add_unsigned_field("id", stored=True, indexed=False)
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)
    for id, text in texts:
        writer.add_document(tantivy.Document(id=id, text=text))
    writer.commit()
    writer.wait_merging_threads()


def _import_tantivy() -> Any:
    try:
        return importlib.import_module("tantivy")
    except ImportError:
        raise UsageError(
            "search='tantivy' needs its package: pip install 'codeplan[tantivy]'; or leave it out"
        ) from None
