"""ScienceWorld's agent: what its docstrings say, what it remembers, and which names it resolves."""

import re

import pytest
from support.scienceworld_engine import needs_engine
from support.scripted_agents import scripted

from codeplan.envs.scienceworld.agent import ROOMS, ScienceWorldAgent, read_list, read_room, read_thing, resolve_name
from codeplan.envs.scienceworld.environment import ScienceWorld, find_task
from codeplan.episode.episode import build_agent
from codeplan.errors import AgentError
from codeplan.types import Observation, Task

KITCHEN = (
    "This room is called the kitchen. In it, you see: \n"
    "\tthe agent\n"
    "\ta substance called air\n"
    "\ta counter. On the counter is: a bowl (containing a red apple, a banana), a drawer.\n"
    "\ta cupboard. The cupboard door is closed. \n"
    "\ta oven, which is turned off. The oven door is closed. \n"
    "\ta sink, which is turned off. In the sink is: nothing.\n"
    "\ta glass jar (containing a substance called sodium chloride)\n"
    "\ta thermometer, currently reading a temperature of 10 degrees celsius\n"
    "You also see:\n"
    "\tA door to the hallway (that is open)\n"
    "\tA door to the outside (that is closed)"
)
HALLWAY = (
    "This room is called the hallway. In it, you see: \n\ta picture\nYou also see:\n"
    "\tA door to the bedroom (that is closed)\n\tA door to the kitchen (that is open)"
)
BEDROOM = (
    "This room is called the bedroom. In it, you see: \n"
    "\ta bed. On the bed is: a mattress. On the mattress is: a white pillow..\nYou also see:\n"
    "\tA door to the hallway (that is open)"
)


def recorded(*answers):
    """An agent in the kitchen that gets these answers in turn, and the actions that it does."""
    first = Observation(f"Your task is X.\nYou can take 100 actions.\n\n{KITCHEN}", goal="Your task is X.")
    return scripted(ScienceWorldAgent, first, *answers)


# ------------------------------------------------------------------ in the engine

DEFAULT_TASK = "chemistry-mix/0"


@pytest.fixture(scope="module")
def env():
    env = ScienceWorld()
    yield env
    env.close()


def start(env, id):
    first = env.reset(find_task(Task(id)))
    return build_agent(env, env.step, first)


@needs_engine
def test_the_rooms_are_those_of_the_house(env):
    agent = start(env, DEFAULT_TASK)
    for room in ROOMS:
        assert agent.goto(room).startswith("This ")
        assert agent.room == room
    assert sorted(agent.rooms) == sorted(ROOMS)
    assert agent.actions_left == 100 - (env._current.actions)


@needs_engine
def test_a_question_is_answered_or_cancelled_before_the_next_action(env):
    agent = start(env, DEFAULT_TASK)
    agent.goto("kitchen")
    assert agent.take("orange").startswith("Ambiguous request")
    assert agent.choices == [
        "pick up orange (in bowl, in counter, in kitchen)",
        "pick up orange (in inventory, in agent, in kitchen)",
    ]
    assert agent.open("cupboard") == "The cupboard is now open."
    assert agent.choices == []
    assert agent.rooms["kitchen"]["closed"] == ["freezer", "fridge", "oven"]
    assert "metal pot" in agent.rooms["kitchen"]["things"]["cupboard"] or "metal pot" in agent.look_in("cupboard")
    assert agent.find("pot") == "metal pot"


@needs_engine
def test_a_rebuilt_agent_knows_what_the_first_one_knew(env):
    seen = []

    def act(action):
        seen.append(env.step(action))
        return seen[-1]

    first = env.reset(find_task(Task("find-plant/228")))
    agent = ScienceWorldAgent(act, first)
    agent.goto("greenhouse")
    agent.take(agent.find("jug"))
    again = iter(seen)
    other = ScienceWorldAgent(lambda action: next(again), first)
    other.goto("greenhouse")
    other.take(other.find("jug"))
    assert (other.rooms, other.room, other.holding) == (agent.rooms, agent.room, agent.holding)
    assert "jug" in other.holding
    assert {"kitchen", "greenhouse"} <= set(other.rooms)


# ------------------------------------------------------------------ the map


def test_a_room_is_read_with_doors_contents_and_what_is_closed():
    view = read_room(KITCHEN)
    assert view.name == "kitchen"
    assert view.doors == {"hallway": "open", "outside": "closed"}
    assert view.closed == ["cupboard", "oven"]
    assert view.things == {
        "counter": ["bowl", "red apple", "banana", "drawer"],
        "cupboard": [],
        "oven": [],
        "sink": [],
        "glass jar": ["sodium chloride"],
        "thermometer": [],
    }


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("a bed. On the bed is: a mattress. On the mattress is: a white pillow..", "bed: mattress, white pillow"),
        ("a table. On the table is: a blue light bulb, which is off, a red wire.", "table: blue light bulb, red wire"),
        ("a toilet. In the toilet is: A drain, which is open, a substance called water.", "toilet: drain, water"),
        ("a book shelf (containing A book (Emma) titled Emma by Jane Austen)", "book shelf: book"),
        (
            "a flower pot 4 (containing a pea plant in the adult stage, soil)",
            "flower pot 4: pea plant in the adult stage, soil",
        ),
        (
            "a cupboard. The cupboard door is open. In the cupboard is: a tin cup (containing nothing).",
            "cupboard: tin cup",
        ),
        ("the ground", "ground: "),
        ("an inclined plane with a soapy water surface", "inclined plane with a soapy water surface: "),
        ("", ": "),
        ("(((((", ": "),
    ],
)
def test_a_line_is_read_as_a_thing_and_what_is_in_it(line, read):
    name, contents = read_thing(f"\t{line}")
    assert f"{name}: {', '.join(contents)}" == read


