"""Products, and how to parse them from the records of WebShop's files (Yao et al., 2022)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from codeplan.types import Value

NO_PRICE = 100.0
"""The price, in dollars, of a product whose record has none."""

NO_ATTRIBUTES = ("DUMMY_ATTR",)
"""The attributes of a product without known attributes."""

_MAX_ASIN_LENGTH = 10
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")


class Product(Value, frozen=True):
    """A product.

    ``prices`` are in dollars: one price, or the two ends of a range. ``options`` maps names to values
    (``{"size": ("small", "large")}``), all in lower case. ``attributes``, ``query``, ``category`` and
    ``product_category`` are never shown; the reward uses them.
    """

    asin: str
    title: str
    description: str = ""
    bullets: tuple[str, ...] = ()
    prices: tuple[float, ...] = (NO_PRICE,)
    category: str = ""
    query: str = ""
    product_category: str = ""
    options: dict[str, tuple[str, ...]] = {}
    attributes: tuple[str, ...] = NO_ATTRIBUTES

    @property
    def price_tag(self) -> str:
        """The price as a page shows it: ``$10.99``, or ``$15.0 to $22.5``."""
        return " to ".join(f"${price}" for price in self.prices)

    @property
    def index_text(self) -> str:
        """The searchable text: title, description, the first bullet and the options."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        return " ".join([self.title, self.description, *self.bullets[:1], options]).lower()


def is_on_sale(record: Mapping[str, Any]) -> bool:
    """Whether a record has a name and an ASIN of at most ten characters. Others are ignored."""
    asin = record.get("asin")
    return isinstance(asin, str) and 0 < len(asin) <= _MAX_ASIN_LENGTH and asin != "nan" and bool(record.get("name"))


def parse_product(record: Mapping[str, Any], attributes: Iterable[Any] | None) -> Product:
    """Parse a record of ``items_shuffle.json``.

    ``attributes`` are those in ``items_ins_v2.json``, None if it does not list the product. Fields that are missing or
    of the wrong type count as empty.
    """
    bullets = record.get("small_description")
    known = NO_ATTRIBUTES if attributes is None else tuple(_text(each) for each in attributes)
    return Product(
        asin=_text(record["asin"]),
        title=_text(record.get("name")),
        description=_text(record.get("full_description")),
        bullets=tuple(_text(each) for each in (bullets if isinstance(bullets, list) else [bullets])),
        prices=parse_prices(_text(record.get("pricing"))),
        category=_text(record.get("category")),
        query=_text(record.get("query")).lower().strip(),
        product_category=_text(record.get("product_category")),
        options=_options(record.get("customization_options")),
        attributes=known,
    )


def parse_prices(text: str) -> tuple[float, ...]:
    """The first two dollar amounts of a text (``"$15.00$22.50"``); ``NO_PRICE`` if there are none."""
    found = (_NUMBER.search(re.sub(r"[^\d.]", "", part)) for part in text.split("$")[1:])
    return tuple(float(number[0]) for number in found if number)[:2] or (NO_PRICE,)


def normalise_option(text: str) -> str:
    """An option's value as the shop writes it: lower case, with ``|`` for the slash."""
    return text.strip().replace("/", " | ").lower()


def _options(found: Any) -> dict[str, tuple[str, ...]]:
    """The options of a record. The field, or a single option in it, may be None or empty."""
    if not isinstance(found, dict):
        return {}
    return {name.lower(): _values(listed) for name, listed in found.items() if isinstance(listed, list)}


def _values(listed: list[Any]) -> tuple[str, ...]:
    return tuple(normalise_option(_text(each.get("value"))) for each in listed if isinstance(each, dict))


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)
