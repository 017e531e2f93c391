"""Every generated household can be won, and is the same everywhere."""

import collections
import hashlib
import json
import operator
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_house import after, house

from codeplan.envs.household import rooms
from codeplan.envs.household.engine import describe_start, is_goal_reached
from codeplan.envs.household.game import MOVE_DIALECT, PUT_DIALECT, HouseholdGoal
from codeplan.envs.household.generator import KINDS, generate_game, generate_goal_text
from codeplan.envs.household.walkthrough import find_walkthrough

GAMES = Path(__file__).parents[2] / ".." / "shared" / "fixtures" / "alfworld_games.tar.xz"
DIGEST = "e73a34d67955a894"


def digest():
    """A digest of the first games of each kind."""
    games = (generate_game(kind, seed) for kind in KINDS for seed in range(5))
    state = operator.attrgetter("initial_state.location", "initial_state.contents", "walkthrough")
    summaries = [[describe_start(g), *state(g), [r.location for r in g.receptacles]] for g in games]
    return hashlib.sha256(json.dumps(summaries).encode()).hexdigest()[:16]


def wins(game):
    return is_goal_reached(game, after(game, *game.walkthrough))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", [PUT_DIALECT, MOVE_DIALECT], ids=lambda d: d.name)
def test_every_test_task_is_won_by_its_walkthrough_and_not_won_before(kind, dialect):
    for seed in range(50):
        game = generate_game(kind, seed, dialect)
        assert not is_goal_reached(game, game.initial_state)
        assert wins(game)
        assert len(game.walkthrough) <= 20


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 2**64), st.sampled_from(["easy", "normal", "hard"]))
def test_any_seed_makes_a_game_of_any_difficulty_that_can_be_won(kind, seed, difficulty):
    game = generate_game(kind, seed, PUT_DIALECT, difficulty)
    assert not is_goal_reached(game, game.initial_state)
    assert wins(game)
    assert generate_goal_text(kind, seed, difficulty) == game.goal_text
    assert game.goal_text in describe_start(game)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 2**32))
def test_a_room_is_in_order(kind, seed):
    game = generate_game(kind, seed)
    locations = [r.location for r in game.receptacles] + [game.initial_state.location]
    assert len(set(locations)) == len(locations), "each receptacle has a place of its own, and the start is before none"
    assert len(game.receptacle_indices) == len(game.receptacles)
    assert len(game.object_indices) == len(game.objects)
    for r, contents in zip(game.receptacles, game.initial_state.contents, strict=True):
        for o in contents:
            movable = "pickupable" in game.objects[o].traits
            assert not movable or (r.kind, game.objects[o].kind) in game.can_contain
            assert game.initial_state.places[o] == {r.location}


def test_the_games_are_the_same_in_every_version_and_with_every_hash_seed():
    assert digest() == DIGEST
    here = str(Path(__file__).parent)
    program = "import test_household_generator as t; print(t.digest())"
    for hash_seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join([here, *sys.path])},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == DIGEST


def test_tasks_are_varied():
    sentences = collections.Counter(generate_goal_text(kind, seed) for kind in KINDS for seed in range(50))
    assert len(sentences) > 150
    assert max(sentences.values()) <= 8


def test_a_plan_can_guess_wrong():
    """Some targets are behind doors, and some exist several times."""
    games = [generate_game(kind, seed) for kind in KINDS for seed in range(50)]
    targets = [[o for o, it in enumerate(g.objects) if it.kind == g.goal.object] for g in games]
    hidden = [
        all(game.receptacles[r].openable for r, c in enumerate(game.initial_state.contents) if set(c) & set(found))
        for game, found in zip(games, targets, strict=True)
    ]
    several = [len(found) > game.goal.count for game, found in zip(games, targets, strict=True)]
    assert 0.1 < sum(hidden) / len(games) < 0.5
    assert 0.2 < sum(several) / len(games) < 0.8


