"""Makes the catalogue that comes with codeplan, ``envs/webshop/catalogue.jsonl``: invented products of invented brands.

    python scripts/make_webshop_catalogue.py            # writes it
    python scripts/make_webshop_catalogue.py --check    # says whether it is as this script makes it

Each family of products has sorts, features that a product has or lacks, and options; what is drawn depends on nothing
but this file. A line of the catalogue is a product with two instructions, which name some of its features and options.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from codeplan.envs.webshop.catalogue import Instruction, Listed
from codeplan.envs.webshop.products import Product, option_value

CATALOGUE = Path(__file__).parent.parent / "envs" / "webshop" / "catalogue.jsonl"
PER_FAMILY = 25

T = TypeVar("T")


class Family(NamedTuple):
    """Products that are filed under one query.

    ``sorts`` are what they are called; ``features`` are attributes, each with the sentence that a product which has it
    says of itself; ``options`` are names with all their values; ``dollars`` are the least and the highest price.
    """

    query: str
    category: str
    path: str
    sorts: Sequence[str]
    features: dict[str, str]
    options: dict[str, Sequence[str]]
    dollars: tuple[int, int]


CLOTHES = ("x-small", "small", "medium", "large", "x-large", "xx-large")
COLOURS = ("black", "white", "navy blue", "heather grey", "olive green", "burgundy", "dusty rose", "black/white")

FAMILIES = (
    Family(
        "men's t-shirts",
        "fashion",
        "Clothing, Shoes & Jewelry › Men › Shirts › T-Shirts",
        ("Men's Crew Neck T-Shirt", "Men's V-Neck Tee Shirt", "Men's Pocket T-Shirt", "Men's Henley T-Shirt"),
        {
            "machine wash": "Machine wash warm, tumble dry low",
            "moisture wicking": "Moisture wicking fabric keeps you dry at work and in the gym",
            "cotton": "Combed cotton that gets softer with every wash",
            "short sleeve": "Short sleeve cut that leaves room to move",
            "quick drying": "Quick drying on any line",
            "tag free": "Tag free collar, nothing scratches",
            "slim fit": "Slim fit, tapered at the waist",
        },
        {"color": COLOURS, "size": CLOTHES},
        (9, 38),
    ),
    Family(
        "women's dresses",
        "fashion",
        "Clothing, Shoes & Jewelry › Women › Dresses › Casual",
        ("Women's Wrap Midi Dress", "Women's Summer Sundress", "Women's Swing Dress", "Women's Maxi Dress"),
        {
            "hand wash": "Hand wash cold and hang to dry",
            "elastic waist": "Elastic waist that follows every move",
            "short sleeve": "Short sleeve with a soft ruffle",
            "polyester spandex": "Made of polyester spandex with four-way stretch",
            "unique design": "Unique design, printed in small batches",
            "side pockets": "Side pockets that hold a phone",
        },
        {"color": ("floral blue", "red", "black", "yellow polka dot", "sage green", "wine #3"), "size": CLOTHES},
        (18, 64),
    ),
    Family(
        "running shoes",
        "fashion",
        "Clothing, Shoes & Jewelry › Shoes › Athletic › Running",
        ("Road Running Shoes", "Trail Running Sneakers", "Walking Running Shoes", "Barefoot Running Shoes"),
        {
            "rubber sole": "Rubber sole that grips on wet stone",
            "arch support": "Arch support for long days",
            "non slip": "Non slip tread, tested on ice",
            "memory foam": "Memory foam insole",
            "lace closure": "Lace closure with spare laces in the box",
            "ankle strap": "An ankle strap holds the heel",
        },
        {
            "color": ("black/red", "grey", "teal", "white/gold", "neon yellow"),
            "size": ("6", "7", "8", "9", "9.5", "10", "11"),
        },
        (32, 140),
    ),
    Family(
        "deodorants",
        "beauty",
        "Beauty & Personal Care › Deodorants & Antiperspirants › Deodorant",
        ("Deodorant Stick", "Deodorant Spray", "Roll-On Deodorant", "Deodorant Cream"),
        {
            "aluminum free": "Aluminum free, works without blocking pores",
            "long lasting": "Long lasting: made for a day that ends late",
            "sensitive skin": "Suited to sensitive skin",
            "cruelty free": "Cruelty free, never tested on animals",
            "alcohol free": "Alcohol free, so it does not sting",
            "coconut oil": "With coconut oil",
        },
        {
            "scent": ("calm lavender", "bright citrus", "cedar & sage", "unscented", "sea salt"),
            "size": ("1 pack", "2 pack", "4 pack"),
        },
        (4, 27),
    ),
    Family(
        "shampoo",
        "beauty",
        "Beauty & Personal Care › Hair Care › Shampoo & Conditioner › Shampoos",
        ("Repair Shampoo", "Volume Shampoo", "Anti-Dandruff Shampoo", "Curl Shampoo Bar"),
        {
            "sulfate free": "Sulfate free lather",
            "paraben free": "Paraben free recipe",
            "damaged hair": "Cares for damaged hair from root to tip",
            "tea tree": "With tea tree oil",
            "argan oil": "With argan oil from Morocco",
            "color treated": "Gentle on color treated hair",
        },
        {
            "size": ("8 fl oz", "16 fl oz", "32 fl oz (pack of 2)"),
            "scent": ("mint", "almond", "rose", "fragrance free"),
        },
        (6, 34),
    ),
    Family(
        "hdmi cables",
        "electronics",
        "Electronics › Accessories & Supplies › Audio & Video Accessories › Cables",
        ("HDMI Cable", "HDMI to DVI Cable", "Mini HDMI Cable", "HDMI Extension Cord"),
        {
            "high speed": "High speed, 48 gigabits a second",
            "gold plated": "Gold plated plugs",
            "ultra hd": "Made for ultra hd at 120 frames",
            "blu ray": "Works with blu ray players and consoles",
            "nylon braided": "Nylon braided, bends ten thousand times",
            "heavy duty": "Heavy duty jacket for behind the wall",
        },
        {"length": ("1.5 feet", "3 feet", "6 feet", "10 feet", "25 feet"), "pack": ("1 pack", "2 pack", "5 pack")},
        (5, 48),
    ),
    Family(
        "headphones",
        "electronics",
        "Electronics › Headphones, Earbuds & Accessories › Headphones",
        ("Over-Ear Headphones", "Bluetooth Earbuds", "On-Ear Headset", "Sports Earphones"),
        {
            "noise cancelling": "Noise cancelling at the push of a button",
            "long lasting": "Long lasting battery, 40 hours",
            "hands free": "Hands free calls with a clear microphone",
            "fast charging": "Fast charging: ten minutes for three hours",
            "water resistant": "Water resistant against rain and sweat",
            "stereo sound": "Stereo sound with deep bass",
        },
        {"color": ("black", "silver", "rose gold", "midnight blue", "white #2")},
        (15, 190),
    ),
    Family(
        "bookcases",
        "garden",
        "Home & Kitchen › Furniture › Home Office Furniture › Bookcases",
        ("Ladder Bookcase", "Corner Bookshelf", "Cube Bookcase", "Floating Bookshelf"),
        {
            "easy assemble": "Easy to assemble with the key in the box: easy assemble, one person, half an hour",
            "solid wood": "Solid wood from managed forests",
            "living room": "Looks well in a living room or a study",
            "space saving": "Space saving where floor is short",
            "steel frame": "Steel frame that carries 200 pounds",
            "storage space": "Storage space for books and boxes",
        },
        {
            "color": ("rustic brown", "white", "black oak", "grey/white"),
            "size": ("3 tier", "4 tier", "5 tier", "6 tier"),
        },
        (39, 260),
    ),
    Family(
        "scented candles",
        "garden",
        "Home & Kitchen › Home Décor Products › Candles & Holders › Candles",
        ("Scented Candle", "Candle Gift Set", "Tin Candle", "Pillar Candle"),
        {
            "soy wax": "Poured of soy wax by hand",
            "lead free": "Lead free cotton wick",
            "long lasting": "Long lasting, burns for 45 hours",
            "eco friendly": "Eco friendly packing",
            "essential oils": "Scented with essential oils",
        },
        {"scent": ("voyager", "vanilla", "fig & cassis", "pine #7", "linen"), "size": ("4 oz", "8 oz", "14 oz")},
        (7, 44),
    ),
    Family(
        "granola bars",
        "grocery",
        "Grocery & Gourmet Food › Snack Foods › Bars › Granola",
        ("Granola Bars", "Oat Snack Bars", "Protein Granola Bars", "Nut Bars"),
        {
            "gluten free": "Gluten free oats",
            "low sugar": "Low sugar: two grams a bar",
            "dairy free": "Dairy free chocolate",
            "high protein": "High protein, 15 grams from nuts and peas",
            "non gmo": "Non gmo ingredients only",
            "individually wrapped": "Individually wrapped for lunch boxes",
        },
        {
            "flavor": ("dark chocolate", "peanut butter", "cranberry/almond", "maple", "coconut"),
            "size": ("6 count", "12 count", "24 count"),
        },
        (5, 39),
    ),
    Family(
        "herbal tea",
        "grocery",
        "Grocery & Gourmet Food › Beverages › Tea › Herbal",
        ("Herbal Tea Bags", "Loose Leaf Herbal Tea", "Iced Herbal Tea", "Herbal Tea Sampler"),
        {
            "caffeine free": "Caffeine free, for late evenings",
            "certified organic": "Certified organic herbs",
            "sugar free": "Sugar free, sweet by nature",
            "kosher certified": "Kosher certified",
            "great gift": "In a tin: a great gift",
        },
        {"flavor": ("chamomile", "peppermint", "hibiscus", "lemon/ginger"), "size": ("20 bags", "40 bags", "100 bags")},
        (4, 31),
    ),
    Family(
        "water bottles",
        "garden",
        "Sports & Outdoors › Sports & Outdoor Recreation › Accessories › Water Bottles",
        ("Insulated Water Bottle", "Sports Water Bottle", "Glass Water Bottle", "Kids' Water Bottle"),
        {
            "stainless steel": "Stainless steel inside and out",
            "leak proof": "Leak proof lid",
            "bpa free": "BPA free throughout",
            "dishwasher safe": "Dishwasher safe, lid and all",
            "easy clean": "Wide neck: easy clean with any brush",
            "double wall": "Double wall keeps ice for a day",
        },
        {
            "color": ("matte black", "sky blue", "coral", "forest green", "steel #1"),
            "size": ("12 oz", "18 oz", "24 oz", "40 oz"),
        },
        (8, 46),
    ),
)

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


def catalogue() -> Iterator[Listed]:
    """All products, the families mixed."""
    for nth in range(PER_FAMILY):
        for number, family in enumerate(FAMILIES):
            yield listed(
                family,
                Dice(f"product {family.query} {nth}"),
                f"B0{number:02}{nth:03}{'KQXZWVJP'[nth % 8]}{number % 7}C",
            )


def listed(family: Family, dice: Dice, asin: str) -> Listed:
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
    return Listed(product=product, instructions=tuple(asked), synthetic=_plain(sort, features))


def instruction(dice: Dice, sort: str, features: Sequence[str], options: dict[str, tuple[str, ...]]) -> Instruction:
    """What a person might ask for who wants this product."""
    wanted = dice.some(features, 1 + dice.below(2))
    chosen = {name: dice.one(options[name]) for name in dice.some(list(options), dice.below(len(options) + 1))}
    said = f"{sort.lower()} with the features {' and '.join(wanted)}" if wanted[1:] else f"{wanted[0]} {sort.lower()}"
    named = " and ".join(f"{name} {value}" for name, value in chosen.items())
    text = dice.one(_ASKS).format(what=f"{said}, {named}" if named else said)
    return Instruction(text, tuple(wanted), tuple(chosen.values()))


def _plain(sort: str, features: Sequence[str]) -> Instruction:
    return Instruction(f"Find me {', '.join(features[:2])} {sort.lower()}", tuple(features[:2]))


def _offered(dice: Dice, values: Sequence[str]) -> tuple[str, ...]:
    count = 2 + dice.below(len(values) - 1)
    return tuple(option_value(value) for value in dice.some(values, count))


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
