"""The state of a WebShop episode, how actions change it, the pages it shows, and their text forms.

A page is a list of elements. Its forms are WebShop's two, and that of the clients of ReAct and ADaPT, which also
present the shop in their own way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from codeplan.envs.base import EpisodeSnapshot
from codeplan.envs.webshop.catalogue import find_products
from codeplan.envs.webshop.goals import Product
from codeplan.envs.webshop.loading import ShopData
from codeplan.types import Value

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


def text_page(instruction: str, product: Product, which: str) -> ShopPage:
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


_ACTION = re.compile(r"([^\[]+)\[(.+)\]")
_PRODUCT_ID = re.compile(r"\bB[0-9A-Z]{9}\b")


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
    sub_pages: tuple[str, ...] = SUB_PAGES[:-1]
    seed: str = ""


def parse_action(action: str) -> tuple[str, str]:
    """The verb and the lower-case argument of an action such as ``click[Buy Now]``; two empty texts if malformed."""
    match = _ACTION.match(action)
    return (match[1], match[2].lower()) if match else ("", "")


def render_page(context: WebShopContext, snapshot: WebShopSnapshot) -> ShopPage:
    """The page that the snapshot shows."""
    catalogue = context.shop.catalogue
    if snapshot.page == "search":
        return search_page(context.instruction)
    if snapshot.page == "results":
        start = (snapshot.page_number - 1) * PER_PAGE
        shown = [catalogue.product(id) for id in snapshot.results[start : start + PER_PAGE]]
        return results_page(context.instruction, shown, snapshot.page_number, len(snapshot.results))
    product = catalogue.product(snapshot.product)
    if snapshot.page == "item":
        return item_page(context.instruction, product, snapshot.chosen, context.sub_pages)
    if snapshot.page == "sub":
        return text_page(context.instruction, product, snapshot.sub_page)
    return last_page(product, snapshot.chosen, snapshot.reward)


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
    return {name: element for name, element in (others | values).items() if name != SEARCH.lower()}


def _search(context: WebShopContext, snapshot: WebShopSnapshot, query: str) -> WebShopSnapshot:
    seed = f"{context.seed} {snapshot.searches}"
    results = find_products(context.shop.catalogue, context.shop.text_index, query, seed)
    return WebShopSnapshot(page="results", results=results, searches=snapshot.searches + 1, actions=snapshot.actions)


def _click(context: WebShopContext, snapshot: WebShopSnapshot, element: PageElement) -> WebShopSnapshot:
    replace = msgspec.structs.replace
    if element.kind == "asin":
        return replace(snapshot, page="item", product=context.shop.catalogue.number_of(element.text))
    if element.kind == "value":
        return replace(snapshot, chosen={**snapshot.chosen, element.option: element.text})
    if element.text in SUB_PAGES:
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


ObservationMode = Literal["text_rich", "text", "react", "adapt"]


# ------------------------------------------------------------------ text forms of a page

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


# ------------------------------------------------------------------ the clients of ReAct and ADaPT

INVALID_ACTION = "Invalid action!"


class WebShopControl:
    """The control of the shop's pages; a ``codeplan.protocols.ShopControl``."""

    open_features = "click[Features]"

    def search(self, query: str) -> str:
        """The action that searches from the first page."""
        return f"search[{query.strip('[]')}]"

    def open_product(self, id: str) -> str:
        """The action that opens a product of the page of results."""
        return f"click[{id}]"

    def product_ids(self, text: str) -> list[str]:
        """The ids of products in a text, each once, in order."""
        return list(dict.fromkeys(_PRODUCT_ID.findall(text)))

    def buys(self, action: str) -> bool:
        """Whether an action buys the open product."""
        return action.lower() == f"click[{BUY.lower()}]"


def apply_client_action(
    context: WebShopContext, snapshot: WebShopSnapshot, action: str, products: int = CLIENT_PRODUCTS
) -> tuple[WebShopSnapshot, str]:
    """The snapshot after an action, and the client's answer.

    Searches work on the search page only, and button names are case-sensitive. Only the first page of results is
    reachable, and it shows the first ``products``. A click on an option is answered with a sentence, a thought
    with ``OK.``
    """
    if action.startswith("think["):
        return snapshot, "OK."
    if not is_allowed(context, snapshot, action):
        return snapshot, INVALID_ACTION
    after = apply_action(context, snapshot, action)
    if after.page == snapshot.page == "item":
        return after, f"You have clicked {_button_of(action)}."
    return after, write_brief(render_page(context, after), products)


def is_allowed(context: WebShopContext, snapshot: WebShopSnapshot, action: str) -> bool:
    """Whether the client passes the action on to the shop."""
    verb, _ = parse_action(action)
    if verb == "search":
        return snapshot.page == "search"
    if verb != "click" or (snapshot.page == "results" and _button_of(action) in (NEXT, PREVIOUS)):
        return False
    elements = clickable_elements(render_page(context, snapshot))
    return any(element.text == _button_of(action) for element in elements.values())


def _button_of(action: str) -> str:
    return action[action.index("[") + 1 : action.rindex("]")]
