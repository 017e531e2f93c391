"""The shop as the clients of ReAct and ADaPT present it, where that differs from WebShop itself."""

from __future__ import annotations

from codeplan.envs.webshop import session
from codeplan.envs.webshop.formats import CLIENT_PRODUCTS, write_brief
from codeplan.envs.webshop.pages import NEXT, PREVIOUS
from codeplan.envs.webshop.session import WebShopContext, WebShopSnapshot

INVALID_ACTION = "Invalid action!"


def apply_action(
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
    after = session.apply_action(context, snapshot, action)
    if after.page == snapshot.page == "item":
        return after, f"You have clicked {_button_of(action)}."
    return after, write_brief(session.render_page(context, after), products)


def is_allowed(context: WebShopContext, snapshot: WebShopSnapshot, action: str) -> bool:
    """Whether the client passes the action on to the shop."""
    verb, _ = session.parse_action(action)
    if verb == "search":
        return snapshot.page == "search"
    if verb != "click" or (snapshot.page == "results" and _button_of(action) in (NEXT, PREVIOUS)):
        return False
    elements = session.clickable_elements(session.render_page(context, snapshot))
    return any(element.text == _button_of(action) for element in elements.values())


def _button_of(action: str) -> str:
    return action[action.index("[") + 1 : action.rindex("]")]
