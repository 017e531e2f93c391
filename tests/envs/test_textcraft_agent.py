"""TextCraft's agent: its actions, crafting by ingredients, and what it holds after a failure; and the worked examples."""

import pytest
from support.boxes import Replies
from support.scripted_agents import scripted

from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.environment import TextCraft, recipe_book
from codeplan.errors import AgentError
from codeplan.prompts.templates import Prompts
from codeplan.runner.episodes import run
from codeplan.runner.given_plans import execute
from codeplan.standin.model import ScriptedModel
from codeplan.types import Finished, Observation

FIRST = Observation(
    "Crafting commands:\n"
    "craft 4 oak planks using 1 oak logs\n"
    "craft 4 stick using 2 planks\n"
    "craft 1 stick using 2 bamboo\n"
    "craft 1 shield using 6 planks, 1 iron ingot\n"
    "\n"
    "Goal: craft shield."
)


def scripted_agent(*texts):
    """An agent whose environment gives these answers, and the list of its actions."""
    return scripted(TextCraftAgent, FIRST, *texts)


def shield():
    return next(t for t in TextCraft().tasks("train") if t.goal == "craft shield")


def test_it_reads_goal_and_commands_from_the_first_observation():
    agent, done = scripted_agent()
    assert (agent.goal, agent.craftable) == ("shield", ["oak planks", "shield", "stick"])
    assert agent.recipes("stick") == [
        {"count": 4, "ingredients": {"planks": 2}},
        {"count": 1, "ingredients": {"bamboo": 2}},
    ]
    assert agent.recipes("shield") == [{"count": 1, "ingredients": {"planks": 6, "iron ingot": 1}}]
    assert agent.recipes("planks") == agent.recipes("bow") == []
    assert done == []


@pytest.mark.parametrize("first", [None, Observation(""), Observation("Hello.")])
def test_without_commands_it_knows_none(first):
    agent = TextCraftAgent(lambda action: Observation(""), first)
    assert (agent.goal, agent.craftable, agent.recipes("stick")) == ("", [], [])


def test_it_derives_the_inventory_from_the_answers():
    agent, _ = scripted_agent("Got 2 oak logs", "Crafted 4 minecraft:oak_planks", "Could not find stick")
    assert agent.report() == "My goal is shield. I hold nothing. I have not acted yet."
    agent.get(2, "oak logs")
    agent.craft(4, "oak planks", {"oak logs": 1})
    agent.get(1, "stick")
    assert agent.report() == (
        "My goal is shield. I hold 1 oak logs, 4 oak planks. "
        "Last action: 'get 1 stick'; it answered: 'Could not find stick'"
    )


def test_the_report_never_differs_from_the_inventory():
    env = TextCraft()
    for task in env.tasks("test")[::17]:
        agent = TextCraftAgent(env.step, env.reset(task))
        for action in env.walkthrough(task)[:-1]:
            if action.startswith("get "):
                _, count, item = action.split(" ", 2)
                agent.get(int(count), item)
            else:
                made, taken = action.removeprefix("craft ").split(" using ")
                pairs = [each.split(" ", 1) for each in taken.split(", ")]
                agent.craft(int(made.split()[0]), made.split(" ", 1)[1], {name: int(n) for n, name in pairs})
        before = agent.report().split(" Last action")[0]
        agent.inventory()
        assert agent.report().split(" Last action")[0] == before


def test_an_unexpected_answer_to_inventory_changes_nothing():
    agent, _ = scripted_agent("Got 1 string", "The episode is over.")
    agent.get(1, "string")
    assert agent.inventory() == {"string": 1}


@pytest.mark.parametrize("ingredients", ["2 planks", ["planks"], None, 2])
def test_ingredients_that_are_not_a_dict_are_refused_with_an_example(ingredients):
    agent, done = scripted_agent()
    with pytest.raises(AgentError, match=r"dict such as \{'oak planks': 2\}, not as a"):
        agent.craft(4, "stick", ingredients)
    assert done == []


# ------------------------------------------------------------------ crafting by ingredients


