"""The forms in which a page is written down: WebShop's two, and that of the clients of ReAct and ADaPT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from codeplan.envs.webshop.pages import PageElement, ShopPage, score_line

ObservationMode = Literal["text_rich", "text", "react", "adapt"]

MAX_PRODUCTS_SHOWN = 3
"""How many products of a page of results the clients of ReAct and ADaPT show."""

ADAPT_PREFIX = "I am looking to buy a product. "


def write_rich(page: ShopPage) -> str:
    """One piece a line, what can be clicked in marks; what has been chosen is said first."""
    said = [f"You have clicked {piece.text}.\n" for piece in reversed(page) if piece.chosen]
    return "".join(said) + "".join(f"{_rich(piece)}\n" for piece in page)


def write_simple(page: ShopPage) -> str:
    """All pieces on one line; what can be clicked, and what has been chosen, cannot be told."""
    return " [SEP] ".join(piece.text.strip() for piece in page)


def write_brief(page: ShopPage) -> str:
    """As the clients of ReAct (Yao et al., 2023) and ADaPT write it: shorter, and without the instruction."""
    if told := score_line(page):
        return told
    shown = (page[0]._replace(text="Webshop"), *page[1:]) if page[0].text == "WebShop" else page[2:]
    return "".join(map(_brief, _first_offers(shown)))


PAGE_WRITERS: dict[ObservationMode, Callable[[ShopPage], str]] = {
    "text_rich": write_rich,
    "text": write_simple,
    "react": write_brief,
    "adapt": write_brief,
}
"""How each mode writes a page."""


def _rich(piece: PageElement) -> str:
    mark = "clicked button" if piece.chosen else "button"
    before = {"text": "", "asin": "\n", "value": "  "}.get(piece.kind, "")
    return piece.text if piece.kind == "text" else f"{before}[{mark}] {piece.text} [{mark}_]"


def _brief(piece: PageElement) -> str:
    if piece.kind == "value":
        return f"[[{piece.text}]]" if piece.chosen else f"[{piece.text}]"
    if piece.kind == "text":
        return f"\n{piece.text} " if piece.text.strip() else ""
    return f"\n[{piece.text}] "


def _first_offers(page: ShopPage) -> ShopPage:
    """The page without what follows its first products."""
    starts = [i for i, piece in enumerate(page) if piece.kind == "asin"]
    return page[: starts[MAX_PRODUCTS_SHOWN]] if len(starts) > MAX_PRODUCTS_SHOWN else page
