"""Searching by SQLite: a query's words, any of them, ranked by BM25; and the words that ask for a category."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Protocol

from codeplan.envs.webshop.catalogue import Catalogue

MAX_RESULTS = 50
"""How many products a search finds at most."""

_WORD = re.compile(r"[^\W_]+")
_LITTLE = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with"
)
_STOP_WORDS = frozenset(_LITTLE.split())
"""What a search leaves out, as Lucene does for English."""


class SearchIndex(Protocol):
    """Finds products by words."""

    def find_best(self, words: Sequence[str], limit: int) -> tuple[int, ...]:
        """The numbers of the products that have any of these words, the best first."""
        ...


def find_products(catalogue: Catalogue, index: SearchIndex, query: str, random_seed: str) -> tuple[int, ...]:
    """The numbers of the products that a query finds, in the order in which they are shown.

    A first word ``<r>`` asks for random ones, which ``draw`` chooses, ``<a>`` for an attribute, ``<c>`` for a category,
    ``<q>`` for the query that a product is filed under; the latter three find all that there are.
    """
    first, _, rest = query.strip().partition(" ")
    rest = rest.strip()
    if first == "<r>":
        return _random(catalogue.size, random_seed)
    if first == "<a>":
        return catalogue.products_with_attribute(rest)
    if first == "<c>":
        return catalogue.products_in("category", rest.split(" ")[0])
    if first == "<q>":
        return catalogue.products_in("query", rest)
    words = query_words(query)
    return index.find_best(words, MAX_RESULTS) if words else ()


def query_words(query: str) -> list[str]:
    """The words of a query that are searched for, each once."""
    found = (word.lower() for word in _WORD.findall(query))
    return [word for word in dict.fromkeys(found) if word not in _STOP_WORDS]


class SqliteIndex:
    """The index that is in the catalogue's own file (SQLite's FTS5, stems by Porter)."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def find_best(self, words: Sequence[str], limit: int) -> tuple[int, ...]:
        """See ``Index``; products that are equally good come in the catalogue's order."""
        return self._catalogue.match_text(" OR ".join(f'"{word}"' for word in words), limit)


def _random(size: int, draw: str) -> tuple[int, ...]:
    return tuple(random.Random(draw).sample(range(1, size + 1), min(MAX_RESULTS, size)))
