"""The forms in which a page is written down: WebShop's two, and that of the clients of ReAct and ADaPT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from codeplan.envs.webshop.pages import Page, Piece, score

Mode = Literal["text_rich", "text", "react", "adapt"]

SHOWN = 3
"""How many products of a page of results the clients of ReAct and ADaPT show."""

ADAPT_BEGINS = "I am looking to buy a product. "


def rich(page: Page) -> str:
    """One piece a line, what can be clicked in marks; what has been chosen is said first."""
    said = [f"You have clicked {piece.text}.\n" for piece in reversed(page) if piece.chosen]
    return "".join(said) + "".join(f"{_rich(piece)}\n" for piece in page)


def simple(page: Page) -> str:
    """All pieces on one line; what can be clicked, and what has been chosen, cannot be told."""
    return " [SEP] ".join(piece.text.strip() for piece in page)


def brief(page: Page) -> str:
    """As the clients of ReAct (Yao et al., 2023) and ADaPT write it: shorter, and without the instruction."""
    if told := score(page):
        return told
    shown = (page[0]._replace(text="Webshop"), *page[1:]) if page[0].text == "WebShop" else page[2:]
    return "".join(map(_brief, _first_offers(shown)))


WRITTEN: dict[Mode, Callable[[Page], str]] = {"text_rich": rich, "text": simple, "react": brief, "adapt": brief}
"""How each mode writes a page."""


def _rich(piece: Piece) -> str:
    mark = "clicked button" if piece.chosen else "button"
    before = {"text": "", "asin": "\n", "value": "  "}.get(piece.kind, "")
    return piece.text if piece.kind == "text" else f"{before}[{mark}] {piece.text} [{mark}_]"


def _brief(piece: Piece) -> str:
    if piece.kind == "value":
        return f"[[{piece.text}]]" if piece.chosen else f"[{piece.text}]"
    if piece.kind == "text":
        return f"\n{piece.text} " if piece.text.strip() else ""
    return f"\n[{piece.text}] "


def _first_offers(page: Page) -> Page:
    """The page without what follows its first products."""
    starts = [i for i, piece in enumerate(page) if piece.kind == "asin"]
    return page[: starts[SHOWN]] if len(starts) > SHOWN else page
