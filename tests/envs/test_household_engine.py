"""The rules of the household and its exact sentences."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.small_house import after, answer, apply_action, house

from codeplan.envs.household.engine import (
    admissible_actions,
    describe_start,
    explain_failure,
    is_goal_reached,
    list_names,
)
from codeplan.envs.household.environment import Household
from codeplan.envs.household.game import MOVE_DIALECT, HouseholdGoal, Object, number_names
from codeplan.envs.household.generator import KINDS, generate_game

TO_SINK, TO_FRIDGE, TO_MICROWAVE = ("go to sinkbasin 1", "go to fridge 1", "go to microwave 1")
TO_COUNTER = ("go to countertop 1",)
WITH_APPLE = (*TO_COUNTER, "take apple 2 from countertop 1")
WITH_KNIFE = (*TO_COUNTER, "take knife 1 from countertop 1")
WITH_MUG = ("go to desk 1", "take mug 1 from desk 1")
CLEAN = (TO_SINK, "clean apple 2 with sinkbasin 1")
HEAT = (TO_MICROWAVE, "heat apple 2 with microwave 1")
COOL = (TO_FRIDGE, "cool apple 2 with fridge 1")


def test_the_introduction_names_the_room_and_the_task():
    assert describe_start(house()) == (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        "You are in the middle of a room. Looking quickly around you, you see a countertop 1, a desk 1, a fridge 1, "
        "a microwave 1, a shelf 1, and a sinkbasin 1.\n\n"
        "Your task is to: put a mug in shelf."
    )


@pytest.mark.parametrize(
    ("names", "text"),
    [([], "nothing"), (["x"], "a x"), (["x", "y"], "a x, and a y"), (["x", "y", "z"], "a x, a y, and a z")],
)
def test_lists_have_a_comma_before_and_even_for_two(names, text):
    assert list_names(names) == text


def test_numbers_count_down_within_a_kind():
    assert number_names(["cup", "cup", "mug", "cup"]) == ["cup 3", "cup 2", "mug 1", "cup 1"]


@pytest.mark.parametrize(
    ("actions", "text"),
    [
        (["go to countertop 1"], "You arrive at loc 4. On the countertop 1, you see a apple 2, and a knife 1."),
        (["go to fridge 1"], "You arrive at loc 1. The fridge 1 is closed."),
        (["go to sinkbasin 1"], "You arrive at loc 3. On the sinkbasin 1, you see nothing."),
        ([TO_FRIDGE, "open fridge 1"], "You open the fridge 1. The fridge 1 is open. In it, you see a apple 1."),
        (["go to fridge 1", "open fridge 1", "close fridge 1"], "You close the fridge 1."),
        ([TO_FRIDGE, "open fridge 1", "take apple 1 from fridge 1"], "You pick up the apple 1 from the fridge 1."),
        ([*WITH_APPLE, "put apple 2 in/on countertop 1"], "You put the apple 2 in/on the countertop 1."),
        ([*WITH_APPLE, *CLEAN], "You clean the apple 2 using the sinkbasin 1."),
        ([*WITH_APPLE, *HEAT], "You heat the apple 2 using the microwave 1."),
        ([*WITH_APPLE, *COOL], "You cool the apple 2 using the fridge 1."),
        ([*WITH_KNIFE, "slice apple 2 with knife 1"], "You sliced the apple 2 with the knife 1."),
        ([*WITH_KNIFE, "go to fridge 1", "slice apple 1 with knife 1"], "You sliced the apple 1 with the knife 1."),
        (["go to desk 1", "use desklamp 1"], "You turn on the desklamp 1."),
        (["go to desk 1", "use desklamp 1", "use desklamp 1"], "You turn on the desklamp 1."),
        (["inventory"], "You are not carrying anything."),
        ([*WITH_MUG, "inventory"], "You are carrying: a mug 1."),
        (["  look\n"], "You are in the middle of a room. Looking quickly around you, you see nothing."),
        (["go to shelf 1", "look"], "You are facing the desk 1, and shelf 1. Next to it, you see nothing."),
        (
            [*WITH_MUG, "put mug 1 in/on shelf 1", "look"],
            "You are facing the desk 1, and shelf 1. Next to it, you see a mug 1.",
        ),
        (["go to countertop 1", "examine countertop 1"], "On the countertop 1, you see a apple 2, and a knife 1."),
        ([*WITH_KNIFE, "examine knife 1"], "There's nothing special about knife 1."),
        ([*WITH_MUG, "examine mug 1"], "This is a normal mug 1. In it, you see nothing."),
    ],
)
def test_an_action_is_answered_word_for_word(actions, text):
    assert answer(house(), *actions) == text


@pytest.mark.parametrize(
    "actions",
    [
        *([action] for action in ("Go to countertop 1", "go to  countertop 1", "help", "", "examine fridge 1")),
        ["go to countertop 1", "go to countertop 1"],
        [*WITH_APPLE, "move apple 2 to countertop 1"],
        [*WITH_MUG, "slice mug 2 with mug 1"],
    ],
)
def test_what_cannot_be_done_changes_nothing(actions):
    """The tests of failures' reasons have more of it."""
    game = house()
    before = after(game, *actions[:-1])
    assert apply_action(game, before, actions[-1]) == (before, "Nothing happens.")


