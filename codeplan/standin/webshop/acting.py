"""Acts in WebShop turn by turn, and splits errands."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codeplan.standin.executor_prompt import COMPLETED_LINE, ExecutorPrompt, give_up_line
from codeplan.standin.webshop.page_reading import (
    PageKind,
    ShopOffer,
    is_product_id,
    page_kind,
    read_offers,
    read_options,
    read_product_text,
)
from codeplan.standin.webshop.planning import ParsedShoppingGoal, choose_value, lacking_words, parse_goal

_ACTION = re.compile(r"(search|click)\[(.*)\]")
_FIND = "open the product that fits best: "
_BUY = "choose the options and buy it: "
_LESSON = "I have to choose each option that the instruction names before I buy."
_MAX_LOOKS = 2
"""Products that it reads before it buys: ADaPT's executors have 14 lines."""


def act(prompt: ExecutorPrompt, weakness: str) -> str | None:
    """The next line; None if the goal is not understood."""
    goal = parse_goal(_errand(prompt.goal))
    if goal is None:
        return None
    visit = _ShopVisit(goal, [*prompt.earlier_turns, *prompt.turns], any_product=prompt.goal.startswith(_BUY))
    if visit.page == "done" or (prompt.goal.startswith(_FIND) and visit.has_decided):
        return COMPLETED_LINE
    if weakness == "span" and visit.has_decided and not prompt.goal.startswith(_BUY):
        return give_up_line("its options are more than I can keep in mind")
    forgets = weakness == "forgetful" and _LESSON not in prompt.notes
    return visit.next_action(chooses=not forgets)


def decompose(prompt: ExecutorPrompt) -> list[str] | None:
    """Finding and buying, as two sub-goals; None if the goal is not understood."""
    errand = _errand(prompt.goal)
    if parse_goal(errand) is None:
        return None
    return [prompt.goal] if errand != prompt.goal else [_FIND + errand, _BUY + errand]


def reflect(prompt: ExecutorPrompt) -> str:
    """The lesson of a failed trial."""
    bought = any(said == "click[Buy Now]" for said, _ in prompt.turns)
    return _LESSON if bought else "I have to search with fewer and plainer words."


def write_general_plan(reflections: str) -> str:
    """A plan in words for all errands, from the lessons of some."""
    steps = ["Search for what it is in plain words, and open the product whose title fits best and is cheap enough."]
    if _LESSON in reflections:
        steps.append(_LESSON)
    steps.append("Buy it.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _errand(goal: str) -> str:
    return goal.removeprefix(_FIND).removeprefix(_BUY)


class _ShopVisit:
    """The state after some turns. With ``any_product`` the product that is open is the one to buy."""

    def __init__(self, goal: ParsedShoppingGoal, turns: Iterable[tuple[str, str]], *, any_product: bool) -> None:
        self._goal, self._any_product = goal, any_product
        self.page: PageKind = "search"
        self._open, self._searches = "", 0
        self._offers: list[ShopOffer] = []
        self._options: dict[str, list[str]] = {}
        self._chosen: set[str] = set()
        self._read: dict[str, str] = {}
        self._studied: set[str] = set()
        for said, answer in turns:
            if action := _ACTION.fullmatch(said):
                self._apply(action[1], action[2], answer)

    @property
    def has_decided(self) -> bool:
        """Whether the product to buy is open."""
        return self.page == "item" and (self._any_product or (self._open != "" and self._open == self._best()))

    def next_action(self, *, chooses: bool) -> str:
        if self.page == "search":
            queries = self._queries()
            if self._searches >= len(queries):
                return give_up_line("the shop has nothing like it that I can afford")
            return f"search[{queries[self._searches]}]"
        if self.page == "results":
            wanted = self._best() or next((offer.id for offer in self._unread()), "")
            return f"click[{wanted or 'Back to Search'}]"
        if self.page == "sub":
            return "click[< Prev]"
        if not self._any_product and self._open not in self._studied and self._lacking(self._open):
            return "click[Features]"
        if not self.has_decided:
            return "click[< Prev]"
        missing = [value for value in self._wanted_values() if value not in self._chosen] if chooses else []
        return f"click[{missing[0] if missing else 'Buy Now'}]"

    # -------------------------------------------------------------- what a turn changes

    def _apply(self, verb: str, argument: str, answer: str) -> None:
        if answer.startswith("Invalid action"):
            self.page, self._offers = "results", []  # some page that an earlier attempt left open
            return
        self._searches += verb == "search"
        before, self.page = self.page, page_kind(answer) or self.page
        if self.page == "results":
            self._offers = read_offers(answer)
        elif self.page == "sub":
            self._studied.add(self._open)
            self._read[self._open] = f"{self._read.get(self._open, '')} {read_product_text(answer)}"
        elif self.page == "item" and (before != "item" or is_product_id(argument)):
            self._open_product(argument, answer)
        elif self.page == "item":
            self._chosen.add(argument)

    def _open_product(self, argument: str, page: str) -> None:
        """Note what a product's page says, opened by its id or again from one of its text pages."""
        self._open = argument if is_product_id(argument) else self._open
        self._options, self._chosen = read_options(page), set()
        self._read.setdefault(self._open, read_product_text(page))

    # -------------------------------------------------------------- what to do

    def _queries(self) -> list[str]:
        """What to search for, until something is found."""
        goal = self._goal
        return list(dict.fromkeys([goal.query, " ".join(goal.words), " ".join(goal.query.split()[-2:])]))

    def _candidates(self) -> list[ShopOffer]:
        """The products that are worth a look, best title first."""
        cap = self._goal.max_price
        affordable = [offer for offer in self._offers if cap is None or offer.price < cap]
        return sorted(affordable, key=lambda offer: len(lacking_words(self._goal, offer.title)))[:_MAX_LOOKS]

    def _unread(self) -> list[ShopOffer]:
        return [offer for offer in self._candidates() if offer.id not in self._studied and self._lacking(offer.id)]

    def _best(self) -> str:
        """The product to buy: the first that lacks nothing, or, once all are read, the one that lacks least."""
        ids = [offer.id for offer in self._candidates()]
        complete = next((id for id in ids if not self._lacking(id)), "")
        return complete or ("" if self._unread() else min(ids, key=lambda id: len(self._lacking(id)), default=""))

    def _lacking(self, id: str) -> list[str]:
        return lacking_words(self._goal, self._read.get(id, ""))

    def _wanted_values(self) -> list[str]:
        chosen = (choose_value(self._goal.text, name, values) for name, values in self._options.items())
        return [value for value in chosen if value]
