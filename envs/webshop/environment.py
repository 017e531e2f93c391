"""WebShop: find a product that fits an instruction, choose its options, and buy it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated

from msgspec.structs import replace

from codeplan.envs.base import (
    ActionLimit,
    AgentName,
    AgentSetting,
    GeneratedTasks,
    RestorableEnvironment,
    check_positive,
)
from codeplan.envs.webshop import loading, session
from codeplan.envs.webshop.agent import PaperWebShopAgent, WebShopAgent
from codeplan.envs.webshop.catalogue import GoalSource, find_products
from codeplan.envs.webshop.goals import (
    GoalTemplate,
    WebShopGoal,
    goal_order,
    make_goal,
    make_noun_finder,
    purchase_reward,
    sample_price,
    split_ranges,
)
from codeplan.envs.webshop.loading import SearchEngine, ShopData
from codeplan.envs.webshop.session import (
    ADAPT_PREFIX,
    BACK,
    BUY,
    CLIENT_PRODUCTS,
    NEXT,
    PER_PAGE,
    SUB_PAGES,
    ObservationMode,
    ShopPage,
    WebShopContext,
    WebShopSnapshot,
    write_page,
)
from codeplan.errors import UsageError
from codeplan.plugins import MAX_SEED, Setting
from codeplan.protocols import ShopControl
from codeplan.types import ActionSpace, Observation, Task, Value
from codeplan.untrusted.values import in_quotes


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
    results = find_products(shop.catalogue, shop.text_index, title, "")
    if number in results:
        return title, results
    query = f"<q> {product.query}"
    return query, find_products(shop.catalogue, shop.text_index, query, "")


NAME, KIND = "webshop", "buy"


class WebShopSettings(Value, frozen=True):
    """The settings of a shop's episodes; ``make`` explains them."""

    goals: GoalSource = "human"
    price_seed: int = 0
    observation_mode: ObservationMode = "text_rich"
    nouns: str = "rules"
    show_attrs: bool = False
    actions: int = 100
    agent: AgentName = "full"
    client_products: int = CLIENT_PRODUCTS


_DEFAULTS = WebShopSettings()