def supplied(**held):
    """An agent of a real task, of a shield, that has got these items; and the list of its further actions."""
    env, done = TextCraft(), []

    def act(action):
        done.append(action)
        return env.step(action)

    agent = TextCraftAgent(act, env.reset(shield()))
    for item, count in held.items():
        agent.get(count, item.replace("_", " "))
    del done[:]
    return agent, done


def test_it_crafts_as_often_as_it_takes_and_no_more():
    agent, done = supplied(oak_logs=9)
    assert agent.craft_until(8, "oak planks", ["oak logs"]) == 8
    assert done == ["craft 4 oak planks using 1 oak logs"] * 2
    assert agent.craft_until(9, "oak planks", ["oak logs"]) == 12
    assert len(done) == 3
    assert agent.held == {"oak logs": 6, "oak planks": 12}
    assert agent.inventory() == agent.held


def test_what_is_there_already_is_not_crafted_again():
    agent, done = supplied(oak_logs=1)
    agent.craft_until(4, "oak planks", ["oak logs"])
    assert agent.craft_until(4, "oak planks", ["oak logs"]) == agent.craft_until(1, "oak planks", ["oak logs"]) == 4
    assert len(done) == 1


def test_a_sort_stands_for_the_ingredient_of_the_command():
    agent, done = supplied(oak_logs=2, iron_ingot=1)
    agent.craft_until(6, "oak planks", ["oak logs"])
    (recipe,) = agent.recipes("shield")
    assert agent.craft_until(1, "shield", recipe["ingredients"], {"planks": "oak planks"}) == 1
    assert done[-1] == "craft 1 shield using 6 oak planks, 1 iron ingot"


@pytest.mark.parametrize(
    ("ingredients", "sorts", "action", "answer"),
    [
        (["planks"], {"planks": "oak planks"}, "craft 4 stick using 2 oak planks", "Crafted 4 minecraft:stick"),
        (["bamboo"], None, "craft 1 stick using 2 bamboo", "Crafted 1 minecraft:stick"),
    ],
)
def test_the_ingredients_choose_among_the_commands_for_an_item(ingredients, sorts, action, answer):
    agent, done = scripted_agent("Inventory: [bamboo] (9) [oak planks] (9) ", answer)
    agent.inventory()
    agent.craft_until(1, "stick", ingredients, sorts)
    assert done[-1] == action


def test_what_is_missing_is_said_before_anything_is_taken():
    agent, done = supplied(oak_logs=1)
    with pytest.raises(AgentError, match=r"^to craft 8 oak planks, the inventory lacks 1 oak logs; get or craft that"):
        agent.craft_until(5, "oak planks", ["oak logs"])
    with pytest.raises(AgentError, match="to craft 1 shield, the inventory lacks 6 oak planks, 1 iron ingot;"):
        agent.craft_until(1, "shield", ["planks", "iron ingot"], {"planks": "oak planks"})
    assert done == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1, "bow", ["string"]), "no command makes 'bow'; the attribute craftable"),
        ((1, "shield", ["oak planks", "iron ingot"]), "a command makes it from: planks, iron ingot. .* by sorts"),
        ((1, "shield", []), "no command makes shield from 'nothing'"),
        ((1, "shield", ["planks"]), "no command makes shield from 'planks'"),
        ((1, "shield", ["planks", "iron ingot"], {"wool": "white wool"}), "sorts names 'wool', which"),
        *(
            ((1, "shield", ["planks", "iron ingot"], s), "takes sorts as a dict")
            for s in (["oak planks"], {"planks": 6})
        ),
        *(((1, "shield", given), "ingredients as a list of names") for given in ("planks", [["planks"]])),
        *(((count, "oak planks", ["oak logs"]), f"a count from 1 up, not {count}") for count in (0, True, 1.5)),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence_without_an_action(arguments, said):
    agent, done = supplied(oak_logs=9, iron_ingot=9)
    with pytest.raises(AgentError, match=said):
        agent.craft_until(*arguments)
    assert done == []


