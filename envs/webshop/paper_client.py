"""What the clients of ReAct and ADaPT allow and answer, where it differs from the shop's own pages."""

from __future__ import annotations

from codeplan.envs.webshop import session
from codeplan.envs.webshop.formats import write_brief
from codeplan.envs.webshop.pages import NEXT, PREVIOUS
from codeplan.envs.webshop.session import WebShopContext, WebShopSnapshot

INVALID_ACTION = "Invalid action!"


def apply_action(visit: WebShopContext, moment: WebShopSnapshot, action: str) -> tuple[WebShopSnapshot, str]:
    """Where an action leads, and the answer to it.

    A search is for the search page alone; a click has to be written as the button is, upper case and lower; there is
    only the first page of results. A click on an option is answered with a sentence, a thought with ``OK.``
    """
    if action.startswith("think["):
        return moment, "OK."
    if not is_allowed(visit, moment, action):
        return moment, INVALID_ACTION
    after = session.apply_action(visit, moment, action)
    if after.page == moment.page == "item":
        return after, f"You have clicked {_object(action)}."
    return after, write_brief(session.render_page(visit, after))


def is_allowed(visit: WebShopContext, moment: WebShopSnapshot, action: str) -> bool:
    """Whether the client passes the action on to the shop."""
    verb, _ = session.parse_action(action)
    if verb == "search":
        return moment.page == "search"
    if verb != "click" or (moment.page == "results" and _object(action) in (NEXT, PREVIOUS)):
        return False
    return any(
        piece.text == _object(action)
        for piece in session.clickable_elements(session.render_page(visit, moment)).values()
    )


def _object(action: str) -> str:
    return action[action.index("[") + 1 : action.rindex("]")]
