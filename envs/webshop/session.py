"""The state of a WebShop episode and how actions change it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from codeplan.envs.base import EpisodeSnapshot
from codeplan.envs.webshop import pages, search
from codeplan.envs.webshop.loading import ShopData
from codeplan.envs.webshop.pages import BACK, BUY, NEXT, PER_PAGE, PREVIOUS, PageElement, ShopPage
from codeplan.types import Value

_ACTION = re.compile(r"([^\[]+)\[(.+)\]")


class WebShopSnapshot(EpisodeSnapshot, frozen=True):
    """The complete state of an episode.

    ``results`` are the product numbers that the last search found, ``page_number`` counts their pages from 1,
    ``searches`` counts the searches so far. ``product`` is the open product's number, 0 if none is open; ``sub_page``
    names its open text page. ``chosen`` maps option names to the chosen values.
    """

    page: Literal["search", "results", "item", "sub", "done"] = "search"
    results: tuple[int, ...] = ()
    page_number: int = 1
    searches: int = 0
    product: int = 0
    sub_page: str = ""
    chosen: Mapping[str, str] = {}
    reward: float = 0.0


class WebShopContext(Value, frozen=True):
    """The constant data of an episode. ``seed`` determines the products that a random search finds."""

    shop: ShopData
    instruction: str
    sub_pages: tuple[str, ...] = pages.SUB_PAGES[:-1]
    seed: str = ""


def parse_action(action: str) -> tuple[str, str]:
    """The verb and the lower-case argument of an action such as ``click[Buy Now]``; two empty texts if malformed."""
    match = _ACTION.match(action)
    return (match[1], match[2].lower()) if match else ("", "")


def render_page(context: WebShopContext, snapshot: WebShopSnapshot) -> ShopPage:
    """The page that the snapshot shows."""
    catalogue = context.shop.catalogue
    if snapshot.page == "search":
        return pages.search_page(context.instruction)
    if snapshot.page == "results":
        start = (snapshot.page_number - 1) * PER_PAGE
        shown = [catalogue.product(id) for id in snapshot.results[start : start + PER_PAGE]]
        return pages.results_page(context.instruction, shown, snapshot.page_number, len(snapshot.results))
    product = catalogue.product(snapshot.product)
    if snapshot.page == "item":
        return pages.item_page(context.instruction, product, snapshot.chosen, context.sub_pages)
    if snapshot.page == "sub":
        return pages.sub_page(context.instruction, product, snapshot.sub_page)
    return pages.last_page(product, snapshot.chosen, snapshot.reward)


def apply_action(context: WebShopContext, snapshot: WebShopSnapshot, action: str) -> WebShopSnapshot:
    """The snapshot after an action; the same one if the action is not possible.

    Searches work on every page. Clicks must name an element of the page, in upper or lower case. Buying leads to the
    page ``done``; the environment computes the reward.
    """
    verb, argument = parse_action(action)
    if verb == "search":
        return _search(context, snapshot, argument)
    element = clickable_elements(render_page(context, snapshot)).get(argument) if verb == "click" else None
    return snapshot if element is None else _click(context, snapshot, element)


def clickable_elements(page: ShopPage) -> dict[str, PageElement]:
    """The elements that can be clicked, by their click names. If two share a name, the last one counts."""
    others = {element.click_name: element for element in page if element.click_name and element.kind != "value"}
    values = {element.click_name: element for element in page if element.kind == "value"}
    return {name: element for name, element in (others | values).items() if name != pages.SEARCH.lower()}


def _search(context: WebShopContext, snapshot: WebShopSnapshot, query: str) -> WebShopSnapshot:
    seed = f"{context.seed} {snapshot.searches}"
    results = search.find_products(context.shop.catalogue, context.shop.text_index, query, seed)
    return WebShopSnapshot(page="results", results=results, searches=snapshot.searches + 1, actions=snapshot.actions)


def _click(context: WebShopContext, snapshot: WebShopSnapshot, element: PageElement) -> WebShopSnapshot:
    replace = msgspec.structs.replace
    if element.kind == "asin":
        return replace(snapshot, page="item", product=context.shop.catalogue.number_of(element.text))
    if element.kind == "value":
        return replace(snapshot, chosen={**snapshot.chosen, element.option: element.text})
    if element.text in pages.SUB_PAGES:
        return replace(snapshot, page="sub", sub_page=element.text)
    return _BUTTONS[element.text](snapshot)


def _go_back(snapshot: WebShopSnapshot) -> WebShopSnapshot:
    if snapshot.page == "sub":
        return msgspec.structs.replace(snapshot, page="item")
    if snapshot.page == "item":
        return msgspec.structs.replace(snapshot, page="results", chosen={})
    return msgspec.structs.replace(snapshot, page_number=snapshot.page_number - 1)


_BUTTONS: dict[str, Callable[[WebShopSnapshot], WebShopSnapshot]] = {
    BACK: lambda snapshot: WebShopSnapshot(searches=snapshot.searches, actions=snapshot.actions),
    PREVIOUS: _go_back,
    NEXT: lambda snapshot: msgspec.structs.replace(snapshot, page_number=snapshot.page_number + 1),
    BUY: lambda snapshot: msgspec.structs.replace(snapshot, page="done"),
}