@pytest.mark.parametrize(
    ("treatments", "text"),
    [
        (CLEAN, "This is a clean apple 2."),
        (HEAT, "This is a hot apple 2."),
        (COOL, "This is a cold apple 2."),
        (HEAT + COOL, "This is a cold apple 2."),
        (COOL + HEAT, "This is a hot apple 2."),
        (CLEAN + HEAT, "This is a hot and clean apple 2."),
        (COOL + CLEAN, "This is a cool and clean apple 2."),
    ],
)
@pytest.mark.parametrize("sliced", [False, True])
def test_a_held_object_shows_what_was_done_to_it(treatments, text, sliced):
    knife = ("take knife 1 from countertop 1", "slice apple 2 with knife 1", "put knife 1 in/on countertop 1")
    before = (*TO_COUNTER, *(knife if sliced else ()), "take apple 2 from countertop 1")
    expected = text.replace("cold", "cool").replace("apple", "sliced apple") if sliced else text
    assert answer(house(), *before, *treatments, "examine apple 2") == expected


def test_the_contents_of_an_object_are_visible_but_cannot_be_taken():
    game = house()
    mugs = tuple(replace(o, inner=("pen 1",)) if o.name == "mug 1" else o for o in game.objects)
    game = replace(game, objects=mugs)
    assert answer(game, *WITH_MUG, "examine mug 1") == "This is a normal mug 1. In it, you see a pen 1."
    assert answer(game, *WITH_MUG, "take pen 1 from mug 1") == "Nothing happens."


def test_the_move_dialect_names_places_and_has_help():
    game = house(dialect=MOVE_DIALECT)
    assert answer(game, "go to desk 1").startswith("You arrive at desk 1. On the desk 1, you see ")
    assert answer(game, *WITH_MUG, "move mug 1 to shelf 1") == "You move the mug 1 to the shelf 1."
    assert answer(game, *WITH_MUG, "put mug 1 in/on shelf 1") == "Nothing happens."
    assert answer(game, "help").startswith("Available commands:\n  look:                             look around")
    assert "  move (object) to (receptacle):  place an object in or on a receptacle\n" in answer(game, "help")


