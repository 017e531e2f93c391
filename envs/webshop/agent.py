"""The agent of WebShop plans. Models read its docstrings as the API."""

from __future__ import annotations

import re
from typing import Any

from codeplan.envs.base import ActionLog
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types import Observation
from codeplan.untrusted.values import in_quotes

_BUTTON = re.compile(r"^( *)\[(clicked )?button\] (.*) \[(?:clicked )?button_\]$")
_RESULT = re.compile(r"^\[button\] (\S{1,10}) \[button_\]\n(.*)\n(\$.*)$", re.MULTILINE)
_PRICE = re.compile(r"^Price: (\$.*)$", re.MULTILINE)
_INSTRUCTION = re.compile(r"^Instruction: ?\n(.*)$", re.MULTILINE)


class WebShopAgent:
    """A buyer in a web shop: it searches, opens a product by its id, chooses its options and buys it.

    instruction says what to buy; page is the text of the open page. Buying ends the task and cannot be undone. score
    is what the purchase is worth, from 0.0 to 1.0, and None before the task ends: the share of the requested features,
    options and price limit that are met, less if the product is of another type. Only 1.0 is success: the product is
    of the right type, has everything the instruction asks for, costs no more than the instruction allows, and each
    option that the instruction names is chosen.
    """

    instruction: str
    page: str
    score: float | None

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self.page = observation.text if observation else ""
        self.instruction = _instruction_of(self.page)
        self.score = None
        self._act = act
        self._log = ActionLog(self._act_and_score)

    def search(self, query: str) -> str:
        """Search for products from any page and return the first page of results: up to ten, best match first.

        Use few, plain words: what the product is, and its most important feature.
        Example: agent.search("insulated water bottle") returns "Instruction: … Page 1 (Total results: 32) …"
        """
        return self._do(_search_action(query))

    def click(self, button: str) -> str:
        """Click a button on the page, named by its text, and return the page that opens.

        On a page of results: a product's id, "Next >", "< Prev". On a product's page: the value of an option,
        "Description", "Features", "< Prev", "Buy Now". On all of these: "Back to Search". Each option takes one value.
        Clicking something that the page does not show has no effect. "Buy Now" buys the open product with the chosen
        options and ends the task at once, whatever it is worth; the attribute score then tells.
        Example: agent.click("18 oz") returns "… [clicked button] 18 oz [clicked button_] …"
        """
        return self._do(f"click[{button}]")

    def product(self, id: str) -> dict[str, Any]:
        """Open a product of the open page of results, and return all that the shop says about it.

        Its page is open afterwards, with no option chosen. If a product is open already, this goes back to the results
        first. It takes 5 or 6 actions. The price is in dollars; for a price range it is the upper end.
        Example: agent.product("B011024K4C") returns {"id": "B011024K4C", "title": "Quillon Insulated Water Bottle, …",
        "price": 11.5, "options": {"color": ["sky blue", "coral"], "size": ["12 oz", …]}, "features": ["BPA free
        throughout", …], "description": "The insulated water bottle by Quillon. …"}
        """
        if "Buy Now" in self.buttons():
            self.click("< Prev")
        found = next((result for result in self.results() if result["id"].lower() == str(id).lower()), None)
        if found is None:
            raise AgentError(f"there is no product {in_quotes(id)} on this page; search for it first. {self.report()}")
        self.click(found["id"])
        options = self.options()
        features, description = self._read("Features"), self._read("Description")
        return {**found, "options": options, "features": features, "description": " ".join(description)}

    def results(self) -> list[dict[str, Any]]:
        """Return the products on the open page of results, best match first; an empty list on other pages.

        This takes no action. Prices are in dollars; for a price range it is the upper end.
        Example: agent.results() returns [{"id": "B011024K4C", "title": "Quillon Insulated …", "price": 11.5}, …]
        """
        return [{"id": m[1], "title": m[2], "price": _parse_price(m[3])} for m in _RESULT.finditer(self._marked_page())]

    def options(self) -> dict[str, list[str]]:
        """Return the values of each option of the open product; empty if it has none.

        This takes no action.
        Example: agent.options() returns {"color": ["sky blue", …], "size": ["12 oz", "18 oz", …]}
        """
        found: dict[str, list[str]] = {}
        name = ""
        for line in self._marked_page().split("\n"):
            button = _BUTTON.match(line)
            if button and button[1]:
                found.setdefault(name, []).append(button[3])
            name = name if button else line
        return found

    def chosen(self) -> list[str]:
        """Return the option values that the page shows as chosen. This takes no action.

        Example: agent.chosen() returns ["18 oz"]
        """
        buttons = map(_BUTTON.match, self._marked_page().split("\n"))
        return [button[3] for button in buttons if button and button[2]]

    def price(self) -> float | None:
        """Return the price of the open product in dollars (the upper end of a range); None on other pages.

        This takes no action.
        Example: agent.price() returns 11.5
        """
        found = _PRICE.search(self.page)
        return _parse_price(found[1]) if found else None

    def buttons(self) -> list[str]:
        """Return the text of every button on the open page. This takes no action.

        Example: agent.buttons() returns ["Back to Search", "< Prev", "sky blue", …, "Buy Now"]
        """
        buttons = map(_BUTTON.match, self._marked_page().split("\n"))
        return [button[3] for button in buttons if button and button[3] != "Search"]

    def report(self) -> str:
        """Return what to buy, the last action and the resulting page, for use in assertion messages.

        Example: agent.report() returns "I am to buy: … water bottle, size 18 oz, … Last action: 'click[18 oz]'; the
        page now: You have clicked 18 oz. | …"
        """
        return _describe(self.instruction, self._log)

    def _do(self, action: str) -> str:
        self.page = self._log.act(action)
        return self.page

    def _act_and_score(self, action: str) -> Observation:
        observation = self._act(action)
        if observation.done and self.score is None:
            self.score = observation.reward
        return observation

    def _read(self, button: str) -> list[str]:
        """The lines of a text page of the open product."""
        _, _, text = self.click(button).partition("[button] < Prev [button_]\n")
        self.click("< Prev")
        return [line.strip() for line in text.split("\n") if line.strip()]

    def _marked_page(self) -> str:
        """The page's text. Raises AgentError if the page does not mark its buttons."""
        if self.page and "[button" not in self.page and not self.page.startswith("Thank you"):
            raise AgentError(
                "this page does not mark its buttons, so they cannot be listed; read the page's text, or create the "
                "environment with observation_mode='text_rich'"
            )
        return self.page


