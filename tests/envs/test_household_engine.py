"""The rules of the household and its exact sentences."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.small_house import after, answer, apply_action, house

from codeplan.envs.household.engine import admissible_actions, describe_start, is_goal_reached, list_names
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
        ["take apple 2 from countertop 1"],
        ["go to sofa 1"],
        ["Go to countertop 1"],
        ["go to  countertop 1"],
        ["go to countertop 1", "go to countertop 1"],
        ["go to desk 1", "go to shelf 1"],
        ["go to fridge 1", "take apple 1 from fridge 1"],
        ["go to fridge 1", "close fridge 1"],
        ["go to countertop 1", "open countertop 1"],
        ["go to desk 1", "take desklamp 1 from desk 1"],
        ["use desklamp 1"],
        [*WITH_APPLE, "take knife 1 from countertop 1"],
        [*WITH_APPLE, "clean apple 2 with sinkbasin 1"],
        [*WITH_APPLE, "go to sinkbasin 1", "heat apple 2 with sinkbasin 1"],
        [*WITH_APPLE, "go to fridge 1", "put apple 2 in/on fridge 1"],
        [*WITH_APPLE, "go to desk 1", "put apple 2 in/on desk 1"],
        [*WITH_APPLE, "move apple 2 to countertop 1"],
        [*WITH_KNIFE, "go to sinkbasin 1", "slice apple 2 with knife 1"],
        [*WITH_MUG, "slice mug 2 with mug 1"],
        ["go to countertop 1", "examine apple 2"],
        ["examine fridge 1"],
        ["help"],
        [""],
    ],
)
def test_what_cannot_be_done_changes_nothing(actions):
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


def test_an_earlier_state_can_be_continued():
    game = house()
    early = after(game, "go to desk 1")
    late, _ = apply_action(game, early, "take mug 1 from desk 1")
    assert early.holding is None
    assert late.holding is not None
    assert apply_action(game, early, "take mug 1 from desk 1") == (late, "You pick up the mug 1 from the desk 1.")


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


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.lists(st.floats(0, 1, exclude_max=True), max_size=40))
def test_every_object_is_in_one_place_after_any_actions_and_every_admissible_action_works(kind, seed, draws):
    game = generate_game(kind, seed)
    state = game.initial_state
    for draw in draws:
        choices = admissible_actions(game, state)
        state, text = apply_action(game, state, choices[int(draw * len(choices))])
        assert text != "Nothing happens."
        lying = [o for contents in state.contents for o in contents]
        held = [] if state.holding is None else [state.holding]
        assert sorted(lying + held) == list(range(len(game.objects)))
        assert not state.hot & state.cool


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
