"""The stand-in's rules for WebShop: it compares offers by the words of the instruction.

It reads pages in the forms that mark buttons: WebShop's own and that of ReAct's client. It also answers ADaPT's
sub-tasks, which plan in modules, match products, and buy an open product.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from string import Template
from typing import Literal, NamedTuple

from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix, first_match
from codeplan.standin.prompt_reading import COMPLETED_LINE, ExecutorPrompt, find_section, give_up_line
from codeplan.types import Value

PageKind = Literal["search", "results", "item", "sub", "done"]

_BUTTON = re.compile(r"( *)\[(?:clicked )?button\] (.*) \[(?:clicked )?button_\]")
_OPTION = re.compile(r"([^\[\]\n]+) ((?:\[{1,2}[^\[\]\n]+\]{1,2})+)")
_ID = re.compile(r"(?:\[button\] |\[)([A-Z0-9]{10})(?: \[button_\]|\])")
_PRICE = re.compile(r"\d+(?:\.\d+)?")


class ShopOffer(NamedTuple):
    """A product on a page of results. ``price`` is in dollars, the upper end of a range."""

    id: str
    title: str
    price: float


def is_product_id(text: str) -> bool:
    """Whether a button's text has the form of a product's id."""
    return re.fullmatch(r"[A-Z0-9]{10}", text) is not None


def page_kind(page: str) -> PageKind | None:
    """The kind of a page; None if the text is none, as the answer to a click on an option in ReAct's client."""
    if "Your score" in page:
        return "done"
    if "Back to Search" not in page:
        return "search" if "Search" in page else None
    if re.search(r"^Page \d+ \(Total results", page, re.MULTILINE):
        return "results"
    return "item" if "Buy Now" in page else "sub"


def read_offers(page: str) -> list[ShopOffer]:
    """The products on a page of results, best match first; none on other pages."""
    lines = [line.strip() for line in page.split("\n") if line.strip()]
    found = zip(map(_ID.fullmatch, lines), lines[1:], lines[2:], strict=False)
    return [
        ShopOffer(id[1], title, float(_PRICE.findall(tag)[-1]))
        for id, title, tag in found
        if id and tag.startswith("$") and _PRICE.search(tag)
    ]


def read_options(page: str) -> dict[str, list[str]]:
    """The values of each option on a product's page."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in page.split("\n"):
        if button := _BUTTON.fullmatch(line):
            if button[1]:
                found.setdefault(name, []).append(button[2])
        elif option := _OPTION.fullmatch(line):
            found[option[1]] = re.findall(r"\[([^\[\]]+)\]", option[2])
        else:
            name = line
    return found


def read_product_text(page: str) -> str:
    """The text of a product's page, without the instruction and the first buttons."""
    return page.rpartition("< Prev")[2]


_PRICE_LIMIT = re.compile(r",? and price lower than ([\d.]+) dollars")
_REQUEST_PHRASE = re.compile(
    r"^(?:i am looking to buy a product\. )?(?:i am looking for|i'm looking for|i need|i want to buy|i want|"
    r"i would like|please find me|find me|show me|buy me|get me|looking for)\s+"
)
_STOP_WORD_TEXT = (
    "a an the and or with without of for in on to that which is are it its be i my me should must has have made "
    "feature features size color colour scent length pack flavor style price lower than dollars some any one"
)
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())


class ParsedShoppingGoal(Value, frozen=True):
    """The search words, the words that pages should contain, and the price limit in dollars, if there is one."""

    text: str
    query: str
    words: tuple[str, ...]
    max_price: float | None = None


def parse_goal(goal: str) -> ParsedShoppingGoal | None:
    """Return what an instruction asks for; None if it names no product."""
    asked = _PRICE_LIMIT.sub("", goal.lower()).strip(" .?")
    asked = _REQUEST_PHRASE.sub("", asked)
    words = _content_words(asked)
    if not words:
        return None
    cap = _PRICE_LIMIT.search(goal.lower())
    query = " ".join(_content_words(asked.split(", ")[0]) or words)
    return ParsedShoppingGoal(asked, query, words, float(cap[1]) if cap else None)


def _content_words(text: str) -> tuple[str, ...]:
    found = (word.strip(".'") for word in re.findall(r"[\w.'#-]+", text))
    return tuple(dict.fromkeys(word for word in found if word and word not in _STOP_WORDS))


# ------------------------------------------------------------------ the plan, step by step

