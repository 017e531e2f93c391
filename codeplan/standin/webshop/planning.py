"""Plans for WebShop: compares offers by the words of the instruction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template

from codeplan.types import Value

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
