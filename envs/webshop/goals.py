"""What a buyer is to find: the goal's sentence, what it asks for, and its cap on the price."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice, product

from codeplan.envs.webshop.products import Product
from codeplan.types.value import Value

NO_CAP = 1_000_000.0
"""The cap of a goal that names none: more than anything costs."""

SHUFFLE_SEED = 233
"""The seed of WebShop's own order of the goals."""

_STEPS = tuple(10.0 * tens for tens in range(1, 100))


class GoalTemplate(Value, frozen=True):
    """What a product's instruction asks for, before the price comes in.

    ``product`` is its number in the catalogue, ``number`` that among the product's wishes; ``options`` are values.
    """

    product: int
    number: int
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()


class WebShopGoal(Value, frozen=True):
    """A goal in full. ``name``, ``query`` and ``product_category`` are those of the product that was in mind."""

    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()
    price_upper: float = NO_CAP
    name: str = ""
    query: str = ""
    product_category: str = ""


def make_goal(template: GoalTemplate, wanted: Product, price_seed: int) -> WebShopGoal:
    """The goal that comes of a wish for a product, with the cap that the seed draws."""
    cap = draw_price_cap(sample_price(wanted, price_seed), f"{price_seed} cap {wanted.asin} {template.number}")
    said = "" if cap == NO_CAP else f", and price lower than {cap:.2f} dollars"
    return WebShopGoal(
        instruction=template.instruction + said,
        attributes=template.attributes,
        options=template.options,
        price_upper=cap,
        name=wanted.title,
        query=wanted.query,
        product_category=wanted.product_category,
    )


def sample_price(wanted: Product, price_seed: int) -> float:
    """What a product costs, in dollars: its price, or one within its range that the seed draws.

    WebShop draws it, and the caps, before it sets a seed, so that they differ from start to start. Here they depend
    on the seed and the product alone.
    """
    low, high = wanted.prices[0], wanted.prices[-1]
    return low + (high - low) * random.Random(f"{price_seed} price {wanted.asin}").random()


def draw_price_cap(price: float, seed: str) -> float:
    """The larger of two among the next four multiples of ten above a price, 990 at most; NO_CAP where less are left."""
    above = [step for step in _STEPS if step > price][:4]
    if len(above) < 2:
        return NO_CAP
    draw = random.Random(seed).random
    first = above.pop(int(draw() * len(above)))
    return max(first, above[int(draw() * len(above))])


def trim_instruction(text: str) -> str:
    """A person's instruction as a goal begins with it."""
    return text.strip(".")


def count_option_combinations(wanted: Product) -> int:
    """How many ways there are to choose one value of each option."""
    count = 1
    for values in wanted.options.values():
        count *= len(values)
    return count


def synthetic_goal_template(
    number: int, wanted: Product, instruction: str, attributes: tuple[str, ...], nth: int
) -> GoalTemplate:
    """The wish for the ``nth`` combination of a product's options, which are named at the end of the instruction."""
    names = sorted(wanted.options)
    chosen = next(islice(product(*(wanted.options[name] for name in names)), nth, None))
    said = ", and ".join(f"{name}: {value}" for name, value in zip(names, chosen, strict=True))
    return GoalTemplate(number, nth, f"{instruction} with {said}" if said else instruction, attributes, chosen)


def goal_order(count: int) -> Sequence[int]:
    """The goals' numbers, as they come in the catalogue, in WebShop's order."""
    numbers = list(range(count))
    random.Random(SHUFFLE_SEED).shuffle(numbers)
    return numbers


def split_ranges(count: int, *, embedded: bool) -> dict[str, range]:
    """Which of the shuffled goals are in which split: WebShop's own bounds, smaller ones for the embedded catalogue."""
    test, dev = (200, 300) if embedded else (500, 1500)
    test, dev = min(test, count), min(dev, count)
    return {"test": range(test), "dev": range(test, dev), "train": range(dev, count)}