@pytest.mark.parametrize(
    ("goal", "winning"),
    [
        (HouseholdGoal("mug", "shelf"), (*WITH_MUG, "put mug 1 in/on shelf 1")),
        (
            HouseholdGoal("apple", "countertop", "cool"),
            (*WITH_APPLE, *COOL, *TO_COUNTER, "put apple 2 in/on countertop 1"),
        ),
        (HouseholdGoal("mug", lamp="desklamp"), (*WITH_MUG, "use desklamp 1")),
        (HouseholdGoal("mug", lamp="desklamp"), ("go to desk 1", "use desklamp 1", "take mug 1 from desk 1")),
        (
            HouseholdGoal("mug", "shelf", count=2),
            (*WITH_MUG, "put mug 1 in/on shelf 1", "take mug 2 from desk 1", "put mug 2 in/on shelf 1"),
        ),
    ],
)
def test_a_goal_is_reached_with_its_last_action_and_not_before(goal, winning):
    game = house(goal)
    assert not is_goal_reached(game, after(game, *winning[:-1]))
    assert is_goal_reached(game, after(game, *winning))


def test_two_objects_count_only_in_one_receptacle():
    game = house(HouseholdGoal("apple", "countertop", count=2))
    assert not is_goal_reached(game, game.initial_state)
    fetch = ("go to fridge 1", "open fridge 1", "take apple 1 from fridge 1")
    assert is_goal_reached(game, after(game, *fetch, "go to countertop 1", "put apple 1 in/on countertop 1"))


@pytest.mark.parametrize(("wanted", "treatments"), [("hot", (*HEAT, *COOL)), ("cool", (*COOL, *HEAT))])
def test_the_last_of_heating_and_cooling_counts_alone(wanted, treatments):
    game = house(HouseholdGoal("apple", "countertop", wanted))
    state = after(game, *WITH_APPLE, *treatments, "go to countertop 1", "put apple 2 in/on countertop 1")
    assert not is_goal_reached(game, state)


@pytest.mark.parametrize(("kind", "slices"), [("knife", True), ("butterknife", True), ("fork", False)])
def test_knives_and_butterknives_slice(kind, slices):
    game = house()
    blades = tuple(replace(it, kind=kind) if it.kind == "knife" else it for it in game.objects)
    said = answer(replace(game, objects=blades), *WITH_KNIFE, "slice apple 2 with knife 1")
    assert (said == "You sliced the apple 2 with the knife 1.") is slices


def test_what_is_put_back_stands_in_its_old_place_of_the_list():
    said = answer(house(), *WITH_APPLE, "put apple 2 in/on countertop 1", "examine countertop 1")
    assert said == "On the countertop 1, you see a apple 2, and a knife 1."


def test_an_object_in_two_receptacles_can_be_taken_from_either():
    game = house()
    both = replace(
        game.initial_state, contents=tuple((*c, 5) if i == 4 else c for i, c in enumerate(game.initial_state.contents))
    )
    state, _ = apply_action(game, both, "go to shelf 1")
    state, text = apply_action(game, state, "take mug 1 from shelf 1")
    assert text == "You pick up the mug 1 from the shelf 1."
    assert "mug 1" in apply_action(game, state, "examine desk 1")[1]


def test_an_object_without_traits_cannot_be_taken():
    game = replace(house(), objects=(*house().objects, Object("window 1", "window")))
    state = replace(game.initial_state, places=(*game.initial_state.places, frozenset({4})))
    assert apply_action(game, state, "take window 1 from countertop 1")[1] == "Nothing happens."


# ------------------------------------------------------------------ laws


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(0, 40), st.data())
def test_what_is_not_admissible_does_nothing(kind, seed, steps, data):
    game = generate_game(kind, seed)
    state = after(game, *game.walkthrough[:steps])
    r, s = (data.draw(st.sampled_from(game.receptacles)).name for _ in "rs")
    o, p = (data.draw(st.sampled_from(game.objects)).name for _ in "op")
    tried = {f"go to {r}", f"open {r}", f"close {r}", f"take {o} from {r}", f"put {o} in/on {r}", f"clean {o} with {r}"}
    tried |= {
        f"heat {o} with {s}",
        f"cool {o} with {s}",
        f"use {o}",
        f"slice {o} with {p}",
        f"examine {o}",
        f"examine {r}",
    }
    done = {action for action in tried if apply_action(game, state, action)[1] != "Nothing happens."}
    assert done == tried & set(admissible_actions(game, state))


