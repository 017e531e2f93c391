"""Properties that hold for any sequence of actions in the shop.

CODEPLAN_SEQUENCES is the number of sessions.
"""

import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from codeplan.envs.webshop import session
from codeplan.envs.webshop.environment import WebShop, WebShopSettings
from codeplan.envs.webshop.loading import load_embedded_shop
from codeplan.envs.webshop.session import BACK, SEARCH
from codeplan.types import Observation

SEQUENCES = int(os.environ.get("CODEPLAN_SEQUENCES", "40"))
WORDS = st.sampled_from(
    ["black", "t-shirt", "men's", "<r>", "<a>", "<c>", "<q>", "cotton", "beauty", "shampoo", "the", "#", "/", '"', "*"]
)


class ShopMachine(RuleBasedStateMachine):
    """Shops at random: searches, clicks on existing and missing elements, and sends invalid actions."""

    @initialize(
        seed=st.integers(0, 599),
        mode=st.sampled_from(["text", "text_rich", "react", "adapt"]),
        show_attrs=st.booleans(),
    )
    def begin(self, seed, mode, show_attrs):
        rules = WebShopSettings(observation_mode=mode, show_attrs=show_attrs, actions=10_000)
        self.env, self.brief = WebShop(load_embedded_shop(), rules, embedded=True), mode in ("react", "adapt")
        self.task = self.env.task("buy", seed)
        self.env.reset(self.task)

    def do(self, action):
        seen = self.env.step(action)
        assert type(seen) is Observation
        assert seen.text.strip()
        assert 0 <= seen.reward <= 1
        return seen

    @property
    def clickable(self):
        return list(session.clickable_elements(self.env.page()).values())

    @rule(query=st.one_of(st.lists(WORDS, min_size=1, max_size=5).map(" ".join), st.text(min_size=1, max_size=20)))
    def search(self, query):
        before = self.env.snapshot()
        self.do(f"search[{query}]")
        after = self.env.snapshot()
        if (
            before.done
            or (self.brief and before.page != "search")
            or session.parse_action(f"search[{query}]")[0] != "search"
        ):
            assert replace(after, actions=0) == replace(before, actions=0)
        else:
            assert (after.page, after.page_number, after.chosen) == ("results", 1, {})

    @precondition(lambda self: self.clickable)
    @rule(draw=st.floats(0, 1, exclude_max=True), upper=st.booleans())
    def click_on_what_is_there(self, draw, upper):
        piece = self.clickable[int(draw * len(self.clickable))]
        before = self.env.snapshot()
        name = piece.text.upper() if upper and not self.brief else piece.text
        seen = self.do(f"click[{name}]")
        if seen.text == "Invalid action!":
            assert self.brief and piece.text in ("Next >", "< Prev")
        elif piece.kind == "value":
            assert self.env.snapshot().chosen[piece.option] == piece.text
        else:
            assert replace(self.env.snapshot(), actions=0) != replace(before, actions=0)

    @rule(name=st.text(min_size=1, max_size=20))
    def click_on_what_is_not_there(self, name):
        before = self.env.snapshot()
        if session.parse_action(f"click[{name}]")[1] not in session.clickable_elements(self.env.page()):
            self.do(f"click[{name}]")
            assert replace(self.env.snapshot(), actions=0, done=False) == replace(before, actions=0, done=False)

    @rule(action=st.text(max_size=30))
    def do_nonsense(self, action):
        self.do(action)

    @invariant()
    def the_way_back_to_the_search_is_always_there_until_something_is_bought(self):
        shown = {piece.text for piece in self.env.page()}
        assert self.env.snapshot().page == "done" or BACK in shown or SEARCH in shown

    @invariant()
    def every_option_that_is_chosen_is_one_of_its_values(self):
        now = self.env.snapshot()
        assert not now.chosen or now.page in ("item", "sub", "done")
        if now.chosen:
            options = self.env.shop.catalogue.product(now.product).options
            assert all(value in options[name] for name, value in now.chosen.items())

    @invariant()
    def the_task_can_still_be_won(self):
        now = self.env.snapshot()
        if now.done:
            return
        for action in self.env.walkthrough(self.task, from_search=now.page == "search"):
            seen = self.env.step(action)
        assert (seen.success, seen.reward) == (True, 1.0)
        self.env.restore(now)


TestShop = ShopMachine.TestCase
TestShop.settings = settings(max_examples=SEQUENCES, stateful_step_count=30, deadline=None)
