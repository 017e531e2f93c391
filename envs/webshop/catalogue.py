"""The catalogue: products, what may be asked for, and the index that searches go through, in one SQLite database."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from codeplan.envs.webshop.goals import (
    GoalTemplate,
    count_option_combinations,
    synthetic_goal_template,
    trim_instruction,
)
from codeplan.envs.webshop.products import Product
from codeplan.errors import EnvironmentFailure
from codeplan.types.value import Value

GoalSource = Literal["human", "synthetic"]
"""Whose goals: those that people wrote, or those made of a sentence and every combination of options."""

_TABLES = """
CREATE TABLE products(id INTEGER PRIMARY KEY, asin TEXT UNIQUE, category TEXT, query TEXT, product BLOB);
CREATE TABLE attributes(attribute TEXT, id INTEGER);
CREATE TABLE human(number INTEGER PRIMARY KEY, id INTEGER, nth INTEGER, wish BLOB);
CREATE TABLE synthetic(number INTEGER PRIMARY KEY, id INTEGER, count INTEGER, wish BLOB);
"""
_TEXTS = "CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='porter unicode61');"
_LOOKUPS = """
CREATE INDEX by_category ON products(category);
CREATE INDEX by_query ON products(query);
CREATE INDEX by_attribute ON attributes(attribute, id);
"""
_KEPT_PRODUCTS = 256

_encode = msgspec.msgpack.encode


class CatalogueEntry(Value, frozen=True):
    """A product with what may be asked for: ``instructions`` by people, and the one of the synthetic goals.

    ``synthetic`` is None where there is none.
    """

    product: Product
    instructions: tuple[ShoppingInstruction, ...] = ()
    synthetic: ShoppingInstruction | None = None


class ShoppingInstruction(Value, frozen=True):
    """A sentence that asks for a product, with the attributes and option values that it stands for."""

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()


def build_catalogue(
    database: sqlite3.Connection, entries: Iterable[CatalogueEntry], *, with_text_index: bool = True
) -> None:
    """Write a catalogue into an empty database; ``texts`` says whether the index for words goes in.

    A product whose ASIN has been there before is left out.
    """
    database.executescript(_TABLES + (_TEXTS if with_text_index else ""))
    id, synthetic = 1, 0
    for each in entries:
        if not _add_product(database, id, each.product):
            continue
        if with_text_index:
            database.execute("INSERT INTO texts(rowid, text) VALUES (?, ?)", (id, each.product.index_text))
        _add_wishes(database, id, each.instructions)
        if each.synthetic is not None and (count := count_option_combinations(each.product)):
            row = (synthetic, id, count, _encode(each.synthetic))
            database.execute("INSERT INTO synthetic VALUES (?, ?, ?, ?)", row)
            synthetic += count
        id += 1
    database.executescript(_LOOKUPS)
    database.commit()


def _add_product(database: sqlite3.Connection, id: int, product: Product) -> bool:
    """Whether the product is new, and has been written."""
    row = (id, product.asin, product.category, product.query, _encode(product))
    if not database.execute("INSERT OR IGNORE INTO products VALUES (?, ?, ?, ?, ?)", row).rowcount:
        return False
    database.executemany("INSERT INTO attributes VALUES (?, ?)", ((a, id) for a in dict.fromkeys(product.attributes)))
    return True


def _add_wishes(database: sqlite3.Connection, id: int, instructions: Sequence[ShoppingInstruction]) -> None:
    rows = ((id, nth, _encode(wish)) for nth, wish in enumerate(instructions) if wish.attributes)
    database.executemany("INSERT INTO human(id, nth, wish) VALUES (?, ?, ?)", rows)


class Catalogue:
    """A catalogue that was built, to be read by any number of threads. Products are numbered from 1, in their order."""

    def __init__(self, database: sqlite3.Connection, folder: Path | None = None) -> None:
        """``folder`` is where it was made, None for memory."""
        self._database, self._lock, self._folder = database, threading.Lock(), folder
        self._recent: OrderedDict[int, Product] = OrderedDict()
        weakref.finalize(self, database.close)
        self.size: int = self._rows("SELECT coalesce(max(id), 0) FROM products")[0][0]

    @classmethod
    def open(cls, file: Path) -> Catalogue:
        """The catalogue in a file. Raises EnvironmentFailure where it cannot be read."""
        uri = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            database = sqlite3.connect(uri, uri=True, check_same_thread=False)
        except sqlite3.Error as e:
            raise damaged_catalogue_error(file.parent, e) from e
        return cls(database, file.parent)

    # -------------------------------------------------------------- products

    def product(self, id: int) -> Product:
        """The product of a number that there is."""
        known = self._recent.get(id)
        if known is None:
            (known,) = self._row(Product, "SELECT product FROM products WHERE id = ?", id)
            self._keep(id, known)
        return known

    def number_of(self, asin: str) -> int | None:
        """The number of the product of an ASIN; None where there is none."""
        rows = self._rows("SELECT id FROM products WHERE asin = ?", asin)
        return rows[0][0] if rows else None

    def products_with_attribute(self, attribute: str) -> tuple[int, ...]:
        """The numbers of all products that have an attribute."""
        return self._numbers("SELECT id FROM attributes WHERE attribute = ? ORDER BY id", attribute)

    def products_in(self, what: Literal["category", "query"], name: str) -> tuple[int, ...]:
        """The numbers of all products of a category, or of a query."""
        return self._numbers(f"SELECT id FROM products WHERE {what} = ? ORDER BY id", name)

    def match_text(self, words: str, limit: int) -> tuple[int, ...]:
        """The numbers of the products that match an expression of FTS5, the best first."""
        ranked = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid LIMIT ?"
        return self._numbers(ranked, words, limit)

    def index_texts(self) -> Iterator[tuple[int, str]]:
        """The number of each product with what a search is to look through."""
        for id in range(1, self.size + 1):
            yield id, self.product(id).index_text

    # -------------------------------------------------------------- what may be asked for

    def count_goal_templates(self, kind: GoalSource) -> int:
        """How many wishes there are of a kind."""
        count = "coalesce(max(number), 0)" if kind == "human" else "coalesce(sum(count), 0)"
        return int(self._rows(f"SELECT {count} FROM {kind}")[0][0])

    def goal_template(self, kind: GoalSource, number: int) -> GoalTemplate:
        """The wish of a number, from 0, that there is."""
        if kind == "human":
            one = "SELECT id, nth, wish FROM human WHERE number = ?"
            id, nth, said = self._row(ShoppingInstruction, one, number + 1)
            return GoalTemplate(id, nth, trim_instruction(said.text), said.attributes, said.options)
        last = "SELECT number, id, wish FROM synthetic WHERE number <= ? ORDER BY number DESC LIMIT 1"
        start, id, said = self._row(ShoppingInstruction, last, number)
        return synthetic_goal_template(id, self.product(id), said.text, said.attributes, number - start)

    # -------------------------------------------------------------- reading

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        try:
            with self._lock:
                return self._database.execute(sql, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as e:
            raise damaged_catalogue_error(self._folder, e) from e

    def _row(self, type: type[Value], sql: str, *values: Any) -> list[Any]:
        """The first row, which there is; the value in its last column is one of this type."""
        rows = self._rows(sql, *values)
        try:
            *others, packed = rows[0]
            return [*others, msgspec.msgpack.decode(packed, type=type)]
        except (IndexError, TypeError, UnicodeDecodeError, msgspec.DecodeError) as e:
            raise damaged_catalogue_error(self._folder, e) from e

    def _numbers(self, sql: str, *values: Any) -> tuple[int, ...]:
        return tuple(row[0] for row in self._rows(sql, *values))

    def _keep(self, id: int, product: Product) -> None:
        with self._lock:
            self._recent[id] = product
            if len(self._recent) > _KEPT_PRODUCTS:
                self._recent.popitem(last=False)


def damaged_catalogue_error(folder: Path | None, why: Exception) -> EnvironmentFailure:
    """The failure of a shop whose files in this folder are not what was written there."""
    return EnvironmentFailure(
        f"the shop in {folder or 'memory'} cannot be read ({why}); delete it to have it made anew"
    )
