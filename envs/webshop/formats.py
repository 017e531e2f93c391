"""The text forms of a page: WebShop's two, and the one of the ReAct and ADaPT clients."""

from __future__ import annotations

from typing import Literal

from codeplan.envs.webshop.pages import PageElement, ShopPage, score_line

ObservationMode = Literal["text_rich", "text", "react", "adapt"]

CLIENT_PRODUCTS = 3
"""Products of a results page that the ReAct and ADaPT clients show; ADaPT's Table 8 compares 3 and 10."""

ADAPT_PREFIX = "I am looking to buy a product. "


def write_rich(page: ShopPage) -> str:
    """One element per line, with buttons marked; chosen option values are listed first."""
    clicked = [f"You have clicked {element.text}.\n" for element in reversed(page) if element.chosen]
    return "".join(clicked) + "".join(f"{_write_rich_element(element)}\n" for element in page)


def write_simple(page: ShopPage) -> str:
    """All elements on one line; buttons and chosen values are not marked."""
    return " [SEP] ".join(element.text.strip() for element in page)


def write_brief(page: ShopPage, products: int = CLIENT_PRODUCTS) -> str:
    """The shorter form of the clients of ReAct (Yao et al., 2023) and ADaPT, without the instruction.

    A page of results has the first ``products`` of its products.
    """
    if score := score_line(page):
        return score
    shown = (page[0]._replace(text="Webshop"), *page[1:]) if page[0].text == "WebShop" else page[2:]
    return "".join(map(_write_brief_element, _limit_products(shown, products)))


def write_page(page: ShopPage, mode: ObservationMode, products: int = CLIENT_PRODUCTS) -> str:
    """A page in a text form; ``products`` counts only in the clients' form."""
    if mode == "text_rich":
        return write_rich(page)
    return write_simple(page) if mode == "text" else write_brief(page, products)


def _write_rich_element(element: PageElement) -> str:
    mark = "clicked button" if element.chosen else "button"
    before = {"text": "", "asin": "\n", "value": "  "}.get(element.kind, "")
    return element.text if element.kind == "text" else f"{before}[{mark}] {element.text} [{mark}_]"


def _write_brief_element(element: PageElement) -> str:
    if element.kind == "value":
        return f"[[{element.text}]]" if element.chosen else f"[{element.text}]"
    if element.kind == "text":
        return f"\n{element.text} " if element.text.strip() else ""
    return f"\n[{element.text}] "


def _limit_products(page: ShopPage, products: int) -> ShopPage:
    """The page up to its last shown product."""
    starts = [i for i, element in enumerate(page) if element.kind == "asin"]
    return page[: starts[products]] if len(starts) > products else page
