"""WebShop as an Environment: its tasks and its episodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

from codeplan.envs.generated_tasks import GeneratedTasks
from codeplan.envs.webshop import paper_client, session
from codeplan.envs.webshop.agent import WebShopAgent
from codeplan.envs.webshop.catalogue import GoalSource
from codeplan.envs.webshop.formats import ADAPT_PREFIX, PAGE_WRITERS, ObservationMode
from codeplan.envs.webshop.goals import GoalTemplate, WebShopGoal, goal_order, make_goal, sample_price, split_ranges
from codeplan.envs.webshop.loading import ShopData
from codeplan.envs.webshop.nouns import make_noun_finder
from codeplan.envs.webshop.pages import SUB_PAGES, ShopPage
from codeplan.envs.webshop.reward import purchase_reward
from codeplan.envs.webshop.session import WebShopContext, WebShopSnapshot
from codeplan.envs.webshop.walkthrough import walkthrough
from codeplan.errors import UsageError
from codeplan.types.task import ActionSpace, Observation, Task
from codeplan.types.value import Value

NAME, KIND = "webshop", "buy"


class WebShopSettings(Value, frozen=True):
    """How the shop is played.

    ``goals`` are those that people wrote (``human``), or ``synthetic``; ``price_seed`` draws their caps on the price.
    ``observation_mode`` is ``text_rich``, ``text``, or the form of the clients of ``react`` or ``adapt``. The reward's
    ``nouns`` are found by ``rules``, by ``spacy``, or by ``spacy:PIPELINE``. ``show_attrs`` adds a page of a product's
    attributes. ``actions`` is how many an episode has.
    """

    goals: GoalSource = "human"
    price_seed: int = 0
    observation_mode: ObservationMode = "text_rich"
    nouns: str = "rules"
    show_attrs: bool = False
    actions: int = 100


_ORDINARY = WebShopSettings()


class WebShop:
    """WebShop. A task's id is ``buy/17``; 17, its seed, is the goal's place in WebShop's own order."""

    name: str = NAME
    agent: type = WebShopAgent
    kinds: tuple[str, ...] = (KIND,)
    space: ActionSpace = ActionSpace(
        forms=("search[WORDS]", "click[BUTTON]"),
        no_effect_prefixes=(paper_client.INVALID_ACTION,),
        calls=14,
        max_idle_turns=3,
    )

    def __init__(self, shop: ShopData, settings: WebShopSettings = _ORDINARY, *, embedded: bool = False) -> None:
        """``embedded`` says that the catalogue is the small one, whose splits are smaller.

        Raises UsageError where the nouns cannot be found in the way that ``rules`` ask for.
        """
        self.shop, self._rules, self._embedded = shop, settings, embedded
        self._nouns = make_noun_finder(settings.nouns)
        self._goal: WebShopGoal | None = None
        self._visit: WebShopContext | None = None
        self._now: WebShopSnapshot | None = None

    # -------------------------------------------------------------- tasks

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test``, ``dev`` or ``train``, by seed; each is made when it is asked for."""
        seeds = split_ranges(len(self._order), embedded=self._embedded).get(split, range(0))
        return GeneratedTasks((KIND,), seeds, self.task)

    def task(self, kind: str, seed: int) -> Task:
        """The task of a seed, below the number of goals. Raises UsageError for any other, and for another kind."""
        if kind != KIND or isinstance(seed, bool) or not 0 <= seed < len(self._order):
            raise self._unknown(f"{kind}/{seed}")
        splits = split_ranges(len(self._order), embedded=self._embedded)
        split = next(name for name, seeds in splits.items() if seed in seeds)
        return Task(f"{KIND}/{seed}", NAME, KIND, self.goal(seed).instruction, seed, split)

    def goal(self, seed: int) -> WebShopGoal:
        """What the task of a seed asks for, hidden parts included."""
        wish = self._wish(seed)
        return make_goal(wish, self.shop.catalogue.product(wish.product), self._rules.price_seed)

    def walkthrough(self, task: Task, *, from_search: bool = True) -> tuple[str, ...]:
        """Actions that buy what was in mind; ``from_search`` is false where the episode is on another page already.

        Raises what ``reset`` does.
        """
        return walkthrough(self.shop, self._wish(self._known(task).seed), from_search=from_search)

    # -------------------------------------------------------------- an episode

    def reset(self, task: Task) -> Observation:
        """Begin a task. What counts is its id or, where that is not one of WebShop's, its kind and seed.

        Raises UsageError for a task that WebShop does not know.
        """
        known = self._known(task)
        return self.reset_to_goal(self.goal(known.seed), known.id)

    def reset_to_goal(self, goal: WebShopGoal, seed: str = "") -> Observation:
        """Begin an episode with a goal of one's own; the seed decides what a search for random products finds."""
        opening = ADAPT_PREFIX if self._rules.observation_mode == "adapt" else ""
        sub_pages = SUB_PAGES if self._rules.show_attrs else SUB_PAGES[:-1]
        self._goal, self._visit = goal, WebShopContext(self.shop, opening + goal.instruction, sub_pages, seed)
        self._now = WebShopSnapshot()
        return Observation(self._written())

    def step(self, action: str) -> Observation:
        """Do one action; one that cannot be done changes nothing, and counts.

        Buying ends the episode with its reward; so does, without one, the last action allowed. After the end every
        action is answered ``The episode is over.`` Raises UsageError before the first ``reset``.
        """
        now = self.snapshot()
        if now.done:
            return Observation("The episode is over.", done=True, success=now.success)
        after, answer = self._acted(now, action)
        self._now = self._counted(after)
        text = self._written() if answer is None or self._now.page == "done" else answer
        return Observation(text, self._now.reward, self._now.done, self._now.success)

    def page(self) -> ShopPage:
        """The page as it is now, piece by piece. Raises UsageError before the first ``reset``."""
        now = self.snapshot()
        assert self._visit is not None, "an episode that has begun is a visit"
        return session.render_page(self._visit, now)

    def snapshot(self) -> WebShopSnapshot:
        """Where the episode stands, for ``restore``. Costs nothing. Raises UsageError before the first ``reset``."""
        if self._now is None:
            raise UsageError("WebShop has no task yet; call reset(task) first")
        return self._now

    def restore(self, snapshot: WebShopSnapshot) -> None:
        """Go on from a snapshot of the same task. Raises UsageError before the first ``reset``."""
        self.snapshot()
        self._now = snapshot

    def close(self) -> None:
        """End the episode. The catalogue stays open for others, as long as the process lives."""
        self._now = None

    # -------------------------------------------------------------- within

    @cached_property
    def _order(self) -> Sequence[int]:
        return goal_order(self.shop.catalogue.count_goal_templates(self._rules.goals))

    def _wish(self, seed: int) -> GoalTemplate:
        return self.shop.catalogue.goal_template(self._rules.goals, self._order[seed])

    def _known(self, task: Task) -> Task:
        kind, _, seed = task.id.partition("/")
        if kind == KIND and seed.isascii() and seed.isdigit() and len(seed) < 12:
            return self.task(kind, int(seed))
        if task.kind == KIND:
            return self.task(KIND, task.seed)
        raise self._unknown(task.id)

    def _unknown(self, id: str) -> UsageError:
        return UsageError(
            f"WebShop has no task {id[:80]!r}; a task's id looks like {KIND}/17, "
            f"and the seeds run from 0 to {len(self._order) - 1}"
        )

    def _acted(self, now: WebShopSnapshot, action: str) -> tuple[WebShopSnapshot, str | None]:
        """Where an action leads; with its answer, where that is not just the page."""
        assert self._visit is not None, "an episode that has begun is a visit"
        if self._rules.observation_mode in ("react", "adapt"):
            return paper_client.apply_action(self._visit, now, action)
        return session.apply_action(self._visit, now, action), None

    def _counted(self, after: WebShopSnapshot) -> WebShopSnapshot:
        """The moment with its action counted, and what was bought rewarded."""
        bought = after.page == "done"
        earned = self._earned(after) if bought else 0.0
        actions = after.actions + 1
        return msgspec.structs.replace(
            after,
            actions=actions,
            done=bought or actions >= self._rules.actions,
            success=bought and earned == 1.0,
            reward=earned,
        )

    def _earned(self, after: WebShopSnapshot) -> float:
        assert self._goal is not None, "an episode that has begun has a goal"
        product = self.shop.catalogue.product(after.product)
        price = sample_price(product, self._rules.price_seed)
        return purchase_reward(self._goal, product, price, after.chosen.values(), self._nouns)

    def _written(self) -> str:
        return PAGE_WRITERS[self._rules.observation_mode](self.page())
