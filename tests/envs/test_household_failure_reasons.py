"""With augmented feedback, an action that cannot be done is answered with the reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_house import after, apply_action, house

from codeplan.envs.household.engine import explain_failure
from codeplan.envs.household.environment import Household
from codeplan.envs.household.game import MOVE_DIALECT
from codeplan.envs.household.generator import KINDS, generate_game

AT_COUNTER = ("go to countertop 1",)
WITH_APPLE = (*AT_COUNTER, "take apple 2 from countertop 1")
WITH_KNIFE = (*AT_COUNTER, "take knife 1 from countertop 1")
AT_FRIDGE, AT_DESK, AT_SINK = ("go to fridge 1",), ("go to desk 1",), ("go to sinkbasin 1",)
OPEN = (*AT_FRIDGE, "open fridge 1")


@pytest.mark.parametrize(
    ("before", "action", "reason"),
    [
        ((), "go to desk", "The number of the desk is missing, as in: desk 1."),
        ((), "go to desk 1 now", "'desk 1 now' is no name; a name is like: apple 1."),
        ((), "go to sofa 1", "There is no receptacle sofa 1 in this room."),
        ((), "go desk 1", "That action has the form: go to RECEPTACLE."),
        (AT_DESK, "go to desk 1", "The desk 1 is within reach already, from where you stand."),
        (AT_DESK, "go to shelf 1", "The shelf 1 is within reach already, from where you stand."),
        ((), "open fridge 1", "You are not at the fridge 1: go to fridge 1 first."),
        (AT_COUNTER, "open countertop 1", "The countertop 1 has nothing to open or close."),
        (OPEN, "open fridge 1", "The fridge 1 is open already."),
        (AT_FRIDGE, "close fridge 1", "The fridge 1 is closed already."),
        ((), "open fridge", "The number of the fridge is missing, as in: fridge 1."),
        (AT_COUNTER, "take apple from countertop 1", "The number of the apple is missing, as in: apple 1."),
        (AT_COUNTER, "take apple 2", "That action has the form: take OBJECT from RECEPTACLE."),
        (AT_COUNTER, "take apple 2 from knife 1", "There is no receptacle knife 1 in this room."),
        (AT_COUNTER, "take desk 1 from countertop 1", "The desk 1 is a receptacle, not an object."),
        ((), "take apple 2 from countertop 1", "You are not at the countertop 1: go to countertop 1 first."),
        (AT_FRIDGE, "take apple 1 from fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        (AT_FRIDGE, "take mug 9 from fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        (AT_COUNTER, "take apple 1 from countertop 1", "There is no apple 1 in or on the countertop 1."),
        (WITH_APPLE, "take knife 1 from countertop 1", "Your hands are full: you carry the apple 2."),
        (AT_DESK, "take desklamp 1 from desk 1", "The desklamp 1 cannot be picked up."),
        (WITH_APPLE, "put apple 2 in/on fridge 1", "You are not at the fridge 1: go to fridge 1 first."),
        ((*WITH_APPLE, *AT_FRIDGE), "put apple 2 in/on fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        (WITH_APPLE, "put knife 1 in/on countertop 1", "You do not carry the knife 1: you carry the apple 2."),
        (AT_COUNTER, "put knife 1 in/on countertop 1", "You do not carry the knife 1: your hands are empty."),
        ((*WITH_APPLE, *AT_DESK), "put apple 2 in/on desk 1", "The apple 2 does not belong in or on a desk."),
        (WITH_APPLE, "put apple 2 on countertop 1", "That action has the form: put OBJECT in/on RECEPTACLE."),
        (WITH_APPLE, "clean apple 2 with sinkbasin 1", "You are not at the sinkbasin 1: go to sinkbasin 1 first."),
        (AT_SINK, "clean apple 2 with sinkbasin 1", "You do not carry the apple 2: your hands are empty."),
        (
            (*WITH_APPLE, *AT_SINK),
            "heat apple 2 with sinkbasin 1",
            "You cannot heat anything with the sinkbasin 1: that takes a microwave.",
        ),
        ((*WITH_KNIFE, *AT_FRIDGE), "cool knife 1 with fridge 1", "The knife 1 is nothing to cool."),
        ((), "use microwave 1", "The microwave 1 is not used so, but: heat OBJECT with microwave 1."),
        ((), "use desk 1", "The desk 1 is a receptacle, not an object."),
        ((), "use desklamp", "The number of the desklamp is missing, as in: desklamp 1."),
        ((), "use desklamp 1", "There is no desklamp 1 to be seen from where you stand."),
        (AT_COUNTER, "use knife 1", "The knife 1 has nothing to switch on."),
        (AT_COUNTER, "slice apple 2 with knife 1", "You do not carry the knife 1: your hands are empty."),
        (WITH_APPLE, "slice apple 2 with apple 2", "The apple 2 does not cut; a knife or a butterknife does."),
        ((*WITH_KNIFE, *AT_DESK), "slice mug 1 with knife 1", "The mug 1 is nothing to slice."),
        ((*WITH_KNIFE, *AT_SINK), "slice apple 2 with knife 1", "There is no apple 2 to be seen from where you stand."),
        (AT_COUNTER, "examine fridge 1", "You are not at the fridge 1: go to fridge 1 first."),
        (AT_COUNTER, "examine apple 2", "Of objects only what you carry can be examined, and you carry nothing."),
        (WITH_APPLE, "examine knife 1", "Of objects only what you carry can be examined, and you carry the apple 2."),
    ],
)
def test_the_reason_is_given(before, action, reason):
    game = house()
    state = after(game, *before)
    assert apply_action(game, state, action) == (state, "Nothing happens.")
    assert explain_failure(game, state, action) == reason


@pytest.mark.parametrize("action", ["jump", "", "think: hm", "move mug 1 to shelf 1", "help"])
def test_an_unknown_action_is_answered_with_the_list_of_actions(action):
    reason = explain_failure(house(), house().initial_state, action)
    assert reason.startswith("That is no action here; the actions are: go to RECEPTACLE, open RECEPTACLE, ")
    assert reason.endswith(
        "put OBJECT in/on RECEPTACLE, clean OBJECT with RECEPTACLE, heat OBJECT with RECEPTACLE, cool OBJECT with RECEPTACLE, use OBJECT, slice OBJECT with OBJECT, examine RECEPTACLE or OBJECT, look, inventory."
    )


def test_the_other_dialect_has_its_own_forms():
    game = house(dialect=MOVE_DIALECT)
    assert "move OBJECT to RECEPTACLE" in explain_failure(game, game.initial_state, "put mug 1 in/on shelf 1")
    assert (
        explain_failure(game, game.initial_state, "move mug 1 to shelf 1")
        == "You are not at the shelf 1: go to shelf 1 first."
    )


def test_the_reason_follows_the_plain_answer_only_if_nothing_happened():
    env = Household(feedback="augmented")
    env.reset(env.task("heat", 3))
    assert env.step("open fridge 1").text == "Nothing happens. You are not at the fridge 1: go to fridge 1 first."
    assert env.step("go to fridge 1").text.endswith("The fridge 1 is closed.")


def test_a_reason_does_not_reveal_what_is_behind_a_closed_door():
    """The reason is the same for an apple that is inside and for one that does not exist."""
    game = house()
    state = after(game, *AT_FRIDGE)
    for action in ("take {} from fridge 1", "use {}", "examine {}", "cool {} with fridge 1"):
        there, nowhere = (
            explain_failure(game, state, action.format(apple)).replace(apple, "it") for apple in ("apple 1", "apple 7")
        )
        assert there == nowhere


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(0, 40), st.data())
def test_every_failure_has_a_specific_reason(kind, seed, steps, data):
    game = generate_game(kind, seed)
    env = Household(actions=100, feedback="augmented")
    env.reset(env.task(kind, seed))
    for action in game.walkthrough[:steps]:
        env.step(action)
    r, s = (data.draw(st.sampled_from(game.receptacles)).name for _ in "rs")
    o, p = (data.draw(st.sampled_from(game.objects)).name for _ in "op")
    tried = [f"go to {r}", f"open {r}", f"close {r}", f"take {o} from {r}", f"put {o} in/on {r}", f"clean {o} with {r}"]
    tried += [f"heat {o} with {s}", f"cool {o} with {s}", f"use {o}", f"use {r}", f"slice {o} with {p}", f"examine {o}"]
    tried += [f"examine {r}", f"take {r} from {o}", data.draw(st.text(max_size=20))]
    now = env.snapshot()
    for action in tried:
        env.restore(now)
        if now.done or env.step(action).text.partition(". ")[0] != "Nothing happens":
            continue
        reason = explain_failure(game, now.state, action)
        assert reason != "It cannot be done now."
        assert reason.endswith(".")
