"""Builds WebShop from settings."""

from __future__ import annotations

from codeplan.envs.base import check_positive
from codeplan.envs.webshop import loading
from codeplan.envs.webshop.catalogue import GoalSource
from codeplan.envs.webshop.environment import WebShop, WebShopSettings
from codeplan.envs.webshop.formats import ObservationMode
from codeplan.envs.webshop.loading import SearchEngine
from codeplan.errors import UsageError


def make(
    *,
    data: str | None = None,
    index: str | None = None,
    products: int | None = None,
    search: SearchEngine = "fts5",
    goals: GoalSource = "human",
    price_seed: int = 0,
    observation_mode: ObservationMode = "text_rich",
    nouns: str = "rules",
    show_attrs: bool = False,
    actions: int = 100,
) -> WebShop:
    """Build WebShop.

    ``data`` is the folder of WebShop's files; None means codeplan's own catalogue. The database built from them is
    kept in ``index``, by default in a folder within ``data``. ``products`` limits how many products are read.
    ``search`` is ``fts5``, or ``tantivy`` (an extra) for the full set. See ``WebShopSettings`` for the rest.

    Raises: UsageError if a setting is invalid, or WebShop's files cannot be used.
    """
    settings = WebShopSettings(goals, price_seed, observation_mode, nouns, show_attrs, actions)
    if products is not None:
        check_positive(WebShop.name, "products", products)
    if data is not None:
        return WebShop(loading.open_shop(data, index, products, search), settings)
    if index is not None or products is not None or search != "fts5":
        raise UsageError("WebShop's index, products and search are for your own files; name their folder by data")
    return WebShop(loading.load_embedded_shop(), settings, embedded=True)
