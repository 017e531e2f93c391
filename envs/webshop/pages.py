"""The shop's pages as lists of elements, independent of the text form."""

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
    """An element of a page. ``option`` is the option's name if the element is an option's value."""

    kind: Literal["text", "button", "asin", "value"]
    text: str
    option: str = ""
    chosen: bool = False

    @property
    def click_name(self) -> str:
        """The name by which a click refers to it; empty if it cannot be clicked."""
        return "" if self.kind == "text" else self.text.lower()


ShopPage = tuple[PageElement, ...]


def search_page(instruction: str) -> ShopPage:
    """The page on which an episode begins."""
    return (_text("WebShop"), _text("Instruction: "), _text(instruction), _button(SEARCH))


def results_page(instruction: str, shown: list[Product], number: int, total: int) -> ShopPage:
    """Up to ten of the results. There is always a next page, even if it is empty."""
    previous = (_button(PREVIOUS),) if number > 1 else ()
    found = _text(f"Page {number} (Total results: {total})")
    return (*_head(instruction), found, *previous, _button(NEXT), *_offers(shown))


def item_page(instruction: str, product: Product, chosen: Mapping[str, str], sub_pages: tuple[str, ...]) -> ShopPage:
    """A product with its options and the buttons of its text pages."""
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
    """A text page of a product. There are no reviews."""
    texts = {
        "Description": (product.description,),
        "Features": tuple(f" {bullet}" for bullet in product.bullets if bullet),
        "Attributes": tuple(f" {attribute}" for attribute in product.attributes),
    }.get(which, ())
    return (*_head(instruction), _button(PREVIOUS), *(_text(text) for text in texts if text))


def last_page(product: Product, chosen: Mapping[str, str], reward: float) -> ShopPage:
    """The page after a purchase, with its score.

    As on the original's page, the goal's fields are empty, so nothing hidden is revealed.
    """
    bought = ("asin", product.asin, "options", json.dumps(chosen), *_blank("attrs", "category", "query"))
    target = ("Target", "asin", "options", "attrs", "price upper", "instuction text", "category", "product category")
    texts = (THANKS, *_blank("Your code: "), " (Paste it in your MTurk interface.)", "Purchased", *bought)
    texts += (*_blank("product category"), *target, "query", *_blank("Goal "), "Reward", SCORE, str(reward))
    return tuple(map(_text, (*texts, *_blank("Reward Details "))))


def score_line(page: ShopPage) -> str:
    """The score line of the last page; empty for other pages."""
    texts = [element.text for element in page]
    return f"{SCORE}: {texts[texts.index(SCORE) + 1]}" if texts[0] == THANKS else ""


def _blank(*names: str) -> tuple[str, ...]:
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
