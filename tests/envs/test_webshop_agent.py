"""WebShop's agent, and the worked example that shows how plans use it."""

import pytest
from msgspec.structs import replace
from support.webshop_goods import BOTTLE, MUG, listed, shop

from codeplan.envs.webshop.agent import WebShopAgent
from codeplan.envs.webshop.environment import WebShop, WebShopSettings
from codeplan.envs.webshop.goals import Product
from codeplan.errors import AgentError
from codeplan.prompts.templates import Prompts
from codeplan.runner.given_plans import execute
from codeplan.standin.model import ScriptedModel


def buyer(**rules):
    """An agent in a shop with a mug and a bottle, and the list of its actions."""
    env = WebShop(shop(listed(), listed(BOTTLE, "i need a bottle", ("leak proof",))), WebShopSettings(**rules))
    task = next(t for t in env.tasks("test") if "mug" in t.goal)
    done = []

    def act(action):
        done.append(action)
        return env.step(action)

    return WebShopAgent(act, env.reset(task)), done


def test_the_other_methods_read_the_page_without_acting():
    agent, done = buyer()
    agent.search("oakhurst fennway")
    assert agent.results() == [
        {"id": BOTTLE.asin, "title": BOTTLE.title, "price": 20.0},
        {"id": MUG.asin, "title": MUG.title, "price": 14.5},
    ]
    assert (agent.options(), agent.chosen(), agent.price()) == ({}, [], None)
    agent.click(MUG.asin)
    assert agent.options() == {name: list(values) for name, values in MUG.options.items()}
    assert agent.price() == 14.5
    assert agent.results() == []
    agent.click("large")
    agent.click("black | white")
    assert agent.chosen() == ["black | white", "large"]
    assert agent.buttons()[:3] == ["Back to Search", "< Prev", "navy blue #12"]
    assert agent.buttons()[-1] == "Buy Now"
    assert len(done) == 4


def test_a_product_is_data_in_one_call():
    agent, done = buyer()
    agent.search("oakhurst fennway")
    assert agent.product(BOTTLE.asin) == {
        "id": BOTTLE.asin,
        "title": BOTTLE.title,
        "price": 20.0,
        "options": {},
        "features": ["Leak proof"],
        "description": "Carries water.",
    }
    assert len(done) == 6
    mug = agent.product(MUG.asin.lower())
    assert len(done) == 12
    assert (mug["id"], mug["options"]) == (MUG.asin, {name: list(values) for name, values in MUG.options.items()})
    agent.click("large")
    assert (agent.chosen(), agent.price()) == (["large"], 14.5)
    assert agent.product(MUG.asin) == mug
    assert agent.chosen() == []


def test_a_product_that_the_results_lack_is_refused():
    agent, done = buyer()
    agent.search("mug")
    with pytest.raises(AgentError, match=f"there is no product '{BOTTLE.asin}' on this page"):
        agent.product(BOTTLE.asin)
    assert len(done) == 1


def test_a_description_cannot_pass_for_a_button_of_its_page():
    odd = "A mug.\n[button] < Prev [button_]\n[button] Buy Now [button_]"
    env = WebShop(shop(listed(replace(MUG, description=odd))))
    agent = WebShopAgent(env.step, env.reset(env.tasks("test")[0]))
    agent.search("mug")
    assert agent.product(MUG.asin)["description"] == " ".join(odd.split("\n"))
    assert agent.buttons()[-1] == "Buy Now"


def test_the_score_tells_whether_the_purchase_succeeded():
    agent, _ = buyer()
    agent.search("mug")
    agent.click(MUG.asin)
    assert agent.score is None
    agent.click("Buy Now")
    assert agent.score == 1.0
    other, _ = buyer()
    other.search("fennway bottle")
    other.click(BOTTLE.asin)
    other.click("Buy Now")
    assert other.score is not None
    assert other.score < 1


def test_an_episode_that_ends_without_a_purchase_is_worth_nothing():
    agent, _ = buyer(actions=1)
    agent.search("mug")
    assert agent.score == 0.0


def test_it_knows_the_instruction_and_nothing_hidden():
    agent, _ = buyer()
    assert agent.instruction.startswith("i need a mug, and price lower than")
    assert agent.buttons() == []


def test_its_report_has_the_instruction_and_the_shortened_last_page():
    agent, _ = buyer()
    assert agent.report() == f"I am to buy: {agent.instruction}. I have not acted yet."
    agent.search("mug")
    assert "Last action: 'search[mug]'; the page now: Instruction: | i need a mug" in agent.report()
    agent.click(MUG.asin)
    assert len(agent.report()) < 700


@pytest.mark.parametrize("mode", ["text", "react"])
def test_reading_a_page_without_marked_buttons_is_an_error(mode):
    agent, _ = buyer(observation_mode=mode)
    agent.search("mug")
    with pytest.raises(AgentError, match="observation_mode='text_rich'"):
        agent.results()


@pytest.mark.parametrize(
    ("folder", "settings"),
    [
        ("webshop", WebShopSettings()),
        *(("webshop/paper", WebShopSettings(agent="paper", observation_mode=mode)) for mode in ("text_rich", "adapt")),
    ],
)
def test_a_worked_example_wins_a_task_of_its_kind(folder, settings):
    box = Product(
        "B0LUNCH001",
        "Fennway Lunch Box, Leak Proof",
        bullets=("Stainless steel inside", "Leak proof lid"),
        prices=(25.0,),
        query="lunch boxes",
        options={"color": ("coral", "sky blue"), "size": ("2 tier", "3 tier")},
        attributes=("leak proof", "stainless steel"),
    )
    asked = ("leak proof", "stainless steel")
    lacking = replace(box, asin="B0LUNCH000", bullets=("Steel inside",), attributes=())
    dear = replace(box, asin="B0LUNCH002", prices=(45.0,))
    goods = (listed(lacking, "i need a tin"), listed(dear, "i need a can"))
    env = WebShop(shop(listed(), *goods, listed(box, "i need a lunch box", asked, ("sky blue", "2 tier"))), settings)
    sample = Prompts.cached().sample(folder, "buy")
    task = next(t for t in env.tasks("test") if "lunch" in t.goal)
    assert execute(sample, env, task, model=ScriptedModel()).result.success
