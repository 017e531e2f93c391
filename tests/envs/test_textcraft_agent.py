"""TextCraft's agent, and the worked example that shows plans how to use it."""

import pytest

from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.environment import TextCraft, recipe_book
from codeplan.errors import AgentError
from codeplan.prompts.templates import Prompts
from codeplan.runner.episodes import execute
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
    done, left = [], list(texts)

    def act(action):
        done.append(action)
        return Observation(left.pop(0))

    return TextCraftAgent(act, FIRST), done


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


def test_its_methods_take_the_actions_of_the_environment():
    agent, done = scripted_agent("Got 2 oak logs", "Crafted 4 minecraft:oak_planks", "Inventory: [oak planks] (4) ")
    assert agent.get(2, "oak logs") == "Got 2 oak logs"
    assert agent.craft(4, "oak planks", {"oak logs": 1}) == "Crafted 4 minecraft:oak_planks"
    assert agent.inventory() == {"oak planks": 4}
    agent, done = scripted_agent("Could not find enough items to craft minecraft:shield")
    agent.craft(1, "shield", {"oak planks": 6, "iron ingot": 1})
    assert done == ["craft 1 shield using 6 oak planks, 1 iron ingot"]


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


# ------------------------------------------------------------------ the worked example


def shield():
    return next(t for t in TextCraft().tasks("train") if t.goal == "craft shield")


def test_every_depth_has_the_same_worked_example():
    samples = {Prompts().sample("textcraft", kind) for kind in TextCraft.kinds}
    assert samples == {Prompts().render("textcraft/craft")}


def test_the_worked_example_uses_real_commands_and_is_not_a_test_task():
    sample = Prompts().render("textcraft/craft")
    shown = sample.split("\n")[0].removeprefix("# Crafting commands: ").split("; ")
    assert set(shown) <= set(recipe_book().commands)
    assert "craft 1 shield using 6 planks, 1 iron ingot" in shown
    assert "craft shield" not in {t.goal for t in TextCraft().tasks("test")}


def test_the_worked_example_wins_its_task():
    done = execute(Prompts().render("textcraft/craft"), TextCraft(), shield(), model=ScriptedModel())
    assert done.result.success
    assert isinstance(done.outcome, Finished)
    assert (done.result.actions, done.result.asks) == (5, 0)


def test_the_paper_s_worked_example_wins_it_too():
    env = TextCraft(agent="paper")
    done = execute(Prompts().sample("textcraft/paper", "depth2"), env, shield(), model=ScriptedModel())
    assert done.result.success
    assert (done.result.actions, done.result.asks) == (5, 0)
