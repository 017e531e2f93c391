"""The stand-in as an executor in HotpotQA and WebShop: it reads, answers, shops, and learns from trials."""

import pytest
from support.standin_prompts import next_line

from codeplan import envs, methods
from codeplan.runner.episodes import run
from codeplan.standin.hotpotqa import ParsedQuestion, find_fact, parse_goal, work_out_answer
from codeplan.standin.model import formalise_action
from codeplan.standin.webshop import page_kind, read_offers, read_options

WORLDS = {"hotpotqa": {}, "webshop": {"observation_mode": "adapt"}, "webshop, rich": {"observation_mode": "text_rich"}}
"""Settings by world; the name begins with the environment's."""


def episodes(world, method, weakness, count=6, **settings):
    """The results of some tasks."""
    env, made = envs.make(world.split(",")[0], **WORLDS[world]), methods.make(method, **settings)
    tasks = list(env.tasks("dev" if env.name == "hotpotqa" else "test"))[:count]
    return [run(env, task, made, "scripted", weakness=weakness) for task in tasks]


def wins(*arguments, **settings):
    return sum(result.success for result in episodes(*arguments, **settings))


@pytest.mark.parametrize("world", WORLDS)
def test_without_a_weakness_it_wins_most_tasks_by_itself(world):
    played = episodes(world, "react", "none", 8, calls=45)
    assert sum(result.success for result in played) >= 0.75 * len(played)
    assert max(result.actions for result in played) <= 14


def test_it_answers_every_included_question():
    env = envs.make("hotpotqa")
    played = [run(env, t, methods.make("react"), "scripted") for split in env.splits for t in env.tasks(split)]
    assert all(result.success for result in played)


@pytest.mark.parametrize("world", WORLDS)
def test_adapt_wins_once_it_may_take_the_goal_apart(world):
    assert wins(world, "adapt", "span", 4, max_depth=1) == 0
    assert wins(world, "adapt", "span", 4, max_depth=2) >= 3


@pytest.mark.parametrize("world", WORLDS)
def test_reflexion_succeeds_more_often_than_trying_again(world):
    assert wins(world, "reflexion", "forgetful", 4) > wins(world, "try-again", "forgetful", 4)


