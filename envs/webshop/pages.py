"""What a page of the shop says, piece by piece, however it is written down then."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from codeplan.envs.webshop.products import Product

BACK, PREVIOUS, NEXT, BUY, SEARCH = "Back to Search", "< Prev", "Next >", "Buy Now", "Search"
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")
PER_PAGE = 10
THANKS, SCORE = "Thank you for shopping with us!", "Your score (min 0.0, max 1.0)"


class PageElement(NamedTuple):
    """A piece of a page: its text, what sort of thing that is, and for an option's value the option's name."""

    kind: Literal["text", "button", "asin", "value"]
    text: str
    option: str = ""
    chosen: bool = False

    @property
    def click_name(self) -> str:
        """What a click on it is called; empty where it cannot be clicked."""
        return "" if self.kind == "text" else self.text.lower()


ShopPage = tuple[PageElement, ...]


def search_page(instruction: str) -> ShopPage:
    """Where a session begins."""
    return (_text("WebShop"), _text("Instruction: "), _text(instruction), _button(SEARCH))


def results_page(instruction: str, shown: list[Product], number: int, total: int) -> ShopPage:
    """Ten of the products that were found, or fewer. There is always a next page, if an empty one."""
    previous = (_button(PREVIOUS),) if number > 1 else ()
    found = _text(f"Page {number} (Total results: {total})")
    return (*_head(instruction), found, *previous, _button(NEXT), *_offers(shown))


def item_page(instruction: str, product: Product, chosen: Mapping[str, str], sub_pages: tuple[str, ...]) -> ShopPage:
    """A product, its options and what there is to read about it."""
    return (
        *_head(instruction),
        _button(PREVIOUS),
        *_options(product, chosen),
        _text(product.title),
        _text(f"Price: {product.price_tag}"),
        _text("Rating: N.A."),
        *map(_button, (*sub_pages, BUY)),
    )


def sub_page(instruction: str, product: Product, which: str) -> ShopPage:
    """What there is to read about a product. There are no reviews."""
    texts = {
        "Description": (product.description,),
        "Features": tuple(f" {bullet}" for bullet in product.bullets if bullet),
        "Attributes": tuple(f" {attribute}" for attribute in product.attributes),
    }.get(which, ())
    return (*_head(instruction), _button(PREVIOUS), *(_text(text) for text in texts if text))


def last_page(product: Product, chosen: Mapping[str, str], reward: float) -> ShopPage:
    """The thanks for a purchase, and its score.

    The original's page has places for fields of the goal and leaves them empty, as here; nothing hidden stands on it.
    """
    bought = ("asin", product.asin, "options", json.dumps(chosen), *_nothing("attrs", "category", "query"))
    target = ("Target", "asin", "options", "attrs", "price upper", "instuction text", "category", "product category")
    texts = (THANKS, *_nothing("Your code: "), " (Paste it in your MTurk interface.)", "Purchased", *bought)
    texts += (*_nothing("product category"), *target, "query", *_nothing("Goal "), "Reward", SCORE, str(reward))
    return tuple(map(_text, (*texts, *_nothing("Reward Details "))))


def score_line(page: ShopPage) -> str:
    """The line of the score on the last page; empty on any other."""
    texts = [piece.text for piece in page]
    return f"{SCORE}: {texts[texts.index(SCORE) + 1]}" if texts[0] == THANKS else ""


def _nothing(*names: str) -> tuple[str, ...]:
    """Fields without a value, as the last page shows them."""
    return tuple(text for name in names for text in (name, "None"))


def _head(instruction: str) -> ShopPage:
    return (_text("Instruction:"), _text(instruction), _button(BACK))


def _offers(shown: list[Product]) -> Iterator[PageElement]:
    for product in shown:
        yield PageElement("asin", product.asin)
        yield _text(product.title)
        yield _text(product.price_tag)


def _options(product: Product, chosen: Mapping[str, str]) -> Iterator[PageElement]:
    for name, values in product.options.items():
        yield _text(name)
        for value in values:
            yield PageElement("value", value, name, chosen.get(name) == value)


def _text(text: str) -> PageElement:
    return PageElement("text", text)


def _button(text: str) -> PageElement:
    return PageElement("button", text)
