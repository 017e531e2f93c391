"""The household's agent hides the dialect."""

import pytest
from support.scripted_agents import scripted

from codeplan.envs.household.agent import HouseholdAgent
from codeplan.envs.household.environment import Household
from codeplan.errors import AgentError
from codeplan.types import Observation, Task


def begin(dialect="put", task="heat/3"):
    env = Household(dialect=dialect)
    first = env.reset(Task(task))
    return HouseholdAgent(env.step, first), env.game(Task(task)), env


def scripted_agent(*texts):
    """An agent whose environment gives these answers, and the list of its actions."""
    return scripted(HouseholdAgent, None, *texts)


def by_method(agent, action):
    """Do an action of a walkthrough through the agent's methods."""
    words = action.split()
    if words[0] == "go":
        return agent.goto(" ".join(words[2:]))
    method = {"open": agent.open_receptacle, "close": agent.close_receptacle, "use": agent.turn_on, "move": agent.put}
    call = method.get(words[0]) or getattr(agent, words[0])
    return call(" ".join(words[1:3]), " ".join(words[4:])) if len(words) > 3 else call(" ".join(words[1:]))


def test_it_reads_the_receptacles_from_the_first_observation():
    agent, game, _ = begin()
    assert agent.receptacles == [r.name for r in game.receptacles]
    assert HouseholdAgent(lambda action: Observation("")).receptacles == []
    assert HouseholdAgent(lambda action: Observation(""), Observation("Hello.")).receptacles == []


@pytest.mark.parametrize(
    ("arrival", "command", "reply"),
    [
        ("You arrive at loc 3. ", "put pen 1 in/on desk 1", "You put the pen 1 in/on the desk 1."),
        ("You arrive at the location. ", "put pen 1 in/on desk 1", "You put the pen 1 in/on the desk 1."),
        ("You arrive at desk 1. ", "move pen 1 to desk 1", "You move the pen 1 to the desk 1."),
    ],
)
def test_put_uses_the_dialect_of_the_environment_and_answers_in_one(arrival, command, reply):
    agent, done = scripted_agent(arrival + "On the desk 1, you see nothing.", reply)
    agent.goto("desk 1")
    assert agent.put("pen 1", "desk 1") == "You put the pen 1 in/on the desk 1."
    assert done[-1] == command


@pytest.mark.parametrize("task", ["pick/0", "clean/1", "heat/2", "cool/3", "examine/4", "pick_two/5"])
def test_a_walkthrough_reads_the_same_in_both_dialects(task):
    answers = []
    for dialect in ("put", "move"):
        agent, game, env = begin(dialect, task)
        answers.append([by_method(agent, action) for action in game.walkthrough])
        assert env.step("look").success
    assert answers[0] == answers[1]


def test_location_and_hand_change_only_when_the_environment_says_so():
    agent, _ = scripted_agent(
        "You arrive at loc 1. On the desk 1, you see a pen 1.",
        "Nothing happens.",
        "Nothing happens.",
        "You pick up the pen 1 from the desk 1.",
        "Nothing happens.",
        "You put the pen 1 in/on the desk 1.",
    )
    seen = []
    for call in (
        lambda: agent.goto("desk 1"),
        lambda: agent.goto("desk 1"),
        lambda: agent.take("pen 2", "desk 1"),
        lambda: agent.take("pen 1", "desk 1"),
        lambda: agent.put("pen 1", "bed 1"),
        lambda: agent.put("pen 1", "desk 1"),
    ):
        call()
        seen.append((agent.location, agent.holding))
    nothing, pen = ("desk 1", None), ("desk 1", "pen 1")
    assert seen == [nothing, nothing, nothing, pen, pen, nothing]


def test_a_receptacle_within_reach_is_examined_instead():
    agent, done = scripted_agent(
        "You arrive at loc 9. On the desk 1, you see nothing.", "Nothing happens.", "On the shelf 1, you see a mug 1."
    )
    agent.receptacles = ["desk 1", "shelf 1"]
    agent.goto("desk 1")
    assert agent.goto("shelf 1") == "On the shelf 1, you see a mug 1."
    assert agent.location == "shelf 1"
    assert done == ["go to desk 1", "go to shelf 1", "examine shelf 1"]


def test_an_unknown_receptacle_costs_only_one_action():
    agent, done = scripted_agent("Nothing happens.")
    assert agent.goto("sofa 9") == "Nothing happens."
    assert (agent.location, done) == (None, ["go to sofa 9"])


def test_the_report_names_location_hand_and_the_last_answer():
    agent, game, _ = begin()
    assert agent.report() == "I am in the middle of the room, holding nothing. I have not acted yet."
    sink = next(r.name for r in game.receptacles if r.kind == "sinkbasin")
    agent.goto(sink)
    agent.clean("lettuce 1", sink)
    assert agent.report() == (
        f"I am at {sink}, holding nothing. Last action: 'clean lettuce 1 with {sink}'; it answered: 'Nothing happens.'"
    )


# ------------------------------------------------------------------ what was seen

