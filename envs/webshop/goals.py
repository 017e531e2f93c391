"""Goals: the instruction, the wanted product, and the price cap."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice, product
from math import prod

from codeplan.envs.webshop.products import Product
from codeplan.types import Value

NO_CAP = 1_000_000.0
"""The cap of a goal that names none, in dollars; higher than any price."""

SHUFFLE_SEED = 233
"""The seed of WebShop's own order of the goals."""

_CAPS = tuple(10.0 * tens for tens in range(1, 100))


class GoalTemplate(Value, frozen=True):
    """A goal without its price cap.

    ``product`` is the wanted product's number in the catalogue, ``number`` counts the product's templates; ``options``
    are values.
    """

    product: int
    number: int
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()


class WebShopGoal(Value, frozen=True):
    """A complete goal. ``name``, ``query`` and ``product_category`` are those of the wanted product."""

    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()
    price_upper: float = NO_CAP
    name: str = ""
    query: str = ""
    product_category: str = ""


def make_goal(template: GoalTemplate, wanted: Product, price_seed: int) -> WebShopGoal:
    """Build a template's goal, with the price cap that the seed draws."""
    cap = draw_price_cap(sample_price(wanted, price_seed), f"{price_seed} cap {wanted.asin} {template.number}")
    suffix = "" if cap == NO_CAP else f", and price lower than {cap:.2f} dollars"
    return WebShopGoal(
        instruction=template.instruction + suffix,
        attributes=template.attributes,
        options=template.options,
        price_upper=cap,
        name=wanted.title,
        query=wanted.query,
        product_category=wanted.product_category,
    )


def sample_price(wanted: Product, price_seed: int) -> float:
    """A product's price in dollars; from a range, the seed draws one.

    WebShop draws prices and caps before it sets a seed, so they differ between starts. Here they depend only on the
    seed and the product.
    """
    low, high = wanted.prices[0], wanted.prices[-1]
    return low + (high - low) * random.Random(f"{price_seed} price {wanted.asin}").random()


def draw_price_cap(price: float, seed: str) -> float:
    """The larger of two of the next four multiples of ten above a price, up to 990; NO_CAP if fewer than two exist."""
    above = [cap for cap in _CAPS if cap > price][:4]
    if len(above) < 2:
        return NO_CAP
    draw = random.Random(seed).random
    first = above.pop(int(draw() * len(above)))
    return max(first, above[int(draw() * len(above))])


def trim_instruction(text: str) -> str:
    """A person's instruction, in the form in which a goal starts with it."""
    return text.strip(".")


def count_option_combinations(wanted: Product) -> int:
    """The number of ways to choose one value of each option."""
    return prod(map(len, wanted.options.values()))


def synthetic_goal_template(
    number: int, wanted: Product, instruction: str, attributes: tuple[str, ...], nth: int
) -> GoalTemplate:
    """The template of the ``nth`` combination of a product's options, which the instruction names at its end."""
    names = sorted(wanted.options)
    chosen = next(islice(product(*(wanted.options[name] for name in names)), nth, None))
    options = ", and ".join(f"{name}: {value}" for name, value in zip(names, chosen, strict=True))
    return GoalTemplate(number, nth, f"{instruction} with {options}" if options else instruction, attributes, chosen)


def goal_order(count: int) -> Sequence[int]:
    """The goals' numbers in the catalogue, in WebShop's order."""
    numbers = list(range(count))
    random.Random(SHUFFLE_SEED).shuffle(numbers)
    return numbers


def split_ranges(count: int, *, embedded: bool) -> dict[str, range]:
    """The positions of each split's goals: WebShop's own bounds, or smaller ones for the embedded catalogue."""
    test, dev = (200, 300) if embedded else (500, 1500)
    test, dev = min(test, count), min(dev, count)
    return {"test": range(test), "dev": range(test, dev), "train": range(dev, count)}