# ------------------------------------------------------------------ why nothing happened


@pytest.mark.parametrize(
    ("before", "action", "reason"),
    [
        ((), "go to desk", "The number of the desk is missing, as in: desk 1."),
        ((), "go to desk 1 now", "'desk 1 now' is no name; a name is like: apple 1."),
        ((), "go to sofa 1", "There is no receptacle sofa 1 in this room."),
        ((), "go desk 1", "That action has the form: go to RECEPTACLE."),
        (("go to desk 1",), "go to shelf 1", "The shelf 1 is within reach already, from where you stand."),
        ((), "open fridge 1", "You are not at the fridge 1: go to fridge 1 first."),
        (TO_COUNTER, "open countertop 1", "The countertop 1 has nothing to open or close."),
        ((TO_FRIDGE, "open fridge 1"), "open fridge 1", "The fridge 1 is open already."),
        ((TO_FRIDGE,), "close fridge 1", "The fridge 1 is closed already."),
        (TO_COUNTER, "take apple from countertop 1", "The number of the apple is missing, as in: apple 1."),
        (TO_COUNTER, "take apple 2", "That action has the form: take OBJECT from RECEPTACLE."),
        (TO_COUNTER, "take desk 1 from countertop 1", "The desk 1 is a receptacle, not an object."),
        ((TO_FRIDGE,), "take apple 1 from fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        ((TO_FRIDGE,), "take mug 9 from fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        (TO_COUNTER, "take apple 1 from countertop 1", "There is no apple 1 in or on the countertop 1."),
        (WITH_APPLE, "take knife 1 from countertop 1", "Your hands are full: you carry the apple 2."),
        (("go to desk 1",), "take desklamp 1 from desk 1", "The desklamp 1 cannot be picked up."),
        ((*WITH_APPLE, TO_FRIDGE), "put apple 2 in/on fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        (WITH_APPLE, "put knife 1 in/on countertop 1", "You do not carry the knife 1: you carry the apple 2."),
        (TO_COUNTER, "put knife 1 in/on countertop 1", "You do not carry the knife 1: your hands are empty."),
        ((*WITH_APPLE, "go to desk 1"), "put apple 2 in/on desk 1", "The apple 2 does not belong in or on a desk."),
        (WITH_APPLE, "put apple 2 on countertop 1", "That action has the form: put OBJECT in/on RECEPTACLE."),
        (WITH_APPLE, "clean apple 2 with sinkbasin 1", "You are not at the sinkbasin 1: go to sinkbasin 1 first."),
        (
            (*WITH_APPLE, TO_SINK),
            "heat apple 2 with sinkbasin 1",
            "You cannot heat anything with the sinkbasin 1: that takes a microwave.",
        ),
        ((*WITH_KNIFE, TO_FRIDGE), "cool knife 1 with fridge 1", "The knife 1 is nothing to cool."),
        ((), "use microwave 1", "The microwave 1 is not used so, but: heat OBJECT with microwave 1."),
        ((), "use desklamp 1", "There is no desklamp 1 to be seen from where you stand."),
        (TO_COUNTER, "use knife 1", "The knife 1 has nothing to switch on."),
        (WITH_APPLE, "slice apple 2 with apple 2", "The apple 2 does not cut; a knife or a butterknife does."),
        ((*WITH_KNIFE, "go to desk 1"), "slice mug 1 with knife 1", "The mug 1 is nothing to slice."),
        ((*WITH_KNIFE, TO_SINK), "slice apple 2 with knife 1", "There is no apple 2 to be seen from where you stand."),
        (TO_COUNTER, "examine apple 2", "Of objects only what you carry can be examined, and you carry nothing."),
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
    state = after(game, TO_FRIDGE)
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
