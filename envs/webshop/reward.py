"""WebShop's reward: how well what was bought is what was asked for, from 0 to 1 (Yao et al., 2022, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable

from codeplan.envs.webshop.colours import colour_or_text
from codeplan.envs.webshop.goals import WebShopGoal
from codeplan.envs.webshop.nouns import NounFinder
from codeplan.envs.webshop.products import Product
from codeplan.envs.webshop.text_similarity import token_set_ratio

MATCH_THRESHOLD = 85
"""Two texts whose ratio is above this are taken for the same."""

_NO_NOUNS = 0.2


def purchase_reward(
    goal: WebShopGoal, bought: Product, price: float, chosen: Iterable[str], find_nouns: NounFinder
) -> float:
    """The reward for buying a product at a price (dollars) with these option values chosen."""
    met = count_attributes_met(goal, bought) + count_options_met(goal, chosen) + (price <= goal.price_upper)
    return type_factor(goal, bought, find_nouns) * met / (len(goal.attributes) + len(goal.options) + 1)


def count_attributes_met(goal: WebShopGoal, bought: Product) -> int:
    """How many of the goal's attributes the product has, as an attribute or somewhere in its words."""
    words = [bought.title.lower(), " ".join(bought.bullets).lower(), bought.description.lower()]
    return sum(
        any(token_set_ratio(attribute, wanted) > MATCH_THRESHOLD for attribute in bought.attributes)
        or any(wanted in text for text in words)
        for wanted in goal.attributes
    )


def count_options_met(goal: WebShopGoal, chosen: Iterable[str]) -> int:
    """How many of the goal's options are like one that was chosen, colours being compared by their first word."""
    values = [colour_or_text(value) for value in chosen]
    return sum(
        any(token_set_ratio(value, colour_or_text(wanted)) > MATCH_THRESHOLD for value in values)
        for wanted in goal.options
    )


def type_factor(goal: WebShopGoal, bought: Product, find_nouns: NounFinder) -> float:
    """1 for a product of the goal's type, 0.5, 0.1 or 0 the less it is one, by names, query and categories."""
    score = noun_overlap(goal, bought, find_nouns)
    if score == 0:
        return 0.0
    if score < 0.1:
        return 0.1
    same_query = bought.query == goal.query
    return 1.0 if same_query or _shared_categories(goal, bought) >= 2 or score > 0.2 else 0.5


def noun_overlap(goal: WebShopGoal, bought: Product, find_nouns: NounFinder) -> float:
    """The share of the nouns in the goal's product's name that are in that of the product bought, too."""
    wanted = find_nouns(goal.name)
    return len(set(wanted) & set(find_nouns(bought.title))) / len(wanted) if wanted else _NO_NOUNS


def _shared_categories(goal: WebShopGoal, bought: Product) -> int:
    one, other = ({name.strip() for name in each.product_category.split("›")} for each in (goal, bought))
    return len(one & other)
