"""The agent that plans for WebShop act through. Its docstrings are the API that a model is shown."""

from __future__ import annotations

import re
from typing import Any

from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types.task import Observation

_BUTTON = re.compile(r"^( *)\[(clicked )?button\] (.*) \[(?:clicked )?button_\]$")
_OFFER = re.compile(r"^\[button\] (\S{1,10}) \[button_\]\n(.*)\n(\$.*)$", re.MULTILINE)
_PRICE = re.compile(r"^Price: (\$.*)$", re.MULTILINE)
_INSTRUCTION = re.compile(r"^Instruction: ?\n(.*)$", re.MULTILINE)


class WebShopAgent:
    """A buyer in a web shop: it searches, opens a product by its id, chooses its options and buys it.

    instruction is what to buy; page is the text of the page that is open now. The purchase ends the task, and counts
    only if the product is of the right kind, has what the instruction asks for, at a price it allows, and each option
    that the instruction names is chosen.
    """

    instruction: str
    page: str

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self.page = observation.text if observation else ""
        found = _INSTRUCTION.search(self.page)
        self.instruction = found[1] if found else ""
        self._act = act
        self._last: tuple[str, str] | None = None

    def search(self, query: str) -> str:
        """Search for products by words, from any page, and return the first page of results: ten, the best first.

        Few and plain words find most: what it is, and what matters most about it.
        """
        return self._do(f"search[{' '.join(str(query).split())}]")

    def click(self, button: str) -> str:
        """Click on something that the page shows and return the page that opens. It is named by its text.

        On results: a product's id, "Next >", "< Prev". On a product: the value of an option, "Description", "Features",
        "< Prev", "Buy Now". On all of these: "Back to Search". Of each option one value can be chosen. What the page
        does not show cannot be clicked, and the page stays as it is.
        """
        return self._do(f"click[{button}]")

    def results(self) -> list[dict[str, Any]]:
        """Return the products on the page of results that is open, the best match first; none on other pages.

        This reads the page again and is no action. The price is in dollars, of a range the upper end.
        Example: [{"id": "B07XYZ1234", "title": "Men's T-Shirt, 3-Pack", "price": 15.99}]
        """
        return [{"id": m[1], "title": m[2], "price": _dollars(m[3])} for m in _OFFER.finditer(self._readable())]

    def options(self) -> dict[str, list[str]]:
        """Return the values of each option of the product whose page is open; empty where there are none.

        This reads the page again and is no action. Example: {"color": ["black", "navy"], "size": ["small", "large"]}
        """
        found: dict[str, list[str]] = {}
        name = ""
        for line in self._readable().split("\n"):
            button = _BUTTON.match(line)
            if button and button[1]:
                found.setdefault(name, []).append(button[3])
            name = name if button else line
        return found

    def chosen(self) -> list[str]:
        """Return the values of options that the page shows as chosen. This reads the page again and is no action."""
        buttons = map(_BUTTON.match, self._readable().split("\n"))
        return [button[3] for button in buttons if button and button[2]]

    def price(self) -> float | None:
        """Return the price of the product whose page is open, in dollars, of a range the upper end; None elsewhere.

        This reads the page again and is no action.
        """
        found = _PRICE.search(self.page)
        return _dollars(found[1]) if found else None

    def buttons(self) -> list[str]:
        """Return all that can be clicked on the page that is open. This reads the page again and is no action."""
        buttons = map(_BUTTON.match, self._readable().split("\n"))
        return [button[3] for button in buttons if button and button[3] != "Search"]

    def report(self) -> str:
        """Return what to buy, the last action and the page it led to, for the message of an assertion.

        Example: "I am to buy: a small black t-shirt. Last action: 'click[black]'; the page now: You have clicked …"
        """
        state = f"I am to buy: {self.instruction or 'what I do not know'}."
        if self._last is None:
            return f"{state} I have not acted yet."
        action, answer = self._last
        return f"{state} Last action: '{action}'; the page now: {_shortened(answer)}"

    def _do(self, action: str) -> str:
        self.page = self._act(action).text
        self._last = action, self.page
        return self.page

    def _readable(self) -> str:
        """The page, where its form tells what is what."""
        if self.page and "[button" not in self.page and not self.page.startswith("Thank you"):
            raise AgentError(
                "this page does not mark its buttons, so they cannot be listed; read the page's text, or have the "
                "environment made with observation_mode='text_rich'"
            )
        return self.page


def _dollars(tag: str) -> float:
    """The upper end of what a price tag says."""
    return float(re.findall(r"\d+(?:\.\d+)?", tag)[-1])


def _shortened(text: str) -> str:
    line = " | ".join(line.strip() for line in text.split("\n") if line.strip())
    return line if len(line) <= 400 else f"{line[:400]}…"