def test_other_texts_describe_no_room():
    assert [read_room(text) for text in ("", "The door is now open.", "This room is called the")] == [None] * 3
    assert read_list("nothing") == []


def test_an_agent_walks_by_the_doors_that_it_saw_and_opens_closed_ones():
    agent, done = recorded(
        "You move to the hallway.", HALLWAY, "The door is now open.", "You move to the bedroom.", BEDROOM
    )
    assert agent.goto("Bedroom") == BEDROOM
    assert done == ["go to hallway", "look around", "open door to bedroom", "go to bedroom", "look around"]


def test_a_walk_ends_where_a_door_stays_closed():
    agent, done = recorded("The door is locked.", "The door is not open.")
    assert agent.goto("outside") == "The door is not open."
    assert agent.room == "kitchen"


def test_there_may_be_no_way():
    agent = ScienceWorldAgent(lambda action: Observation(BEDROOM), Observation("nothing"))
    with pytest.raises(AgentError, match="no way to the kitchen was found from the house"):
        agent.goto("kitchen")
    agent = ScienceWorldAgent(lambda action: Observation("You move to the hallway."), Observation(BEDROOM))
    with pytest.raises(AgentError, match="no way to the kitchen"):
        agent.goto("kitchen")


def test_what_is_held_follows_the_engines_words():
    agent, _ = recorded(
        "You move the glass jar to the inventory.",
        "In your inventory, you see:\n\ta glass jar (containing a substance called sodium chloride)\n\tan orange",
        "You move the glass jar to the sink.",
        "That can't be moved there.",
    )
    agent.take("jar")
    assert agent.holding == ["glass jar"]
    assert agent.inventory() == ["glass jar", "sodium chloride", "orange"]
    agent.move("glass jar", "sink")
    agent.move("orange", "sink")
    assert agent.holding == ["sodium chloride", "orange"]


def test_the_score_is_taken_off_the_text():
    agent, _ = recorded("You focus on the plant.\nScore: 58 of 100.", "Score: x of 100.")
    assert agent.focus("plant") == "You focus on the plant."
    assert agent.score == 58
    assert "The score is 58 of 100." in agent.report()
    agent.look()
    assert agent.score == 58


def test_without_a_first_observation_the_agent_knows_nothing():
    agent = ScienceWorldAgent(lambda action: Observation("x"))
    assert (agent.goal, agent.room, agent.rooms, agent.actions_left, agent.score) == ("", None, {}, None, None)
    assert agent.look() == "x"


# ------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("metal pot", "metal pot"),
        ("the POT", "metal pot"),
        ("jar", "glass jar"),
        ("orange", "orange"),
        ("red wood cup", "wood cup red"),
    ],
)
def test_a_name_is_resolved_if_one_thing_alone_fits(wanted, found):
    known = ["metal pot", "glass jar", "orange", "orange juice", "wood cup red", "wood cup blue", "metal pot"]
    assert resolve_name(wanted, known, "here") == found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("cup", "'cup' can be 'glass cup' or 'tin cup'; give the whole name"),
        ("pots", "nothing called 'pots' was seen here; did you mean 'pot'"),
        ("zebra", "nothing called 'zebra' was seen here; there are: 'glass cup', 'tin cup', 'pot'"),
        ("the", "nothing called 'the'"),
        ("!?", "nothing called"),
        ("x" * 100_000, "nothing called 'x"),
    ],
)
def test_a_poor_match_is_refused_with_what_there_is(wanted, message):
    with pytest.raises(AgentError, match=re.escape(message)) as refused:
        resolve_name(wanted, ["glass cup", "tin cup", "pot"], "here")
    assert len(str(refused.value)) < 400


def test_rooms_are_resolved_too_and_others_refused():
    agent, done = recorded("You teleport to the art studio.")
    agent.teleport("the studio")
    assert done == ["teleport to art studio"]
    with pytest.raises(AgentError, match="nothing called 'kichen' was seen in this house; did you mean 'kitchen'"):
        agent.goto("kichen")
    with pytest.raises(AgentError, match="'cellar' was seen in this house; there are: 'art studio', "):
        agent.goto("cellar")


@pytest.mark.parametrize("given", [None, 3, "", "  ", ["pot"], {"a": 1}, 10**4000, b"x"])
def test_a_name_that_is_no_text_is_refused(given):
    agent, done = recorded()
    for call in (agent.take, agent.find, agent.goto, agent.focus):
        with pytest.raises(AgentError, match="a name is a text|nothing called"):
            call(given)
    assert done == []


@pytest.mark.parametrize("given", [2, 0, -1, "1", None, 1.5, [1], 10**30])
def test_other_times_and_numbers_are_refused(given):
    agent, done = recorded()
    with pytest.raises(AgentError, match="1 or 10 moments"):
        agent.wait(given)
    with pytest.raises(AgentError, match="there is no question"):
        agent.choose(given)
    assert done == []