class WebShop(RestorableEnvironment[WebShopSnapshot]):
    """WebShop. The seed of a task, 17 in ``buy/17``, is the goal's position in WebShop's own order."""

    name: str = NAME
    agent: type = WebShopAgent
    agents: Mapping[str, type] = {"full": WebShopAgent, "paper": PaperWebShopAgent}
    kinds: tuple[str, ...] = (KIND,)
    space: ActionSpace = ActionSpace(
        forms=("search[WORDS]", "click[BUTTON]"),
        no_effect_prefixes=(session.INVALID_ACTION,),
        calls=14,
        max_idle_turns=3,
    )
    shop_control: ShopControl = session.WebShopControl()

    def __init__(self, shop: ShopData, settings: WebShopSettings = _DEFAULTS, *, embedded: bool = False) -> None:
        """``embedded`` is true for codeplan's small catalogue, whose splits are smaller.

        Raises: UsageError if ``actions``, ``agent``, ``client_products`` or ``nouns`` is invalid, or if spaCy
        or its pipeline is missing.
        """
        super().__init__(settings.actions)
        self._choose_agent(settings.agent)
        if check_positive(NAME, "client_products", settings.client_products) > PER_PAGE:
            raise UsageError(
                f"the setting client_products of {NAME} is {settings.client_products}; a page has {PER_PAGE} products"
            )
        self.shop, self._settings, self._embedded = shop, settings, embedded
        self._find_nouns = make_noun_finder(settings.nouns)
        self._goal: WebShopGoal | None = None
        self._context: WebShopContext | None = None

    # -------------------------------------------------------------- tasks

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test``, ``dev`` or ``train``, by seed. Each task is built on access."""
        return GeneratedTasks((KIND,), self._splits.get(split, range(0)), self.task)

    def task(self, kind: str, seed: int) -> Task:
        """The task of a seed below the number of goals. Raises: UsageError for any other seed or kind."""
        if kind != KIND or isinstance(seed, bool) or not 0 <= seed < len(self._order):
            raise self._unknown_task(f"{kind}/{seed}")
        split = next(name for name, seeds in self._splits.items() if seed in seeds)
        return Task(f"{KIND}/{seed}", NAME, KIND, self.goal(seed).instruction, seed, split)

    def goal(self, seed: int) -> WebShopGoal:
        """The goal of a seed's task, including the parts that the instruction does not mention."""
        template = self._template(seed)
        return make_goal(template, self.shop.catalogue.product(template.product), self._settings.price_seed)

    def walkthrough(self, task: Task, *, from_search: bool = True) -> tuple[str, ...]:
        """Actions that win a task; ``from_search`` is false if the episode is not on the search page.

        Raises what ``reset`` raises.
        """
        return walkthrough(self.shop, self._template(self._find_task(task).seed), from_search=from_search)

    # -------------------------------------------------------------- an episode

    def reset(self, task: Task) -> Observation:
        """Begin a task, found by its id or, if WebShop has no such id, by its kind and seed.

        Raises: UsageError if there is no such task.
        """
        known = self._find_task(task)
        return self.reset_to_goal(self.goal(known.seed), known.id)

    def reset_to_goal(self, goal: WebShopGoal, seed: str = "") -> Observation:
        """Begin an episode with a custom goal; ``seed`` determines the result of a search for random products."""
        prefix = ADAPT_PREFIX if self._settings.observation_mode == "adapt" else ""
        sub_pages = SUB_PAGES if self._settings.show_attrs else SUB_PAGES[:-1]
        self._goal, self._context = goal, WebShopContext(self.shop, prefix + goal.instruction, sub_pages, seed)
        self._begin(WebShopSnapshot())
        return Observation(self._write_page(WebShopSnapshot()))

    def page(self) -> ShopPage:
        """The open page. Raises: UsageError before the first ``reset``."""
        return self._render(self._require_task())

    def _apply(self, before: WebShopSnapshot, action: str) -> tuple[WebShopSnapshot, Observation]:
        assert self._context is not None, "reset sets the context"
        answer: str | None = None
        if self._settings.observation_mode in ("react", "adapt"):
            products = self._settings.client_products
            after, answer = session.apply_client_action(self._context, before, action, products)
        else:
            after = session.apply_action(self._context, before, action)
        if after.page == "done":
            after, answer = replace(after, reward=self._purchase_reward(after)), None
        text = self._write_page(after) if answer is None else answer
        return after, Observation(text, after.reward, done=after.page == "done", success=after.reward == 1.0)

    def _purchase_reward(self, snapshot: WebShopSnapshot) -> float:
        assert self._goal is not None, "reset sets the goal"
        product = self.shop.catalogue.product(snapshot.product)
        price = sample_price(product, self._settings.price_seed)
        return purchase_reward(self._goal, product, price, snapshot.chosen.values(), self._find_nouns)

    def _render(self, snapshot: WebShopSnapshot) -> ShopPage:
        assert self._context is not None, "reset sets the context"
        return session.render_page(self._context, snapshot)

    def _write_page(self, snapshot: WebShopSnapshot) -> str:
        return write_page(self._render(snapshot), self._settings.observation_mode, self._settings.client_products)

    # -------------------------------------------------------------- finding tasks

    @cached_property
    def _order(self) -> Sequence[int]:
        return goal_order(self.shop.catalogue.count_goal_templates(self._settings.goals))

    @cached_property
    def _splits(self) -> dict[str, range]:
        return split_ranges(len(self._order), embedded=self._embedded)

    def _template(self, seed: int) -> GoalTemplate:
        return self.shop.catalogue.goal_template(self._settings.goals, self._order[seed])

    def _find_task(self, task: Task) -> Task:
        kind, _, seed = task.id.partition("/")
        if kind == KIND and seed.isascii() and seed.isdigit() and len(seed) < 12:
            return self.task(kind, int(seed))
        if task.kind == KIND:
            return self.task(KIND, task.seed)
        raise self._unknown_task(task.id)

    def _unknown_task(self, id: str) -> UsageError:
        return UsageError(
            f"WebShop has no task {in_quotes(id, 80)}; an id looks like {KIND}/17, with seeds from 0 "
            f"to {len(self._order) - 1}"
        )


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