class PaperWebShopAgent:
    """A buyer in a web shop: it searches, opens a product by its id, chooses its options and buys it.

    Buying ends the task and cannot be undone. Only a score of 1.0 is success: the product is of the right type, has
    everything the instruction asks for, costs no more than the instruction allows, and each option that the instruction
    names is chosen.
    """

    # the two actions of WebShop (Yao et al., 2022) as methods, which return the page's text

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self._instruction = _instruction_of(observation.text if observation else "")
        self._log = ActionLog(act)

    def search(self, query: str) -> str:
        """Search for products and return the first page of results, best match first.

        Use few, plain words: what the product is, and its most important feature.
        Example: agent.search("insulated water bottle") returns "Instruction: … Page 1 (Total results: 32) …"
        """
        return self._log.act(_search_action(query))

    def click(self, button: str) -> str:
        """Click a button on the page, named by its text, and return the page that opens.

        On a page of results: a product's id, "Next >", "< Prev". On a product's page: the value of an option,
        "Description", "Features", "< Prev", "Buy Now". On all of these: "Back to Search". Each option takes one value.
        Clicking something that the page does not show has no effect. "Buy Now" buys the open product with the chosen
        options and ends the task at once, whatever it is worth; the last page has the score.
        Example: agent.click("18 oz") returns "… [clicked button] 18 oz [clicked button_] …"
        """
        return self._log.act(f"click[{button}]")

    def report(self) -> str:
        """Return what to buy, the last action and the resulting page, for use in assertion messages.

        Example: agent.report() returns "I am to buy: … water bottle, size 18 oz, … Last action: 'click[18 oz]'; the
        page now: You have clicked 18 oz. | …"
        """
        return _describe(self._instruction, self._log)


def _instruction_of(page: str) -> str:
    found = _INSTRUCTION.search(page)
    return found[1] if found else ""


def _search_action(query: object) -> str:
    return f"search[{' '.join(str(query).split())}]"


def _describe(instruction: str, log: ActionLog) -> str:
    last = log.describe_last("the page now", _shorten)
    return f"I am to buy: {instruction or 'what I do not know'}. {last}"


def _parse_price(tag: str) -> float:
    """The price in a tag; the upper end of a range."""
    return float(re.findall(r"\d+(?:\.\d+)?", tag)[-1])


def _shorten(text: str) -> str:
    line = " | ".join(line.strip() for line in text.split("\n") if line.strip())
    return line if len(line) <= 400 else f"{line[:400]}…"
