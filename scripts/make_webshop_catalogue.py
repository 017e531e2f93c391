"""Generates codeplan's own catalogue, ``envs/webshop/catalogue.jsonl``: invented products of invented brands.

    python scripts/make_webshop_catalogue.py            # writes it
    python scripts/make_webshop_catalogue.py --check    # checks that it is up to date

``webshop_families.toml`` lists the names, features and options of each family of products. The result depends only on
that file and this script. A line of the catalogue is a product with two instructions, which name some of its features
and options.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from codeplan.envs.webshop.catalogue import CatalogueEntry, ShoppingInstruction
from codeplan.envs.webshop.goals import Product, normalise_option
from codeplan.types import Value

CATALOGUE = Path(__file__).parent.parent / "envs" / "webshop" / "catalogue.jsonl"
FAMILIES = Path(__file__).parent / "webshop_families.toml"
PER_FAMILY = 25

T = TypeVar("T")


class Family(Value, frozen=True):
    """Products with the same query.

    ``sorts`` are their names; ``features`` maps attributes to a sentence of the product's text; ``options`` maps names
    to values; ``dollars`` are the lowest and the highest price.
    """

    query: str
    category: str
    path: str
    sorts: tuple[str, ...]
    features: dict[str, str]
    options: dict[str, tuple[str, ...]]
    dollars: tuple[int, int]


_BRANDS = (
    *("Alderbrook", "Brightwell", "Calmora", "Dunmere", "Everlark", "Fennway", "Goldcrest Lane", "Harrowby", "Ivorne"),
    *("Juniper & Rye", "Kestrel Point", "Lumafield", "Marlowe", "Northgale", "Oakhurst", "Pellworth", "Quillon"),
    *("Ravensford", "Sunderly", "Tamsin Grey", "Umberton", "Vantry", "Westerling", "Yarrow Hill", "Zephyrine"),
)
_PROMISE = "Comes with a promise: send it back if you do not like it."
_INSTRUCTION_FORMS = (
    "i am looking for {what}",
    "i need {what}",
    "i want to buy {what}",
    "find me {what}",
    "please find me {what}",
    "i'm looking for {what}.",
    "show me {what}",
)


class SeededChooser:
    """Draws with ``random.Random.random`` only, because Python guarantees that its sequence never changes."""

    def __init__(self, seed: str) -> None:
        self._draw = random.Random(seed).random

    def below(self, count: int) -> int:
        """Draw a number from 0 to ``count`` - 1."""
        return int(self._draw() * count)

    def one(self, values: Sequence[T]) -> T:
        """Draw one of the values."""
        return values[self.below(len(values))]

    def some(self, values: Sequence[T], count: int) -> list[T]:
        """Draw ``count`` of the values, in their own order."""
        left = list(range(len(values)))
        taken = sorted(left.pop(self.below(len(left))) for _ in range(min(count, len(values))))
        return [values[i] for i in taken]


def catalogue() -> Iterator[CatalogueEntry]:
    """All products; the families alternate."""
    families = msgspec.toml.decode(FAMILIES.read_bytes(), type=dict[str, list[Family]])["families"]
    for nth in range(PER_FAMILY):
        for number, family in enumerate(families):
            yield make_entry(
                family,
                SeededChooser(f"product {family.query} {nth}"),
                f"B0{number:02}{nth:03}{'KQXZWVJP'[nth % 8]}{number % 7}C",
            )


def make_entry(family: Family, chooser: SeededChooser, asin: str) -> CatalogueEntry:
    """A product of a family with two instructions."""
    brand, sort = chooser.one(_BRANDS), chooser.one(family.sorts)
    features = chooser.some(list(family.features), 3 + chooser.below(2))
    options = {name: _draw_options(chooser, values) for name, values in family.options.items()}
    product = Product(
        asin=asin,
        title=f"{brand} {sort}, {', '.join(f.title() for f in chooser.some(features, 2))}",
        description=f"The {sort.lower()} by {brand}. {family.features[features[0]]}. {_PROMISE}",
        bullets=tuple(family.features[f] for f in features),
        prices=_draw_prices(chooser, *family.dollars),
        category=family.category,
        query=family.query,
        product_category=family.path,
        options=options,
        attributes=tuple(features),
    )
    instructions = [make_instruction(chooser, sort, features, options) for _ in range(2)]
    return CatalogueEntry(product, tuple(instructions), _synthetic_instruction(sort, features))


def make_instruction(
    chooser: SeededChooser, sort: str, features: Sequence[str], options: dict[str, tuple[str, ...]]
) -> ShoppingInstruction:
    """An instruction that a person who wants this product might write."""
    wanted = chooser.some(features, 1 + chooser.below(2))
    chosen = {name: chooser.one(options[name]) for name in chooser.some(list(options), chooser.below(len(options) + 1))}
    what = f"{sort.lower()} with the features {' and '.join(wanted)}" if wanted[1:] else f"{wanted[0]} {sort.lower()}"
    named = " and ".join(f"{name} {value}" for name, value in chosen.items())
    text = chooser.one(_INSTRUCTION_FORMS).format(what=f"{what}, {named}" if named else what)
    return ShoppingInstruction(text, tuple(wanted), tuple(chosen.values()))


def _synthetic_instruction(sort: str, features: Sequence[str]) -> ShoppingInstruction:
    return ShoppingInstruction(f"Find me {', '.join(features[:2])} {sort.lower()}", tuple(features[:2]))


def _draw_options(chooser: SeededChooser, values: Sequence[str]) -> tuple[str, ...]:
    count = 2 + chooser.below(len(values) - 1)
    return tuple(normalise_option(value) for value in chooser.some(values, count))


def _draw_prices(chooser: SeededChooser, low: int, high: int) -> tuple[float, ...]:
    price = low + chooser.below(high - low) + chooser.one((0.0, 0.49, 0.5, 0.95, 0.99))
    return (price, price + 1 + chooser.below(8)) if chooser.below(5) == 0 else (price,)


def main(arguments: list[str] | None = None) -> int:
    """Write the catalogue, or with ``--check`` compare it. Returns 0 on success."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the catalogue differs")
    given = parser.parse_args(arguments)
    data = b"".join(msgspec.json.encode(each) + b"\n" for each in catalogue())
    if given.check:
        same = CATALOGUE.read_bytes() == data
        print(f"{CATALOGUE} is {'up to date' if same else 'out of date'}")
        return 0 if same else 1
    CATALOGUE.write_bytes(data)
    print(f"{CATALOGUE}: {data.count(bytes([10]))} products, {len(data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
