"""WebShop as an environment: its tasks, its episodes, its settings."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.webshop_goods import BOTTLE, MUG, listed, record, shop, write_files

from codeplan import envs
from codeplan.envs.webshop.environment import WebShop, WebShopSettings, make
from codeplan.envs.webshop.goals import Product, WebShopGoal
from codeplan.errors import UsageError
from codeplan.testing.environment import EnvironmentContract
from codeplan.types import Task

ENV = make()
TASKS = ENV.tasks("test")


class TestWebShopIsAnEnvironment(EnvironmentContract):
    non_winning_action = "click[stand on your head]"

    def make(self):
        return make()


class TestWebShopWithThePapersAgentIsAnEnvironment(EnvironmentContract):
    def make(self):
        return make(agent="paper", actions=20)


class TestWebShopInTheFormOfReActIsAnEnvironment(EnvironmentContract):
    def make(self):
        return make(observation_mode="react", actions=20)


# ------------------------------------------------------------------ tasks


def test_the_embedded_catalogue_has_600_tasks_in_three_splits():
    sizes = {split: [t.seed for t in ENV.tasks(split)] for split in ("test", "dev", "train")}
    assert sizes == {"test": list(range(200)), "dev": list(range(200, 300)), "train": list(range(300, 600))}


def test_every_walkthrough_wins_its_task():
    for task in (task for split in ("test", "dev", "train") for task in ENV.tasks(split)):
        ENV.reset(task)
        *before, last = [ENV.step(action) for action in ENV.walkthrough(task)]
        assert not any(answer.done or answer.reward for answer in before)
        assert (last.done, last.success, last.reward) == (True, True, 1.0), task.id


def test_synthetic_goals_name_every_option():
    env = make(goals="synthetic")
    assert sum(len(env.tasks(split)) for split in ("test", "dev", "train")) > 1000
    task = next(t for t in env.tasks("test") if "size: " in t.goal and "color: " in t.goal)
    env.reset(task)
    assert [env.step(action) for action in env.walkthrough(task)][-1].success


@pytest.mark.parametrize("task", [Task("buy/17"), Task("mine", kind="buy", seed=17), TASKS[17]])
def test_a_task_is_found_by_its_id_or_by_its_kind_and_seed(task):
    assert ENV.reset(task) == ENV.reset(TASKS[17])


@pytest.mark.parametrize(
    "id", ["", "x" * 1000, "buy", "buy/600", "buy/-1", "buy/1x", "sell/1", "17", "buy/" + "9" * 1000, "buy/²"]
)
def test_an_unknown_task_is_refused_with_an_example_id(id):
    with pytest.raises(UsageError, match=r"has no task .*buy/17.*0 to 599") as refused:
        ENV.reset(Task(id))
    assert len(str(refused.value)) < 250


def test_price_seed_changes_only_the_caps():
    one, other = make(price_seed=1).tasks("test")[:50], make(price_seed=2).tasks("test")[:50]
    assert one == make(price_seed=1).tasks("test")[:50]
    assert one != other
    uncapped = [[t.goal.split(", and price lower")[0] for t in tasks] for tasks in (one, other)]
    assert uncapped[0] == uncapped[1]


PRINT_ALL = (
    "from codeplan.envs.webshop import make; import hashlib; e = make(); "
    "print(hashlib.sha256('|'.join(t.goal for s in ('test', 'dev', 'train') for t in e.tasks(s)).encode()).hexdigest())"
)


def test_tasks_do_not_depend_on_the_hash_seed():
    made = {
        subprocess.run(
            [sys.executable, "-c", PRINT_ALL], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1")
    }
    assert len(made) == 1


# ------------------------------------------------------------------ episodes

BUY_MUG = ("click[navy blue #12]", "click[black | white]", "click[large]", "click[Buy Now]")


def mugs(**rules):
    env = WebShop(
        shop(listed(options=("black | white", "large")), listed(BOTTLE, "i need a bottle", ("leak proof",))),
        WebShopSettings(**rules),
    )
    task = next(t for t in env.tasks("test") if "mug" in t.goal)
    env.reset(task)
    return env


def test_options_with_a_number_sign_or_a_slash_can_be_chosen():
    env = mugs()
    env.step("search[mug]")
    env.step(f"click[{MUG.asin}]")
    assert "[clicked button] navy blue #12 [clicked button_]" in env.step(BUY_MUG[0]).text
    text = env.step(BUY_MUG[1]).text
    assert text.startswith("You have clicked black | white.\nInstruction:")
    assert "[button] navy blue #12 [button_]" in text


@pytest.mark.parametrize("mode", ["text_rich", "text", "react"])
def test_options_and_queries_with_brackets_work(mode):
    odd = Product("B0ODD", "Odd [Thing]", options={"kind": ("a [b] c", "d]e", "[f")})
    env = WebShop(shop(listed(odd, "i need it", ("odd",), ("d]e",))), WebShopSettings(observation_mode=mode))
    env.reset(env.tasks("test")[0])
    assert "Total results: 1" in env.step("search[odd [thing]]").text
    env.step("click[B0ODD]")
    for value in ("a [b] c", "[f", "d]e"):
        env.step(f"click[{value}]")
        assert env.snapshot().chosen == {"kind": value}


def test_the_reward_uses_the_last_chosen_values():
    env = mugs()
    rewards = [env.step(a).reward for a in ("search[mug]", f"click[{MUG.asin}]", *BUY_MUG)]
    assert rewards == [0, 0, 0, 0, 0, 1.0]


def test_a_purchase_without_an_option_gets_a_part_of_the_reward_and_its_page_shows_nothing_hidden():
    env = mugs()
    for action in ("search[mug]", f"click[{MUG.asin}]", "click[large]"):
        env.step(action)
    bought = env.step("click[Buy Now]")
    assert (bought.reward, bought.done, bought.success) == (0.75, True, False)
    page = bought.text
    assert "\nYour score (min 0.0, max 1.0)\n0.75\n" in page
    visible = page.replace(MUG.asin, "").lower()
    assert not [hidden for hidden in (*env.goal(0).attributes, *env.goal(0).options) if hidden in visible]


def test_searches_are_counted_over_the_whole_episode():
    env = mugs()
    for action in ("search[mug]", "click[Back to Search]", "search[bottle]"):
        env.step(action)
    assert env.snapshot().searches == 2
    env.step("click[Back to Search]")
    assert env.snapshot().searches == 2


def test_only_a_click_clicks():
    env = mugs()
    env.step("search[mug]")
    before = env.snapshot()
    env.step(f"press[{MUG.asin}]")
    assert (env.snapshot().page, env.snapshot().product) == (before.page, before.product) == ("results", 0)
    env.step(f"click[{MUG.asin}]")
    assert env.snapshot().page == "item"


def test_going_back_to_the_results_clears_the_options_but_leaving_a_text_page_does_not():
    env = mugs()
    for action in ("search[mug]", f"click[{MUG.asin}]", "click[large]", "click[Features]", "click[< Prev]"):
        env.step(action)
    assert env.snapshot().chosen == {"size": "large"}
    env.step("click[< Prev]")
    assert env.snapshot().chosen == {}


def test_show_attrs_adds_a_page_of_attributes():
    for show, there in ((False, False), (True, True)):
        env = mugs(show_attrs=show)
        env.step("search[mug]")
        assert ("[button] Attributes [button_]" in env.step(f"click[{MUG.asin}]").text) is there
    assert env.step("click[Attributes]").text.endswith("\n dishwasher safe\n bpa free\n")


def test_adapt_mode_puts_a_sentence_before_the_instruction():
    env = mugs(observation_mode="adapt")
    goal = env.goal(0).instruction if "mug" in env.goal(0).instruction else env.goal(1).instruction
    first = env.reset_to_goal(WebShopGoal(goal, ()))
    assert first.text == f"\nWebshop \nInstruction:  \nI am looking to buy a product. {goal} \n[Search] "


# ------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        *(({"actions": count}, "actions") for count in (0, True)),
        *(({"client_products": count}, f"client_products of webshop .*{count}") for count in (0, 11)),
        ({"products": 0, "data": "."}, "products"),
        *(({name: "guess"}, name) for name in ("nouns", "search", "observation_mode", "goals")),
        *(({name: value}, "name their folder by data") for name, value in (("products", 5), ("index", "x"))),
        ({"search": "tantivy"}, "name their folder by data"),
    ],
)
def test_an_invalid_setting_is_refused(settings, why):
    with pytest.raises(UsageError, match=why):
        envs.make("webshop", **settings)


def test_the_user_s_own_files_make_a_shop(tmp_path):
    asked = {"B01": [{"instruction": "a thing.", "instruction_attributes": ["blue"], "instruction_options": []}]}
    data = write_files(
        tmp_path / "data", [record("B01", "Blue Thing", pricing="$5.00")], {"B01": {"attributes": ["blue"]}}, asked
    )
    env = envs.make("webshop", data=data)
    task = env.tasks("test")[0]
    assert re.fullmatch(r"a thing, and price lower than \d0\.00 dollars", task.goal)
    env.reset(task)
    assert [env.step(action) for action in env.walkthrough(task)][-1].success


# ------------------------------------------------------------------ the embedded catalogue


def script():
    path = Path(__file__).parents[2] / "scripts" / "make_webshop_catalogue.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_embedded_catalogue_is_up_to_date_with_its_script(capsys):
    assert script().main(["--check"]) == 0
    assert "up to date" in capsys.readouterr().out


def test_the_embedded_catalogue_is_small_and_has_options_with_special_characters():
    data = script().CATALOGUE.read_text()
    assert len(data.encode()) < 400_000
    assert data.count("\n") == 300
    assert " | " in data
    assert "#" in data


@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_clients_page_shows_as_many_products_as_set(count):
    env = make(observation_mode="adapt", client_products=count)
    env.reset(TASKS[0])
    page = env.step("search[bottle]").text
    shown = re.findall(r"^\[(B0\w{8})\]", page, re.MULTILINE)
    assert len(shown) == count
    assert env.step(f"click[{shown[-1]}]").text != "Invalid action!"


def test_webshops_own_forms_show_the_whole_page():
    env = make(client_products=1)
    env.reset(TASKS[0])
    assert len(re.findall(r"\[button\] B0\w{8} ", env.step("search[bottle]").text)) == 10
