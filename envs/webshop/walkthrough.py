"""Winning with sight of the goal: a short way to show that a task can be won from where it stands."""

from __future__ import annotations

from codeplan.envs.webshop import search
from codeplan.envs.webshop.goals import GoalTemplate
from codeplan.envs.webshop.loading import ShopData
from codeplan.envs.webshop.pages import BACK, BUY, NEXT, PER_PAGE


def walkthrough(shop: ShopData, wish: GoalTemplate, *, from_search: bool = True) -> tuple[str, ...]:
    """Actions that buy the product of a wish with the wish's options, from any page.

    ``from_search`` begins on the search page, and without it they go there first.
    """
    product = shop.catalogue.product(wish.product)
    query, found = _way(shop, wish.product)
    place = found.index(wish.product)
    return (
        *(() if from_search else (f"click[{BACK}]",)),
        f"search[{query}]",
        *([f"click[{NEXT}]"] * (place // PER_PAGE)),
        f"click[{product.asin}]",
        *(f"click[{value}]" for value in wish.options if any(value in values for values in product.options.values())),
        f"click[{BUY}]",
    )


def _way(shop: ShopData, number: int) -> tuple[str, tuple[int, ...]]:
    """A query that finds a product, and all that it finds."""
    product = shop.catalogue.product(number)
    title = " ".join(product.title.split())
    found = search.find_products(shop.catalogue, shop.text_index, title, "")
    if number in found:
        return title, found
    query = f"<q> {product.query}"
    return query, search.find_products(shop.catalogue, shop.text_index, query, "")