METHODS = {
    "plan-and-execute": {},
    "adapt": {"first": "plan", "max_depth": 3},
    "react": {"formalise": True, "example": False},
    "autoplan": {"executor": {"name": "react", "example": False, "formalise": True}},
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_the_papers_rows_plays_to_its_end(world, method):
    assert wins(world, method, "none", 3, **METHODS[method]) >= 2


# ------------------------------------------------------------------ single lines


def line(env, *arguments):
    return next_line(envs.make(env).space.forms, *arguments)


GOAL = "Which is longer, the Po or the Vltava?"


def test_it_searches_looks_up_and_gives_up_on_a_silent_page():
    turns = [("search[Po]", "The Po is a river.")]
    assert line("hotpotqa", f"Question: {GOAL}", GOAL) == "search[Po]"
    assert line("hotpotqa", f"Question: {GOAL}", GOAL, turns) == "lookup[kilometres long]"
    turns.append(("lookup[kilometres long]", "No more results."))
    assert "no page says how many kilometres long is the Po" in line("hotpotqa", f"Question: {GOAL}", GOAL, turns)


def test_it_takes_the_first_similar_title_and_gives_up_without_one():
    missed = ("search[Po]", "Could not find Po. Similar: ['Po (river)', 'Pau'].")
    assert line("hotpotqa", f"Question: {GOAL}", GOAL, [missed]) == "search[Po (river)]"
    alone = ("search[Po]", "Could not find Po. Similar: [].")
    assert "Task failed!" in line("hotpotqa", f"Question: {GOAL}", GOAL, [alone])
    again = ("search[Po (river)]", "Could not find Po (river). Similar: ['Pau'].")
    assert "Task failed!" in line("hotpotqa", f"Question: {GOAL}", GOAL, [missed, again])


def test_it_finishes_with_what_follows_from_both_pages():
    turns = [
        ("search[Po]", "The Po is a river, 652 kilometres long."),
        ("search[Vltava]", "The Vltava is a river."),
        ("lookup[kilometres long]", "(Result 1 / 1) It is 1,430 kilometres long."),
    ]
    assert line("hotpotqa", f"Question: {GOAL}", GOAL, turns) == "finish[Vltava]"


@pytest.mark.parametrize(
    ("rule", "facts", "answer"),
    [
        ("last", ("x", "y"), "y"),
        ("least", ("1,000", "999"), "Vltava"),
        ("most", ("1,000", "999"), "Po"),
        ("same", ("Rome", "Rome"), "yes"),
        ("same", ("Rome", "Bonn"), "no"),
    ],
)
def test_the_answer_follows_from_the_facts(rule, facts, answer):
    assert work_out_answer(ParsedQuestion(parse_goal(GOAL).page_questions, rule), facts) == answer


def test_a_question_of_an_unknown_form_has_no_fact():
    assert find_fact("what colour is the Po", "The Po is green.") is None


ERRAND = "i need a mug, size large, and price lower than 20.00 dollars"
FIRST = f"\nWebshop \nInstruction:  \n{ERRAND} \n[Search] "
RESULTS = "\n[Back to Search] \nPage 1 (Total results: 2) \n[Next >] \n[B0MUG00001] \nMug \n$30.0 \n[B0MUG00002] \nMug \n$1.0 to $15.5 "
ITEM = "\n[Back to Search] \n[< Prev] \nsize [small][large]\ncolor [red | blue]\nMug \nPrice: $15.5 \nRating: N.A. \n[Features] \n[Buy Now] "


def test_it_opens_what_it_can_afford_chooses_and_buys():
    turns = []
    for answer in (RESULTS, ITEM, "You have clicked large."):
        turns.append((line("webshop", FIRST, ERRAND, turns), answer))
    assert [said for said, _ in turns] == ["search[mug]", "click[B0MUG00002]", "click[large]"]
    assert line("webshop", FIRST, ERRAND, turns) == "click[Buy Now]"


def test_it_leaves_a_page_that_an_earlier_attempt_left_open():
    assert line("webshop", FIRST, ERRAND, [("search[mug]", "Invalid action!")]) == "click[Back to Search]"


def test_a_shop_without_anything_affordable_is_searched_otherwise_and_then_left():
    nothing = "\n[Back to Search] \nPage 1 (Total results: 0) \n[Next >] "
    turns = []
    while "think" not in (said := line("webshop", FIRST, ERRAND, turns)):
        turns.append((said, nothing if said.startswith("search") else FIRST))
    assert [s for s, _ in turns] == [
        "search[mug]",
        "click[Back to Search]",
        "search[mug large]",
        "click[Back to Search]",
    ]
    assert said.endswith("Task failed!")


def test_pages_of_both_forms_are_read_alike():
    rich = (
        "Instruction:\nx\n[button] Back to Search [button_]\n[button] < Prev [button_]\nsize\n"
        "  [button] small [button_]\n  [clicked button] large [clicked button_]\ncolor\n  [button] red | blue [button_]\n"
        "Mug\nPrice: $15.5\n[button] Buy Now [button_]\n"
    )
    assert read_options(rich) == read_options(ITEM) == {"size": ["small", "large"], "color": ["red | blue"]}
    assert [(offer.id, offer.price) for offer in read_offers(RESULTS)] == [("B0MUG00001", 30.0), ("B0MUG00002", 15.5)]
    assert read_offers(rich) == read_offers(ITEM) == []
    pages = (FIRST, RESULTS, ITEM, rich, "[Back to Search] \n[< Prev] \nx", "You have clicked x.")
    assert [page_kind(p) for p in pages] == ["search", "results", "item", "item", "sub", None]


@pytest.mark.parametrize("action", ["search[the Po]", "click[a pack of 2]", "finish[an hour]"])
def test_an_action_in_brackets_keeps_its_words(action):
    assert formalise_action(f"<line>\n{action}\n</line>") == action
