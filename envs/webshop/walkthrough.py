"""Winning a task with knowledge of its goal."""

from __future__ import annotations

from codeplan.envs.webshop import search
from codeplan.envs.webshop.goals import GoalTemplate
from codeplan.envs.webshop.loading import ShopData
from codeplan.envs.webshop.pages import BACK, BUY, NEXT, PER_PAGE


def walkthrough(shop: ShopData, template: GoalTemplate, *, from_search: bool = True) -> tuple[str, ...]:
    """Actions that buy the template's product with its options.

    If ``from_search`` is false, they first go to the search page.
    """
    product = shop.catalogue.product(template.product)
    query, results = _find_query(shop, template.product)
    position = results.index(template.product)
    offered = {value for values in product.options.values() for value in values}
    return (
        *(() if from_search else (f"click[{BACK}]",)),
        f"search[{query}]",
        *([f"click[{NEXT}]"] * (position // PER_PAGE)),
        f"click[{product.asin}]",
        *(f"click[{value}]" for value in template.options if value in offered),
        f"click[{BUY}]",
    )


def _find_query(shop: ShopData, number: int) -> tuple[str, tuple[int, ...]]:
    """A query that finds a product, with its results."""
    product = shop.catalogue.product(number)
    title = " ".join(product.title.split())
    results = search.find_products(shop.catalogue, shop.text_index, title, "")
    if number in results:
        return title, results
    query = f"<q> {product.query}"
    return query, search.find_products(shop.catalogue, shop.text_index, query, "")
