"""Reads the shop's pages in the forms that mark buttons: WebShop's own and that of ReAct's client."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

PageKind = Literal["search", "results", "item", "sub", "done"]

_BUTTON = re.compile(r"( *)\[(?:clicked )?button\] (.*) \[(?:clicked )?button_\]")
_OPTION = re.compile(r"([^\[\]\n]+) ((?:\[{1,2}[^\[\]\n]+\]{1,2})+)")
_ID = re.compile(r"(?:\[button\] |\[)([A-Z0-9]{10})(?: \[button_\]|\])")
_PRICE = re.compile(r"\d+(?:\.\d+)?")


class ShopOffer(NamedTuple):
    """A product on a page of results. ``price`` is in dollars, the upper end of a range."""

    id: str
    title: str
    price: float


def is_product_id(text: str) -> bool:
    """Whether a button's text has the form of a product's id."""
    return re.fullmatch(r"[A-Z0-9]{10}", text) is not None


def page_kind(page: str) -> PageKind | None:
    """The kind of a page; None if the text is none, as the answer to a click on an option in ReAct's client."""
    if "Your score" in page:
        return "done"
    if "Back to Search" not in page:
        return "search" if "Search" in page else None
    if re.search(r"^Page \d+ \(Total results", page, re.MULTILINE):
        return "results"
    return "item" if "Buy Now" in page else "sub"


def read_offers(page: str) -> list[ShopOffer]:
    """The products on a page of results, best match first; none on other pages."""
    lines = [line.strip() for line in page.split("\n") if line.strip()]
    found = zip(map(_ID.fullmatch, lines), lines[1:], lines[2:], strict=False)
    return [
        ShopOffer(id[1], title, float(_PRICE.findall(tag)[-1]))
        for id, title, tag in found
        if id and tag.startswith("$") and _PRICE.search(tag)
    ]


def read_options(page: str) -> dict[str, list[str]]:
    """The values of each option on a product's page."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in page.split("\n"):
        if button := _BUTTON.fullmatch(line):
            if button[1]:
                found.setdefault(name, []).append(button[2])
        elif option := _OPTION.fullmatch(line):
            found[option[1]] = re.findall(r"\[([^\[\]]+)\]", option[2])
        else:
            name = line
    return found


def read_product_text(page: str) -> str:
    """The text of a product's page, without the instruction and the first buttons."""
    return page.rpartition("< Prev")[2]
