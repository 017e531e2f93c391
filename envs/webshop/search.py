"""Searching products: BM25 over any of a query's words, and prefixes that ask for a category, attribute or query."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Protocol

from codeplan.envs.webshop.catalogue import Catalogue

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
