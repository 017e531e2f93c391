"""TextCraft's agent: crafting by ingredients, what can be got, and what it holds after a failure or a kill."""

import signal
import subprocess
import sys

import pytest

from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.environment import TextCraft, recipe_book
from codeplan.errors import AgentError
from codeplan.runner.recorded_episodes import resume
from codeplan.types import Observation

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


def shield():
    return next(t for t in TextCraft().tasks("train") if t.goal == "craft shield")


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
        ((1, "shield", ["planks", "iron ingot"], ["oak planks"]), "takes sorts as a dict"),
        ((1, "shield", ["planks", "iron ingot"], {"planks": 6}), "takes sorts as a dict"),
        ((1, "shield", "planks"), "ingredients as a list of names"),
        ((1, "shield", [["planks"]]), "ingredients as a list of names"),
        ((0, "oak planks", ["oak logs"]), "a count from 1 up, not 0"),
        ((True, "oak planks", ["oak logs"]), "a count from 1 up, not True"),
        ((1.5, "oak planks", ["oak logs"]), "a count from 1 up, not 1.5"),
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


# ------------------------------------------------------------------ after a failure, and after a kill

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
WRONG, RIGHT = PLAN.replace("SORT", "birch planks"), PLAN.replace("SORT", "oak planks")

KILLED = """
import os, signal, sys, codeplan

def model(messages, replies=iter(sys.argv[3:])):
    for reply in replies:
        return reply
    os.kill(os.getpid(), signal.SIGKILL)

codeplan.run("textcraft", sys.argv[1], model=model, out=sys.argv[2])
"""


def test_what_it_holds_survives_the_death_of_the_process(tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-c", KILLED, shield().id, str(out), WRONG]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    result = resume(out, model=lambda messages: RIGHT)
    assert (result.success, result.refinements, result.actions) == (True, 1, 5)
