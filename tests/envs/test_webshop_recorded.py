"""Replays sessions recorded from the original WebShop: the pages are the same."""

import json
import re
from functools import cache

import pytest
from msgspec import structs
from support.webshop_goods import SHARED, shop

from codeplan.envs.webshop import session
from codeplan.envs.webshop.catalogue import CatalogueEntry, ShoppingInstruction
from codeplan.envs.webshop.environment import WebShop, WebShopSettings
from codeplan.envs.webshop.goals import NO_CAP, Product, WebShopGoal, parse_prices, sample_price

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded sessions are not here")


def lines(name):
    return [json.loads(line) for line in (SHARED / name).read_text().splitlines()]


# ------------------------------------------------------------------ recorded from the original server


def refills():
    """The products on the recorded pages, with the properties that explain their order."""
    stick = Product(
        "B000000001",
        "Calm Lavender Deodorant Stick, Natural, 3-Ounce",
        "A gentle natural deodorant.",
        ("Aluminum free", "Suited to sensitive skin"),
        (10.99,),
        "beauty",
        "deodorants",
        "Beauty & Personal Care › Deodorants › Sticks",
        {"scent": ("calm lavender", "bright citrus"), "size": ("3 ounce", "6 ounce | twin")},
        ("natural",),
    )
    asked = ShoppingInstruction(
        "i need a 3 ounce citrus deodorant that is natural.", ("natural",), ("bright citrus", "3 ounce")
    )
    yield CatalogueEntry(stick, (asked,))
    spray = "For long days."
    yield CatalogueEntry(Product("B000000002", "Citrus Deodorant Spray for Men", spray, prices=(15.0, 22.5)))
    yield CatalogueEntry(Product("B000000003", "Bamboo Toothbrush"))
    for number in range(4, 18):
        title = f"Deodorant Refill Pack Number {number}"
        yield CatalogueEntry(Product(f"B0000000{number:02}", title, prices=(number + 0.5,)))


def opened(mode):
    """An environment with the recorded goal: its seed draws the recorded cap."""
    for seed in range(50):
        env = WebShop(shop(*refills()), WebShopSettings(observation_mode=mode, price_seed=seed))
        if env.goal(0).price_upper == 50.0:
            return env
    raise AssertionError("no seed draws the recorded cap")


@pytest.mark.parametrize("recorded", lines("webshop_golden.jsonl") if SHARED.is_dir() else [], ids=lambda r: r["mode"])
def test_pages_and_buttons_of_recorded_sessions_are_the_same(recorded):
    env = opened(recorded["mode"])
    goal = recorded["goal"]
    first, *steps = recorded["steps"]
    assert env.goal(0).instruction == goal["instruction_text"]
    assert env.reset(env.task("buy", 0)).text == first["observation"]
    for step in steps:
        seen = env.step(step["action"])
        assert seen.text == step["observation"], step["action"]
        assert (seen.reward, seen.done) == (step["reward"], step["done"])
        assert list(session.clickable_elements(env.page())) == [
            c for c in step["available"]["clickables"] if c != "search"
        ]
    assert seen.success


# ------------------------------------------------------------------ recorded from ReAct's client

OTHERWISE = {
    ("fixed_0", "click[Buy Now]"): "the server broke on the # of the option that was chosen: no page, and no score",
    (
        "fixed_280",
        "search[4x-large long sleeved shirt soft material g05#black]",
    ): "the server broke on the # of the query",
}
"""Steps whose recorded answers do not come from the shop, and why."""


@cache
def seen():
    """The products of the recorded pages. Options are known only for opened products."""
    known_products = json.loads((SHARED / "webshop_products_seen.json").read_text())
    return {
        asin: Product(
            asin,
            facts["title"],
            prices=parse_prices(facts["price"].replace(" to ", "")),
            options={name: tuple(values) for name, values in facts.get("options", {}).items()},
        )
        for asin, facts in known_products.items()
    }


class RecordedSearches:
    """Returns the recorded results: the three products that the client showed, and placeholders for the rest."""

    def __init__(self, catalogue, episode):
        self._catalogue, self._found = catalogue, []
        for action, text in episode["steps"]:
            if action.startswith("search[") and "Page 1" in text:
                total = int(re.search(r"Total results: (\d+)", text)[1])
                shown = [self._catalogue.number_of(a) for a in re.findall(r"\[(B\w{9})\]", text)]
                self._found.append((*shown, *[self._catalogue.size] * (total - len(shown))))

    def find_best(self, words, limit):
        return self._found.pop(0) if self._found else ()


@cache
def everything():
    return shop(*(CatalogueEntry(product) for product in seen().values()))


def goal_of(episode):
    cap = re.search(r"price lower than ([\d.]+) dollars", episode["goal"])
    return WebShopGoal(episode["goal"], ("never known",), price_upper=float(cap[1]) if cap else NO_CAP)


def replayed(episode, goal, price_seed=0):
    """The episode's steps with their observations here."""
    goods = everything().catalogue
    env = WebShop(
        type(everything())(goods, RecordedSearches(goods, episode)),
        WebShopSettings(observation_mode="react", price_seed=price_seed),
    )
    yield ["reset", episode["steps"][0][1]], env.reset_to_goal(goal)
    for step in episode["steps"][1:]:
        yield step, env.step(step[0])


def cleaned(text):
    """A recorded answer without the notebook's line ends and a Python warning."""
    return text.split("\n\n/Users/")[0].strip("\n")


EPISODES = lines("webshop_transcripts.jsonl") if SHARED.is_dir() else []
BOUGHT = [e for e in EPISODES if "Your score" in e["steps"][-1][1]]


def test_recorded_episodes_of_react_show_the_same_pages_and_answers():
    compared = 0
    for episode in EPISODES:
        for (action, recorded), here in replayed(episode, goal_of(episode)):
            if "Your score" not in recorded and (episode["id"], action) not in OTHERWISE:
                assert cleaned(recorded) == here.text.strip("\n"), (episode["id"], action)
                compared += 1
    assert compared == 849


@pytest.mark.parametrize("episode", [e for e in BOUGHT if e["score"] == 1.0], ids=lambda e: e["id"])
def test_a_recorded_full_reward_is_the_same_here(episode):
    """After a full reward, the goal can be reconstructed from the purchase: they agree in everything that counts."""
    clicked = [action[6:-1] for action, answer in episode["steps"] if answer.startswith("You have clicked")]
    bought = seen()[next(action[6:-1] for action, _ in reversed(episode["steps"]) if action[6:-1] in seen())]
    chosen = {name: value for value in clicked for name, values in bought.options.items() if value in values}
    goal = structs.replace(
        goal_of(episode), attributes=(bought.title.lower(),), options=tuple(chosen.values()), name=bought.title
    )
    seed = next(
        seed for seed in range(99) if sample_price(bought, seed) <= goal.price_upper
    )  # a price within the range
    *_, ((_, recorded), here) = replayed(episode, goal, seed)
    assert here.text == cleaned(recorded) == "Your score (min 0.0, max 1.0): 1.0"
    assert here.success