CLOSED_FRIDGE = "You arrive at loc 4. The fridge 1 is closed."
OPEN_FRIDGE = "You open the fridge 1. The fridge 1 is open. In it, you see a egg 2, and a egg 1."


def in_room(*texts):
    """A scripted agent in a room with a desk, a fridge and a shelf."""
    agent, done = scripted_agent(*texts)
    agent.receptacles = ["desk 1", "fridge 1", "shelf 1"]
    return agent, done


@pytest.mark.parametrize("dialect", ["put", "move"])
def test_it_remembers_what_every_receptacle_holds_and_which_are_closed(dialect):
    agent, game, env = begin(dialect)
    for r in game.receptacles:
        agent.goto(r.name)
    contents = {
        r.name: [game.objects[o].name for o in inside]
        for r, inside in zip(game.receptacles, game.initial_state.contents, strict=True)
    }
    openable = [r.name for r in game.receptacles if r.openable]
    assert sorted(agent.closed) == sorted(openable)
    assert agent.seen == {name: inside for name, inside in contents.items() if name not in openable}
    for name in openable:
        agent.look_in(name)
    assert (agent.seen, agent.closed) == (contents, [])
    agent.close_receptacle(openable[-1])
    assert agent.closed == [openable[-1]]
    assert agent.seen == contents


@pytest.mark.parametrize("dialect", ["put", "move"])
@pytest.mark.parametrize("task", ["pick/0", "clean/1", "heat/2", "cool/3", "pick_two/5"])
def test_what_it_remembers_is_what_there_is_after_a_walkthrough(task, dialect):
    agent, game, env = begin(dialect, task)
    for action in game.walkthrough:
        by_method(agent, action)
    state = env.snapshot().state
    now = {r.name: {game.objects[o].name for o in c} for r, c in zip(game.receptacles, state.contents, strict=True)}
    assert {name: set(names) for name, names in agent.seen.items()} == {name: now[name] for name in agent.seen}
    assert agent.seen


def test_a_refused_action_changes_nothing_of_what_was_seen():
    agent, _ = in_room("You arrive at loc 1. On the desk 1, you see a pen 1.", *["Nothing happens."] * 4)
    agent.goto("desk 1")
    for act in (agent.take, agent.put):
        act("pen 1", "desk 1")
    agent.open_receptacle("desk 1"), agent.close_receptacle("desk 1")
    assert (agent.seen, agent.closed) == ({"desk 1": ["pen 1"]}, [])


def test_to_look_in_goes_opens_and_lists():
    agent, done = in_room(CLOSED_FRIDGE, OPEN_FRIDGE, "You arrive at loc 1. On the desk 1, you see nothing.")
    assert agent.look_in("fridge 1") == ["egg 2", "egg 1"]
    assert agent.look_in("desk 1") == []
    assert done == ["go to fridge 1", "open fridge 1", "go to desk 1"]
    assert (agent.location, agent.closed) == ("desk 1", [])


def test_to_look_in_where_it_stands_looks_again():
    agent, done = in_room("You arrive at loc 1. On the desk 1, you see nothing.", "On the desk 1, you see a pen 1.")
    agent.look_in("desk 1")
    assert agent.look_in("desk 1") == ["pen 1"]
    assert done == ["go to desk 1", "examine desk 1"]


def test_the_list_that_it_returns_is_the_plans_own():
    agent, _ = in_room(CLOSED_FRIDGE, OPEN_FRIDGE)
    agent.look_in("fridge 1").clear()
    assert agent.seen == {"fridge 1": ["egg 2", "egg 1"]}


@pytest.mark.parametrize("name", ["sofa 1", "fridge", "", None, ["fridge 1"]])
def test_it_cannot_look_in_what_the_room_has_not(name):
    agent, done = in_room()
    with pytest.raises(AgentError, match=r"there is no .* in this room; agent\.receptacles lists all"):
        agent.look_in(name)
    assert done == []


@pytest.mark.parametrize(
    "answers",
    [
        ("Nothing happens.", "Nothing happens."),
        ("The episode is over.", "The episode is over."),
        (CLOSED_FRIDGE, "Nothing happens."),
    ],
)
def test_it_says_so_if_it_cannot_look_in(answers):
    agent, _ = in_room(*answers)
    with pytest.raises(AgentError, match=f"cannot look in fridge 1: '{answers[1]}'"):
        agent.look_in("fridge 1")


def test_a_rebuilt_agent_has_seen_what_the_first_one_saw():
    agent, game, env = begin(task="pick_two/5")
    answers = []

    def act(action):
        answers.append(env.step(action))
        return answers[-1]

    first = env.reset(Task("pick_two/5"))
    agents = [HouseholdAgent(act, first), HouseholdAgent(lambda action: answers.pop(0), first)]
    for agent in agents:
        for action in game.walkthrough[:-1]:
            by_method(agent, action)
        agent.look_in(game.receptacles[3].name)
    assert agents[0].seen == agents[1].seen != {}
    assert agents[0].closed == agents[1].closed
