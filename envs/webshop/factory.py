"""Builds WebShop from settings."""

from __future__ import annotations

from typing import Annotated

from codeplan.envs.base import ActionLimit, AgentSetting, check_positive
from codeplan.envs.webshop import loading
from codeplan.envs.webshop.catalogue import GoalSource
from codeplan.envs.webshop.environment import WebShop, WebShopSettings
from codeplan.envs.webshop.loading import SearchEngine
from codeplan.envs.webshop.session import CLIENT_PRODUCTS, PER_PAGE, ObservationMode
from codeplan.errors import UsageError
from codeplan.plugins import MAX_SEED, Setting


def make(
    *,
    data: Annotated[
        str | None, Setting("Folder of WebShop's files; default: codeplan's own catalogue.", "trusted", repeat="live")
    ] = None,
    index: Annotated[
        str | None, Setting("With data: folder for the database; default: within data.", "trusted", repeat="live")
    ] = None,
    products: Annotated[
        int | None, Setting("With data: read only the first N products.", "trusted", repeat="live")
    ] = None,
    search: Annotated[
        SearchEngine, Setting("With data: the search index; tantivy suits the full set.", "trusted", repeat="live")
    ] = "fts5",
    goals: Annotated[
        GoalSource, Setting("Goals written by people, or one per combination of options.", "safe")
    ] = "human",
    price_seed: Annotated[
        int, Setting("Seed of the price caps and of prices within a range.", "safe", most=MAX_SEED)
    ] = 0,
    observation_mode: Annotated[ObservationMode, Setting("The text form of pages.", "safe")] = "text_rich",
    nouns: Annotated[
        str, Setting("How the reward finds nouns: rules, spacy or spacy:PIPELINE.", "trusted", repeat="live")
    ] = "rules",
    show_attrs: Annotated[bool, Setting("Add a page of a product's attributes.", "safe")] = False,
    actions: ActionLimit = 100,
    agent: AgentSetting = "full",
    client_products: Annotated[
        int, Setting("Products of a results page in the forms react and adapt, 1 to 10.", "safe", most=PER_PAGE)
    ] = CLIENT_PRODUCTS,
) -> WebShop:
    """Build WebShop. Raises: UsageError if a setting is invalid, or if WebShop's files are missing or malformed."""
    settings = WebShopSettings(goals, price_seed, observation_mode, nouns, show_attrs, actions, agent, client_products)
    if products is not None:
        check_positive(WebShop.name, "products", products)
    if data is not None:
        return WebShop(loading.open_shop(data, index, products, search), settings)
    if index is not None or products is not None or search != "fts5":
        raise UsageError("WebShop's index, products and search are for your own files; name their folder by data")
    return WebShop(loading.load_embedded_shop(), settings, embedded=True)