_PLAN = Template("""\
def solution(agent, start_from=1):
    # General plan: search the shop, read about the offers that fit best, choose the options, buy.
    asked = $asked
    words = $words

    def lacking(text):
        # The words of the instruction that a text lacks.
        found = {word.strip(".'") for word in re.findall(r"[\\w.'#-]+", text.lower())}
        return [word for word in words if word not in found and word + 's' not in found]

    def looked_at(offer):
        # Opens an offer, reads it, and goes back to the results. Returns all that its pages say.
        agent.click(offer['id'])
        values = [value for values in agent.options().values() for value in values]
        features = agent.click('Features')
        agent.click('< Prev')
        agent.click('< Prev')
        return ' '.join([offer['title'], features.split('[button_]')[-1], *values])

    if start_from <= 1:
        print('[Step 1] I search for what it is in plain words, and keep what is cheap enough')
        agent.search($query)
        offers = [offer for offer in agent.results()$affordable]
        read = {}
        assert offers, f'Error in [Step 1]: nothing that I can afford was found. {agent.report()}'
    if start_from <= 2:
        print('[Step 2] Titles tell little, so I read about the offers whose titles lack least')
        if not agent.results():
            agent.search($query)
        look, tolerated = 4, 0
        offers = sorted(offers, key=lambda offer: len(lacking(offer['title'])))
        best, missing = '', words
        for offer in offers[:look]:
            if offer['id'] not in read:
                read[offer['id']] = looked_at(offer)
            found = lacking(read[offer['id']])
            if not best or len(found) < len(missing):
                best, missing = offer['id'], found
            if not found:
                break
        why = f'of {look} offers the best lacks {missing}'
        assert len(missing) <= tolerated, f'Error in [Step 2]: {why}. {agent.report()}'
    if start_from <= 3:
        print('[Step 3] I choose the values that the instruction names')
        agent.click(best)
        for name, values in agent.options().items():
            named = [value for value in values if re.search(r'(?<![\\w-])' + re.escape(value) + r'(?![\\w-])', asked)]
            if not named and name in asked:
                question = f'I am to buy: {asked}. The {name} can be one of {values}. Which one is meant?'
                reply = literal_eval(ask_llm(question + ' Answer with it as a Python string, or with None.'))
                named = [value for value in values if value == reply]
            if named:
                agent.click(max(named, key=len))
        assert 'Buy Now' in agent.buttons(), f'Error in [Step 3]: I am on no page of a product. {agent.report()}'
    if start_from <= 4:
        print('[Step 4] I buy it')
        agent.click('Buy Now')
        assert agent.score == 1.0, f'Error in [Step 4]: the purchase is worth {agent.score}. {agent.report()}'
""")


def write_plan(goal: ParsedShoppingGoal) -> str:
    """A plan that is correct according to the instruction."""
    affordable = "" if goal.max_price is None else f" if offer['price'] < {goal.max_price}"
    return _PLAN.substitute(
        asked=repr(goal.text), words=repr(list(goal.words)), query=repr(goal.query), affordable=affordable
    )


def answer_question(question: str) -> str | None:
    """The Python literal that says which value of an option is meant; None for any other question."""
    asked, _, values = question.partition("I am to buy: ")[2].rpartition(" can be one of ")
    instruction, option, _ = asked.rpartition(". The ")
    found = re.match(r"\[[^\[\]]*\]", values)
    if not option or not found:
        return None
    return repr(_nearest_value(instruction, re.findall(r"'([^']+)'", found[0])))


# ------------------------------------------------------------------ comparing offers


def lacking_words(goal: ParsedShoppingGoal, text: str) -> list[str]:
    """The words of an instruction that a text lacks."""
    found = {word.strip(".'") for word in re.findall(r"[\w.'#-]+", text.lower())}
    return [word for word in goal.words if word not in found and f"{word}s" not in found]


