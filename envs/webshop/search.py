"""Searching by SQLite: a query's words, any of them, ranked by BM25; and the words that ask for a category."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Protocol

from codeplan.envs.webshop.catalogue import Catalogue

MOST = 50
"""How many products a search finds at most."""

_WORD = re.compile(r"[^\W_]+")
_LITTLE = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with"
)
_STOP_WORDS = frozenset(_LITTLE.split())
"""What a search leaves out, as Lucene does for English."""


class Index(Protocol):
    """Finds products by words."""

    def best(self, words: Sequence[str], limit: int) -> tuple[int, ...]:
        """The numbers of the products that have any of these words, the best first."""
        ...


def find(catalogue: Catalogue, index: Index, query: str, draw: str) -> tuple[int, ...]:
    """The numbers of the products that a query finds, in the order in which they are shown.

    A first word ``<r>`` asks for random ones, which ``draw`` chooses, ``<a>`` for an attribute, ``<c>`` for a category,
    ``<q>`` for the query that a product is filed under; the latter three find all that there are.
    """
    first, _, rest = query.strip().partition(" ")
    rest = rest.strip()
    if first == "<r>":
        return _random(catalogue.size, draw)
    if first == "<a>":
        return catalogue.with_attribute(rest)
    if first == "<c>":
        return catalogue.filed_under("category", rest.split(" ")[0])
    if first == "<q>":
        return catalogue.filed_under("query", rest)
    words = words_of(query)
    return index.best(words, MOST) if words else ()


def words_of(query: str) -> list[str]:
    """The words of a query that are searched for, each once."""
    found = (word.lower() for word in _WORD.findall(query))
    return [word for word in dict.fromkeys(found) if word not in _STOP_WORDS]


class TextIndex:
    """The index that is in the catalogue's own file (SQLite's FTS5, stems by Porter)."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def best(self, words: Sequence[str], limit: int) -> tuple[int, ...]:
        """See ``Index``; products that are equally good come in the catalogue's order."""
        return self._catalogue.matching(" OR ".join(f'"{word}"' for word in words), limit)


def _random(size: int, draw: str) -> tuple[int, ...]:
    return tuple(random.Random(draw).sample(range(1, size + 1), min(MOST, size)))