def test_a_search_of_the_whole_room_fits_the_action_limit():
    for kind in KINDS:
        for seed in range(50):
            game = generate_game(kind, seed)
            search = len(game.receptacles) + sum(r.openable for r in game.receptacles)
            assert search + 6 <= 50


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        (HouseholdGoal("pen", "shelf"), "there (is|are)"),
        (HouseholdGoal("mug", "sofa"), "there (is|are)"),
        (HouseholdGoal("mug", lamp="floorlamp"), "there (is|are)"),
        (HouseholdGoal("mug", "shelf", count=3), "there (is|are)"),
        (HouseholdGoal("apple", "shelf"), "cannot be done"),
    ],
)
def test_a_goal_that_cannot_be_reached_has_no_walkthrough(goal, why):
    with pytest.raises(ValueError, match=why):
        find_walkthrough(house(goal))


# ------------------------------------------------------------------ difficulty and vocabulary


def test_a_harder_game_has_more_furniture_and_more_objects():
    def size(difficulty):
        games = [generate_game(kind, seed, PUT_DIALECT, difficulty) for kind in KINDS for seed in range(20)]
        return sum(len(g.receptacles) for g in games) / len(games), sum(len(g.objects) for g in games) / len(games)

    easy, normal, hard = size("easy"), size("normal"), size("hard")
    assert easy[0] < 0.8 * normal[0] < 0.8 * 0.9 * hard[0]
    assert easy[1] < 0.6 * normal[1] < 0.6 * 0.6 * hard[1]


def test_every_class_of_alfworld_is_generated():
    seen, furniture = set(), set()
    for difficulty in ("normal", "hard"):
        for kind in KINDS:
            for seed in range(60):
                game = generate_game(kind, seed, PUT_DIALECT, difficulty)
                seen |= {o.kind for o in game.objects}
                furniture |= {r.kind for r in game.receptacles}
    assert furniture == set(rooms.ALLOWED_CONTENTS)
    assert seen >= {kind for _, kind in rooms.CAN_CONTAIN} | rooms.LAMPS | {"houseplant", "television", "teddybear"}


def test_no_goal_asks_for_a_rare_object():
    for kind in KINDS:
        for seed in range(100):
            goal = generate_game(kind, seed, PUT_DIALECT, "hard").goal
            assert goal.object not in {"toiletpaperroll", "tennisracket", "teddybear", "scrubbrush", "papertowelroll"}


# ------------------------------------------------------------------ facts, against recorded games


@pytest.fixture(scope="module")
def problems():
    """The facts of one recorded game per room, as text."""
    if not GAMES.exists():
        pytest.skip("no recorded games beside the repository")
    rooms = {}
    with tarfile.open(GAMES) as archive:
        for member in archive:
            room = re.search(r"put/[^/]*-(\d+)/.*\.tw-pddl$", member.name)
            if room and room[1] not in rooms and (file := archive.extractfile(member)):
                rooms[room[1]] = json.load(file)["pddl_problem"].split("(:init")[1].lower()
    return list(rooms.values())


def test_allowed_contents_agree_with_recorded_games(problems):
    for text in problems:
        pairs = set(re.findall(r"\(cancontain (\w+)type (\w+)type\)", text))
        objects, receptacles = {o for _, o in pairs}, {r for r, _ in pairs}
        ours = {(r, o) for r, o in rooms.CAN_CONTAIN if r in receptacles and o in objects}
        assert ours == pairs


def test_traits_agree_with_recorded_games(problems):
    words = ("pickupable", "cleanable", "heatable", "coolable", "sliceable", "toggleable")
    ours = {kind for _, kind in rooms.CAN_CONTAIN} | rooms.LAMPS
    for text in problems:
        for kind in ours & set(re.findall(r"\(objecttype \S+ (\w+)type\)", text)):
            recorded = {w for w in words if re.search(rf"\({w} {kind}_bar_", text)}
            assert rooms.traits_of_kind(kind) == recorded, kind
        openable = {"sinkbasin" if "basin" in i else i.split("_")[0] for i in re.findall(r"\(openable (\S+)\)", text)}
        present = set(re.findall(r"\(receptacletype \S+ (\w+)type\)", text))
        assert rooms.OPENABLE & present == openable
