"""codeplan's engine and ALFWorld's own, TextWorld, give the same words, admissible actions and wins.

``make crosscheck`` plays fifty games, for about three minutes, other runs four. It needs the extra ``textworld``, here or in the Python that
CODEPLAN_TEXTWORLD_PYTHON names, and the recorded games.
"""

import importlib.util
import os
import random

import pytest
from support.alfworld_files import recorded
from support.small_house import apply_action

from codeplan.envs.alfworld import game_files
from codeplan.envs.alfworld.environment import TextWorldProcess, make
from codeplan.envs.household import engine
from codeplan.envs.household import engine as choices

pytestmark = pytest.mark.crosscheck

GAMES, STEPS = 50 if "CODEPLAN_SEQUENCES" in os.environ else 4, 80
"""``make crosscheck`` plays all 50."""
PARTS = 2
"""The number of tests that share the games, so that several processes can run them."""

needs_textworld = pytest.mark.skipif(
    not os.environ.get("CODEPLAN_TEXTWORLD_PYTHON") and importlib.util.find_spec("textworld") is None,
    reason="ALFWorld's own engine is not installed: pip install 'codeplan[textworld]'",
)


def chosen():
    """Some of the games, in both dialects in turn."""
    both = [sorted(recorded(dialect).rglob("game.tw-pddl")) for dialect in ("put", "move")]
    return [file for pair in list(zip(*both, strict=True))[:: 67 * 2 // GAMES] for file in pair][:GAMES]


def guided(rng, game, state, admissible):
    """A random action: about the goal, one that changes something, any admissible one, or nonsense."""
    if rng.random() < 0.06:
        o, r = rng.choice(game.objects).name, rng.choice(game.receptacles).name
        about = (f"take {o} from {r}", f"open {r}", f"use {o}", f"examine {o}", f"heat {o} with {r}", f"go to {r} ")
        putting = (f"put {o} in/on {r}", f"move {o} to {r}", f"slice {o} with {o}")
        return rng.choice([*about, *putting, "  look ", "Look", "help", ""])
    words = [game.goal.object, game.goal.receptacle or game.goal.lamp or ""]
    near = [a for a in admissible if any(word in a for word in words) and not a.startswith("examine")]
    doing = [a for a in admissible if a.split()[0] not in ("go", "look", "inventory", "help", "examine")]
    return rng.choice(rng.choice([near, doing, list(admissible)]) or list(admissible))


@needs_textworld
@pytest.mark.parametrize("part", range(PARTS))
def test_games_of_eighty_steps_are_the_same_in_both_engines(part):
    files, theirs, compared = chosen(), TextWorldProcess(), 0
    assert len(files) == GAMES
    for number, file in list(enumerate(files))[part::PARTS]:
        rng = random.Random(number)
        game, expected = game_files.load_game(file.parent), theirs.load(file)
        state = game.initial_state
        assert expected.text == engine.describe_start(game)
        for step in range(STEPS):
            admissible = choices.admissible_actions(game, state)
            assert list(admissible) == expected.commands, (file, step)
            action = guided(rng, game, state, admissible)
            state, answer = apply_action(game, state, action)
            expected = theirs.step(action)
            assert (answer, engine.is_goal_reached(game, state)) == (expected.text, expected.won), (file, step, action)
            compared += 1
    theirs.close()
    assert compared == GAMES // PARTS * STEPS


@needs_textworld
@pytest.mark.parametrize("dialect", ["put", "move"])
def test_an_episode_in_textworld_is_the_same_episode(dialect):
    ours, theirs = (make(data=str(recorded(dialect)), engine=name, actions=12) for name in ("codeplan", "textworld"))
    task = ours.tasks("valid_unseen")[20]
    actions = [*make(data=str(recorded("move"))).game(task).walkthrough, *["look"] * 12]
    assert ours.reset(task) == theirs.reset(task)
    for action in actions:
        assert ours.admissible() == theirs.admissible()
        assert ours.step(action) == theirs.step(action)
    theirs.close()