def test_a_wrong_sort_is_refused_with_the_world_s_own_answer():
    agent, _ = supplied(oak_logs=6, iron_ingot=1)
    assert agent.craft_until(1, "shield", ["planks", "iron ingot"], {"planks": "oak logs"}) == 0
    assert "Could not find a valid recipe for" in agent.report()
    assert agent.inventory() == {"oak logs": 6, "iron ingot": 1}


def test_the_end_of_the_episode_ends_it_too():
    env = TextCraft(actions=2)
    agent = TextCraftAgent(env.step, env.reset(shield()))
    agent.get(9, "oak logs")
    assert agent.craft_until(36, "oak planks", ["oak logs"]) == 4


# ------------------------------------------------------------------ what can be got


def test_whether_get_gives_an_item_is_said_only_where_it_is_certain():
    own, recorded = TextCraft(), TextCraft(exact=True)
    tasks = [(own, task) for split in ("test", "dev", "train") for task in own.tasks(split)]
    certain = 0
    for env, task in [*tasks, *((recorded, task) for task in own.tasks("test")[::2])]:
        agent = TextCraftAgent(env.step, env.reset(task))
        named = {name for item in agent.craftable for r in agent.recipes(item) for name in r["ingredients"]}
        for name in {*named, *agent.craftable}:
            obtainable = recipe_book().is_obtainable(name.replace(" ", "_"))
            assert agent.can_get(name) in (obtainable, None), (task.id, name)
            certain += agent.can_get(name) is not None
    assert certain > 5_000


def test_what_the_world_answered_decides():
    agent, done = scripted_agent("Could not find planks", "Got 1 oak logs", "The episode is over.")
    assert [agent.can_get(name) for name in ("planks", "oak logs", "iron ingot", "stick")] == [None, None, True, False]
    for name in ("planks", "oak logs", "diamond"):
        agent.get(1, name)
    assert [agent.can_get(name) for name in ("planks", "oak logs", "diamond")] == [False, True, None]
    assert len(done) == 3


def test_a_name_that_is_no_text_is_refused():
    agent, _ = scripted_agent()
    with pytest.raises(AgentError, match="can_get takes the name of an item, not "):
        agent.can_get(["oak logs"])


# ------------------------------------------------------------------ after a failure

PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        agent.get(2, 'oak logs')
        agent.get(1, 'iron ingot')
        assert agent.can_get('oak logs'), 'Error in [Step 1]'
    if start_from <= 2:
        planks = agent.craft_until(6, 'oak planks', ['oak logs'])
        assert agent.held == {'iron ingot': 1, 'oak planks': 8}, f'Error in [Step 2]: {agent.held}'
    if start_from <= 3:
        made = agent.craft_until(1, 'shield', ['planks', 'iron ingot'], {'planks': 'SORT'})
        assert made == 1, 'Error in [Step 3]'
"""


def test_what_it_holds_is_known_after_a_failure():
    model = Replies(PLAN.replace("SORT", "birch planks"), PLAN.replace("SORT", "oak planks"))
    result = run("textcraft", shield(), model=model)
    assert (result.success, result.refinements, result.actions) == (True, 1, 5)


# ------------------------------------------------------------------ the worked example


def test_every_depth_has_the_same_worked_example():
    samples = {Prompts.cached().sample("textcraft", kind) for kind in TextCraft.kinds}
    assert samples == {Prompts.cached().render("textcraft/craft")}


def test_the_worked_example_uses_real_commands_and_is_not_a_test_task():
    sample = Prompts.cached().render("textcraft/craft")
    shown = sample.split("\n")[0].removeprefix("# Crafting commands: ").split("; ")
    assert set(shown) <= set(recipe_book().commands)
    assert "craft 1 shield using 6 planks, 1 iron ingot" in shown
    assert "craft shield" not in {t.goal for t in TextCraft().tasks("test")}


@pytest.mark.parametrize(("agent", "folder"), [("full", "textcraft"), ("paper", "textcraft/paper")])
def test_a_worked_example_wins_its_task(agent, folder):
    done = execute(Prompts.cached().sample(folder, "depth2"), TextCraft(agent=agent), shield(), model=ScriptedModel())
    assert done.result.success
    assert isinstance(done.outcome, Finished)
    assert (done.result.actions, done.result.asks) == (5, 0)
