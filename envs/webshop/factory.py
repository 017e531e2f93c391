"""WebShop: find the product that a person asks for among many, choose its options, buy it.

    search[men's t-shirt cotton]        click[B07XYZ1234]        click[navy blue]        click[Buy Now]

Pages, goals and reward are those of WebShop (Yao et al., 2022). It comes with a small catalogue of its own, and reads
WebShop's files.
"""

from __future__ import annotations

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

    ``data`` is the folder of WebShop's files, None for the catalogue that comes with codeplan. What is made of them
    the first time goes into ``index``, or a folder within ``data``; ``products`` takes the first so many of them;
    ``search`` is ``fts5``, or ``tantivy`` (an extra) for the full set. For the others see ``Rules``.
    Raises UsageError for a value that does not fit.
    """
    rules = WebShopSettings(goals, price_seed, observation_mode, nouns, show_attrs, actions)
    for name, value in (("actions", actions), ("products", 1 if products is None else products)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"WebShop's setting {name} is {value!r}; give a whole number from 1 up")
    if data is not None:
        return WebShop(loading.open_shop(data, index, products, search), rules)
    if index is not None or products is not None or search != "fts5":
        raise UsageError("WebShop's index, products and search are for your own files; name their folder by data")
    return WebShop(loading.load_embedded_shop(), rules, embedded=True)
