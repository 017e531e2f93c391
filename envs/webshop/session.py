"""A buyer's way through the shop: where an episode stands, and where an action leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from codeplan.envs.webshop import pages, search
from codeplan.envs.webshop.loading import ShopData
from codeplan.envs.webshop.pages import BACK, BUY, NEXT, PER_PAGE, PREVIOUS, PageElement, ShopPage
from codeplan.types.value import Value

_ACTION = re.compile(r"([^\[]+)\[(.+)\]")


class WebShopSnapshot(Value, frozen=True):
    """Where an episode stands: all that is needed to go on from there. Kept by reference, never copied.

    ``found`` are the numbers of the products that the last search found, ``number`` counts its pages from 1, ``asked``
    counts the searches; ``product`` is the number of the product that is looked at, 0 for none; ``sub_page`` what is
    read about it; ``chosen`` are the values chosen, by the options' names.
    """

    page: Literal["search", "results", "item", "sub", "done"] = "search"
    results: tuple[int, ...] = ()
    page_number: int = 1
    searches: int = 0
    product: int = 0
    sub_page: str = ""
    chosen: Mapping[str, str] = {}
    actions: int = 0
    done: bool = False
    success: bool = False
    reward: float = 0.0


class WebShopContext(Value, frozen=True):
    """What stays the same in an episode: the shop, the goal's sentence, the pages that items have, a seed."""

    shop: ShopData
    instruction: str
    sub_pages: tuple[str, ...] = pages.SUB_PAGES[:-1]
    seed: str = ""


def parse_action(action: str) -> tuple[str, str]:
    """The verb and the object of an action (``click[Buy Now]``), the latter in small letters; empty where none."""
    found = _ACTION.match(action)
    return (found[1], found[2].lower()) if found else ("", "")


def render_page(visit: WebShopContext, moment: WebShopSnapshot) -> ShopPage:
    """The page that a moment shows."""
    goods = visit.shop.catalogue
    if moment.page == "search":
        return pages.search_page(visit.instruction)
    if moment.page == "results":
        start = (moment.page_number - 1) * PER_PAGE
        shown = [goods.product(id) for id in moment.results[start : start + PER_PAGE]]
        return pages.results_page(visit.instruction, shown, moment.page_number, len(moment.results))
    if moment.page == "item":
        return pages.item_page(visit.instruction, goods.product(moment.product), moment.chosen, visit.sub_pages)
    if moment.page == "sub":
        return pages.sub_page(visit.instruction, goods.product(moment.product), moment.sub_page)
    return pages.last_page(goods.product(moment.product), moment.chosen, moment.reward)


def apply_action(visit: WebShopContext, moment: WebShopSnapshot, action: str) -> WebShopSnapshot:
    """Where an action leads; the same moment where it cannot be done. Buying leads to the page ``done``, unrewarded.

    A search may be made on every page; a click must be on something that the page shows, upper case or lower.
    """
    verb, wanted = parse_action(action)
    if verb == "search":
        return _search(visit, moment, wanted)
    clicked = clickable_elements(render_page(visit, moment)).get(wanted) if verb == "click" else None
    return moment if clicked is None else _click(visit, moment, clicked)


def clickable_elements(shown: ShopPage) -> dict[str, PageElement]:
    """What can be clicked on a page, by what a click on it is called. Of two that are called alike the last counts."""
    others = {piece.click_name: piece for piece in shown if piece.click_name and piece.kind != "value"}
    values = {piece.click_name: piece for piece in shown if piece.kind == "value"}
    return {name: piece for name, piece in (others | values).items() if name != pages.SEARCH.lower()}


def _search(visit: WebShopContext, moment: WebShopSnapshot, query: str) -> WebShopSnapshot:
    found = search.find_products(visit.shop.catalogue, visit.shop.text_index, query, f"{visit.seed} {moment.searches}")
    return WebShopSnapshot(page="results", results=found, searches=moment.searches + 1, actions=moment.actions)


def _click(visit: WebShopContext, moment: WebShopSnapshot, piece: PageElement) -> WebShopSnapshot:
    if piece.kind == "asin":
        number = visit.shop.catalogue.number_of(piece.text)
        return _changed(moment, page="item", product=number)
    if piece.kind == "value":
        return _changed(moment, chosen={**moment.chosen, piece.option: piece.text})
    if piece.text in pages.SUB_PAGES:
        return _changed(moment, page="sub", sub_page=piece.text)
    return _BUTTONS[piece.text](moment)


def _changed(moment: WebShopSnapshot, **changes: object) -> WebShopSnapshot:
    return msgspec.structs.replace(moment, **changes)


def _previous(moment: WebShopSnapshot) -> WebShopSnapshot:
    if moment.page == "sub":
        return _changed(moment, page="item")
    if moment.page == "item":
        return _changed(moment, page="results", chosen={})
    return _changed(moment, page_number=moment.page_number - 1)


_BUTTONS: dict[str, Callable[[WebShopSnapshot], WebShopSnapshot]] = {
    BACK: lambda moment: WebShopSnapshot(searches=moment.searches, actions=moment.actions),
    PREVIOUS: _previous,
    NEXT: lambda moment: _changed(moment, page_number=moment.page_number + 1),
    BUY: lambda moment: _changed(moment, page="done"),
}
