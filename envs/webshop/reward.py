"""WebShop's reward: how well a purchase matches the goal, from 0 to 1 (Yao et al., 2022, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable

from codeplan.envs.webshop.colours import colour_or_text
from codeplan.envs.webshop.goals import WebShopGoal
from codeplan.envs.webshop.nouns import NounFinder
from codeplan.envs.webshop.products import Product
from codeplan.envs.webshop.text_similarity import token_set_ratio

MATCH_THRESHOLD = 85
"""Two texts match if their ratio is above this."""

_OVERLAP_WITHOUT_NOUNS = 0.2


def purchase_reward(
    goal: WebShopGoal, bought: Product, price: float, chosen: Iterable[str], find_nouns: NounFinder
) -> float:
    """The reward for buying a product at a price (dollars) with the chosen option values."""
    met = count_attributes_met(goal, bought) + count_options_met(goal, chosen) + (price <= goal.price_upper)
    return type_factor(goal, bought, find_nouns) * met / (len(goal.attributes) + len(goal.options) + 1)


def count_attributes_met(goal: WebShopGoal, bought: Product) -> int:
    """The number of the goal's attributes that match the product's, or occur in its texts."""
    texts = [bought.title.lower(), " ".join(bought.bullets).lower(), bought.description.lower()]
    return sum(
        any(token_set_ratio(attribute, wanted) > MATCH_THRESHOLD for attribute in bought.attributes)
        or any(wanted in text for text in texts)
        for wanted in goal.attributes
    )


def count_options_met(goal: WebShopGoal, chosen: Iterable[str]) -> int:
    """The number of the goal's options that match a chosen value; colours are compared by their first colour word."""
    values = [colour_or_text(value) for value in chosen]
    return sum(
        any(token_set_ratio(value, colour_or_text(wanted)) > MATCH_THRESHOLD for value in values)
        for wanted in goal.options
    )


def type_factor(goal: WebShopGoal, bought: Product, find_nouns: NounFinder) -> float:
    """1 for a product of the goal's type; 0.5, 0.1 or 0 for others, by names, query and categories."""
    overlap = noun_overlap(goal, bought, find_nouns)
    if overlap == 0:
        return 0.0
    if overlap < 0.1:
        return 0.1
    same_query = bought.query == goal.query
    return 1.0 if same_query or _count_shared_categories(goal, bought) >= 2 or overlap > 0.2 else 0.5


def noun_overlap(goal: WebShopGoal, bought: Product, find_nouns: NounFinder) -> float:
    """The share of the nouns in the wanted product's name that the bought product's name contains."""
    wanted = find_nouns(goal.name)
    return len(set(wanted) & set(find_nouns(bought.title))) / len(wanted) if wanted else _OVERLAP_WITHOUT_NOUNS


def _count_shared_categories(goal: WebShopGoal, bought: Product) -> int:
    one, other = ({name.strip() for name in each.product_category.split("›")} for each in (goal, bought))
    return len(one & other)