def choose_value(asked: str, name: str, values: Sequence[str]) -> str | None:
    """The value of an option that an instruction means: one that it has word for word, or the nearest one.

    None if the instruction names neither a value nor the option.
    """
    named = [value for value in values if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", asked)]
    if named:
        return max(named, key=len)
    return _nearest_value(asked, values) if name in asked else None


def _nearest_value(asked: str, values: Sequence[str]) -> str | None:
    """The value that shares most words with a text; None if none shares any."""
    words = set(_content_words(asked))
    shared = {value: len(words & set(_content_words(value))) for value in values}
    best = max(shared, key=lambda value: shared[value], default=None)
    return best if best is not None and shared[best] else None


# ------------------------------------------------------------------ acting turn by turn

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


# ------------------------------------------------------------------ ADaPT's sub-tasks

_PRODUCT = re.compile(r"\[(B[0-9A-Z]{9})\](?: \[button_\])? *\n(.*)\n\$([\d.]+)")
_OPTION_BUTTON = re.compile(r"\[([^\[\]\n]+)\]")
_BUY_MODULE = re.compile(r"Buy (\w+): (.*)")
_NARROW = "Narrow down the search: "


def plan_modules(prompt: str) -> str | None:
    """A plan in modules; None if the prompt asks for none or the goal is not understood."""
    page, goal = find_section(prompt, "page"), find_section(prompt, "goal") or ""
    parsed = parse_goal(goal.removeprefix(_NARROW))
    if page is None or parsed is None:
        return None
    if goal.startswith(_NARROW):
        shown = [found[0] for found in _PRODUCT.findall(page)]
        steps = [f"DetailMatch[{id}, {parsed.text}]" for id in shown[:3]] or [f"Search[{parsed.query}]"]
        operator = "OR"
    else:
        criteria = parsed.text if parsed.max_price is None else f"{parsed.text}, below {parsed.max_price} dollars"
        steps = [f"Search[{parsed.query}]", f"SimpleMatch[{criteria}]", f"Buy[prod_id, {parsed.text}]"]
        operator = "AND"
    lines = [f"Step {number}: {step}" for number, step in enumerate(steps, 1)]
    order = f" {operator} ".join(f"Step {number}" for number in range(1, len(steps) + 1))
    return "\n".join([*lines, f"Execution order: ({order})"])


def match_products(prompt: str) -> str | None:
    """The verdict on a page and criteria; None if the prompt has none."""
    page, criteria = find_section(prompt, "page"), find_section(prompt, "criteria")
    if page is None or criteria is None:
        return None
    found = parse_goal(criteria)
    words = set(found.words) if found else set()
    if offers := _PRODUCT.findall(page):
        limit = re.search(r"(?:below|lower than) ([\d.]+) dollars", criteria)
        cheap = [(id, title) for id, title, price in offers if not limit or float(price) < float(limit[1].rstrip("."))]
        best = [id for id, title in cheap if _share(words, title) >= 0.5]
        return f"# By title and price.\nProducts: {', '.join(best) or 'none'}"
    share = _share(words, page)
    return f"# {share:.0%} of the words are on the page.\nMatch: {'true' if share >= 0.6 else 'false'}"


def buy_product(prompt: ExecutorPrompt) -> str | None:
    """The next line for a goal of the module Buy; None for other goals."""
    goal = _BUY_MODULE.fullmatch(prompt.goal.strip())
    if goal is None:
        return None
    said = {line for line, _ in prompt.turns}
    wanted = [
        button
        for button in _OPTION_BUTTON.findall(prompt.notes.replace("][", "]\n["))
        if re.search(rf"(?<![\w-]){re.escape(button)}(?![\w-])", goal[2])
    ]
    for action in (*(f"click[{value}]" for value in dict.fromkeys(wanted)), "click[Buy Now]"):
        if action not in said:
            return action
    return give_up_line("the shop does not sell it")


def _share(words: set[str], text: str) -> float:
    lower = text.lower()
    return sum(word in lower for word in words) / len(words) if words else 0.0


# ------------------------------------------------------------------ mistakes, and mending plans

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(
        {
            *("search", "click", "results", "options", "chosen", "price"),
            *("buttons", "report", "instruction", "page", "product", "score"),
        }
    ),
    {
        "search": "find look_for search_for query",
        "click": "press click_on select choose open",
        "results": "get_results products list_results offers",
        "options": "get_options variants",
    },
)

_MAX_OFFERS = 10
_LOOK = r"(?<=^        look, tolerated = )(\d+), (\d+)$"


def _read_first_offer_only(plan: str, which: float) -> str:
    """Read only the first offer."""
    return re.sub(_LOOK, "1, 0", plan, flags=re.MULTILINE)


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "wrong_guess": _read_first_offer_only,
    "unknown_method": replace_call(("search", "search_for"), ("click", "press"), ("results", "get_results")),
    "syntax_error": replace_text(
        ("def lacking(text):", "def lacking(text)"),
        ("for offer in offers[:look]:", "for offer in offers[:look]"),
        ("agent.click(best)\n", "agent.click(best\n"),
    ),
}


def refine_plan(source: str, feedback: str, goal: ParsedShoppingGoal) -> str:
    """The plan with its failing step mended; a new plan if the feedback shows no fix."""
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (fix(source, feedback, goal) for fix in _FIXES))
    return write_plan(goal) if mended is None else mended


def _widen_search(source: str, feedback: str, goal: ParsedShoppingGoal) -> str | None:
    """Nothing was found: search for all words of the instruction, then only for the query's last two."""
    if "nothing that I can afford was found" not in feedback:
        return None
    everything, kind = " ".join(goal.words), " ".join(goal.query.split()[-2:])
    query = kind if repr(everything) in source else everything
    return re.sub(r"agent\.search\(.*\)", lambda _: f"agent.search({query!r})", source)


def _read_all_offers(source: str, feedback: str, goal: ParsedShoppingGoal) -> str | None:
    """The best offer lacks something: read all offers, and then take the one that lacks least."""
    lacking = re.findall(r"'([^']+)'", first_match(r"the best lacks (\[.*?\])", feedback))

    def further(numbers: re.Match[str]) -> str:
        return f"{_MAX_OFFERS}, 0" if int(numbers[1]) < _MAX_OFFERS else f"{_MAX_OFFERS}, {len(lacking)}"

    return edit_step(source, failed_step(feedback), _LOOK, further) if lacking else None


_FIXES: tuple[Callable[[str, str, ParsedShoppingGoal], str | None], ...] = (_widen_search, _read_all_offers)
