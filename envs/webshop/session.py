"""A buyer's way through the shop: where an episode stands, and where an action leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from codeplan.envs.webshop import pages, search
from codeplan.envs.webshop.loading import Shop
from codeplan.envs.webshop.pages import BACK, BUY, NEXT, PER_PAGE, PREVIOUS, Page, Piece
from codeplan.types import Value

_ACTION = re.compile(r"([^\[]+)\[(.+)\]")


class Moment(Value, frozen=True):
    """Where an episode stands: all that is needed to go on from there. Kept by reference, never copied.

    ``found`` are the numbers of the products that the last search found, ``number`` counts its pages from 1, ``asked``
    counts the searches; ``product`` is the number of the product that is looked at, 0 for none; ``sub_page`` what is
    read about it; ``chosen`` are the values chosen, by the options' names.
    """

    page: Literal["search", "results", "item", "sub", "done"] = "search"
    found: tuple[int, ...] = ()
    number: int = 1
    asked: int = 0
    product: int = 0
    sub_page: str = ""
    chosen: Mapping[str, str] = {}
    actions: int = 0
    done: bool = False
    success: bool = False
    reward: float = 0.0


class Visit(Value, frozen=True):
    """What stays the same in an episode: the shop, the goal's sentence, the pages that items have, a seed."""

    shop: Shop
    instruction: str
    sub_pages: tuple[str, ...] = pages.SUB_PAGES[:-1]
    seed: str = ""


def parsed(action: str) -> tuple[str, str]:
    """The verb and the object of an action (``click[Buy Now]``), the latter in small letters; empty where none."""
    found = _ACTION.match(action)
    return (found[1], found[2].lower()) if found else ("", "")


def page(visit: Visit, moment: Moment) -> Page:
    """The page that a moment shows."""
    goods = visit.shop.catalogue
    if moment.page == "search":
        return pages.search_page(visit.instruction)
    if moment.page == "results":
        start = (moment.number - 1) * PER_PAGE
        shown = [goods.product(id) for id in moment.found[start : start + PER_PAGE]]
        return pages.results_page(visit.instruction, shown, moment.number, len(moment.found))
    if moment.page == "item":
        return pages.item_page(visit.instruction, goods.product(moment.product), moment.chosen, visit.sub_pages)
    if moment.page == "sub":
        return pages.sub_page(visit.instruction, goods.product(moment.product), moment.sub_page)
    return pages.last_page(goods.product(moment.product), moment.chosen, moment.reward)


def act(visit: Visit, moment: Moment, action: str) -> Moment:
    """Where an action leads; the same moment where it cannot be done. Buying leads to the page ``done``, unrewarded.

    A search may be made on every page; a click must be on something that the page shows, upper case or lower.
    """
    verb, wanted = parsed(action)
    if verb == "search":
        return _search(visit, moment, wanted)
    clicked = clickable(page(visit, moment)).get(wanted) if verb == "click" else None
    return moment if clicked is None else _click(visit, moment, clicked)


def clickable(shown: Page) -> dict[str, Piece]:
    """What can be clicked on a page, by what a click on it is called. Of two that are called alike the last counts."""
    others = {piece.click: piece for piece in shown if piece.click and piece.kind != "value"}
    values = {piece.click: piece for piece in shown if piece.kind == "value"}
    return {name: piece for name, piece in (others | values).items() if name != pages.SEARCH.lower()}


def _search(visit: Visit, moment: Moment, query: str) -> Moment:
    found = search.find(visit.shop.catalogue, visit.shop.texts, query, f"{visit.seed} {moment.asked}")
    return Moment(page="results", found=found, asked=moment.asked + 1, actions=moment.actions)


def _click(visit: Visit, moment: Moment, piece: Piece) -> Moment:
    if piece.kind == "asin":
        number = visit.shop.catalogue.number_of(piece.text)
        return _changed(moment, page="item", product=number)
    if piece.kind == "value":
        return _changed(moment, chosen={**moment.chosen, piece.option: piece.text})
    if piece.text in pages.SUB_PAGES:
        return _changed(moment, page="sub", sub_page=piece.text)
    return _BUTTONS[piece.text](moment)


def _changed(moment: Moment, **changes: object) -> Moment:
    return msgspec.structs.replace(moment, **changes)


def _previous(moment: Moment) -> Moment:
    if moment.page == "sub":
        return _changed(moment, page="item")
    if moment.page == "item":
        return _changed(moment, page="results", chosen={})
    return _changed(moment, number=moment.number - 1)


_BUTTONS: dict[str, Callable[[Moment], Moment]] = {
    BACK: lambda moment: Moment(asked=moment.asked, actions=moment.actions),
    PREVIOUS: _previous,
    NEXT: lambda moment: _changed(moment, number=moment.number + 1),
    BUY: lambda moment: _changed(moment, page="done"),
}
