"""Makes the catalogue that comes with codeplan, ``envs/webshop/catalogue.jsonl``: invented products of invented brands.

    python scripts/make_webshop_catalogue.py            # writes it
    python scripts/make_webshop_catalogue.py --check    # says whether it is as this script makes it

Each family of products has sorts, features that a product has or lacks, and options, all of them in
``webshop_families.toml``; what is drawn depends on nothing but that file and this one. A line of the catalogue is a
product with two instructions, which name some of its features and options.
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
from codeplan.envs.webshop.products import Product, normalise_option
from codeplan.types.value import Value

CATALOGUE = Path(__file__).parent.parent / "envs" / "webshop" / "catalogue.jsonl"
FAMILIES = Path(__file__).parent / "webshop_families.toml"
PER_FAMILY = 25

T = TypeVar("T")


class Family(Value, frozen=True):
    """Products that are filed under one query.

    ``sorts`` are what they are called; ``features`` are attributes, each with the sentence that a product which has it
    says of itself; ``options`` are names with all their values; ``dollars`` are the least and the highest price.
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
_ASKS = (
    "i am looking for {what}",
    "i need {what}",
    "i want to buy {what}",
    "find me {what}",
    "please find me {what}",
    "i'm looking for {what}.",
    "show me {what}",
)


class Dice:
    """Draws by ``random.Random.random`` alone, whose stream Python's documentation fixes."""

    def __init__(self, seed: str) -> None:
        self._draw = random.Random(seed).random

    def below(self, count: int) -> int:
        """A number from 0 to below ``count``."""
        return int(self._draw() * count)

    def one(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.below(len(values))]

    def some(self, values: Sequence[T], count: int) -> list[T]:
        """So many of the values, in their own order."""
        left = list(range(len(values)))
        taken = sorted(left.pop(self.below(len(left))) for _ in range(min(count, len(values))))
        return [values[i] for i in taken]


def catalogue() -> Iterator[CatalogueEntry]:
    """All products, the families mixed."""
    families = msgspec.toml.decode(FAMILIES.read_bytes(), type=dict[str, list[Family]])["families"]
    for nth in range(PER_FAMILY):
        for number, family in enumerate(families):
            yield listed(
                family,
                Dice(f"product {family.query} {nth}"),
                f"B0{number:02}{nth:03}{'KQXZWVJP'[nth % 8]}{number % 7}C",
            )


def listed(family: Family, dice: Dice, asin: str) -> CatalogueEntry:
    """A product of a family, with two instructions for it."""
    brand, sort = dice.one(_BRANDS), dice.one(family.sorts)
    features = dice.some(list(family.features), 3 + dice.below(2))
    options = {name: _offered(dice, values) for name, values in family.options.items()}
    product = Product(
        asin=asin,
        title=f"{brand} {sort}, {', '.join(f.title() for f in dice.some(features, 2))}",
        description=f"The {sort.lower()} by {brand}. {family.features[features[0]]}. {_PROMISE}",
        bullets=tuple(family.features[f] for f in features),
        prices=_prices(dice, *family.dollars),
        category=family.category,
        query=family.query,
        product_category=family.path,
        options=options,
        attributes=tuple(features),
    )
    asked = [instruction(dice, sort, features, options) for _ in range(2)]
    return CatalogueEntry(product=product, instructions=tuple(asked), synthetic=_plain(sort, features))


def instruction(
    dice: Dice, sort: str, features: Sequence[str], options: dict[str, tuple[str, ...]]
) -> ShoppingInstruction:
    """What a person might ask for who wants this product."""
    wanted = dice.some(features, 1 + dice.below(2))
    chosen = {name: dice.one(options[name]) for name in dice.some(list(options), dice.below(len(options) + 1))}
    said = f"{sort.lower()} with the features {' and '.join(wanted)}" if wanted[1:] else f"{wanted[0]} {sort.lower()}"
    named = " and ".join(f"{name} {value}" for name, value in chosen.items())
    text = dice.one(_ASKS).format(what=f"{said}, {named}" if named else said)
    return ShoppingInstruction(text, tuple(wanted), tuple(chosen.values()))


def _plain(sort: str, features: Sequence[str]) -> ShoppingInstruction:
    return ShoppingInstruction(f"Find me {', '.join(features[:2])} {sort.lower()}", tuple(features[:2]))


def _offered(dice: Dice, values: Sequence[str]) -> tuple[str, ...]:
    count = 2 + dice.below(len(values) - 1)
    return tuple(normalise_option(value) for value in dice.some(values, count))


def _prices(dice: Dice, low: int, high: int) -> tuple[float, ...]:
    price = low + dice.below(high - low) + dice.one((0.0, 0.49, 0.5, 0.95, 0.99))
    return (price, price + 1 + dice.below(8)) if dice.below(5) == 0 else (price,)


def main(arguments: list[str] | None = None) -> int:
    """Write the catalogue, or compare it; 0 where it is as it should be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where the catalogue differs")
    given = parser.parse_args(arguments)
    data = b"".join(msgspec.json.encode(each) + b"\n" for each in catalogue())
    if given.check:
        same = CATALOGUE.read_bytes() == data
        print(f"{CATALOGUE} is {'as this script makes it' if same else 'not what this script makes'}")
        return 0 if same else 1
    CATALOGUE.write_bytes(data)
    print(f"{CATALOGUE}: {data.count(bytes([10]))} products, {len(data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
