"""ALFWorld's game files are read, or refused with file and reason."""

import json
import re

import pytest
from support.alfworld_files import contents, grammar, problem, write

from codeplan.envs.alfworld import game_files
from codeplan.envs.household.engine import is_goal_reached
from codeplan.envs.household.game import MOVE_DIALECT, PUT_DIALECT, HouseholdGoal
from codeplan.envs.household.generator import KINDS, generate_game
from codeplan.envs.household.walkthrough import find_walkthrough


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", [PUT_DIALECT, MOVE_DIALECT], ids=lambda d: d.name)
def test_a_written_game_reads_back_the_same(kind, dialect):
    for seed in range(6):
        game = generate_game(kind, seed, dialect)
        file = contents(game, dialect.name)
        assert game_files.parse_game(file["pddl_problem"], file["grammar"], game.walkthrough) == game


def test_the_grammar_determines_the_dialect():
    text = problem(generate_game("pick", 0))
    assert game_files.parse_game(text, grammar("put.", "put")).dialect == PUT_DIALECT
    assert game_files.parse_game(text, grammar("put.", "move")).dialect == MOVE_DIALECT


def test_a_grammar_with_its_own_wording_is_followed():
    own = grammar("x.", "put").replace("put {o} in/on {r}", "lay {o} upon {r}").replace("You put the", "You lay the")
    dialect = game_files.parse_game(problem(generate_game("pick", 0)), own).dialect
    assert dialect.put_command == ("lay ", " upon ")
    assert dialect.put_answer == "You lay the {object} in/on the {receptacle}."


def test_a_goal_text_may_contain_quotes():
    assert (
        game_files.parse_game(problem(generate_game("pick", 0)), grammar('put a "mug" away.', "put")).goal_text
        == 'put a "mug" away.'
    )


def test_names_are_numbered_downwards_and_a_basin_is_a_class_of_its_own():
    text = """(define (:objects a - agent Sink_bar_1_bar_SinkBasin - receptacle Mug_bar_1 - object Mug_bar_2 - object
      loc_bar_1 - location loc_bar_2 - location Mug - object)
      (:init (atLocation a loc_bar_1) (receptacleAtLocation Sink_bar_1_bar_SinkBasin loc_bar_2)
      (receptacleType Sink_bar_1_bar_SinkBasin SinkBasinType) (objectType Mug_bar_1 MugType) (objectType Mug_bar_2 MugType)
      (inReceptacle Mug_bar_1 Sink_bar_1_bar_SinkBasin) (inReceptacleObject Mug_bar_2 Mug_bar_1) (isReceptacleObject Mug_bar_1))
      (:goal (exists (?o - object ?r - receptacle) (and (objectType ?o MugType) (receptacleType ?r SinkBasinType) (inReceptacle ?o ?r)))))"""
    game = game_files.parse_game(text, grammar("x.", "put"))
    assert [r.name for r in game.receptacles] == ["sinkbasin 1"]
    assert [(o.name, o.inner) for o in game.objects] == [("mug 2", ("mug 1",)), ("mug 1", None)]
    assert (game.initial_state.location, game.receptacles[0].location) == (2, 1)
    assert game.goal == HouseholdGoal("mug", "sinkbasin")


SENTENCES = {
    "pick": "put a {} in {}.",
    "clean": "put a clean {} in {}.",
    "heat": "put a hot {} in {}.",
    "cool": "put a cool {} in {}.",
    "examine": "look at {} under the {}.",
    "pick_two": "put two {} in {}.",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_problem_and_a_trajectory_make_a_game(kind, tmp_path):
    game = generate_game(kind, 3)
    (tmp_path / "initial_state.pddl").write_text(problem(game))
    told = {"object_target": game.goal.object.title(), "parent_target": (game.goal.receptacle or "").title()}
    told |= {"toggle_target": (game.goal.lamp or "").title(), "mrecep_target": "", "object_sliced": False}
    types = {ours: theirs for theirs, ours in game_files.KINDS_BY_TYPE.items()}
    (tmp_path / "traj_data.json").write_text(json.dumps({"task_type": types[kind], "pddl_params": told, "more": [1]}))
    read = game_files.load_game(tmp_path)
    assert is_goal_reached(read, read.initial_state) is False
    assert read.goal == game.goal
    assert read.goal_text == SENTENCES[kind].format(game.goal.object, game.goal.receptacle or game.goal.lamp)
    assert find_walkthrough(read)


# ------------------------------------------------------------------ goals


def test_a_goal_may_have_any_order_and_variable_names():
    tree = game_files.parse_problem(
        "(define (:objects) (:init) (:goal (exists (?x - receptacle) (and (and (receptacleType ?x FridgeType)) (exists (?y ?z - object)"
        " (and (inReceptacle ?y ?x) (isCool ?y) (coolable ?y) (objectType ?y EggType)))))))"
    ).goal
    assert game_files.parse_goal(tree) == HouseholdGoal("egg", "fridge", "cool")


@pytest.mark.parametrize(
    "text",
    [
        "(exists (?o - object ?r - receptacle) (and (objectType ?o EggType) (receptacleType ?r FridgeType) (inReceptacle ?o ?r) (isSliced ?o)))",
        "(exists (?o - object ?r - receptacle) (and (objectType ?o EggType) (receptacleType ?r FridgeType) (inReceptacle ?o ?r) (isClean ?o)))",
        "(exists (?o - object ?r - receptacle) (and (objectType ?o EggType) (inReceptacle ?o ?r)))",
        "(exists (?o ?m - object ?r - receptacle) (and (inReceptacleObject ?o ?m) (inReceptacle ?m ?r) (objectType ?o EggType) (objectType ?m BowlType) (receptacleType ?r FridgeType)))",
        "(exists (?o ?p - object ?r - receptacle) (and (objectType ?o EggType) (objectType ?p EggType) (receptacleType ?r FridgeType) (inReceptacle ?o ?r) (inReceptacle ?p ?r)))",
        "(exists (?o - object ?a - agent) (and (objectType ?o EggType) (holds ?a ?o)))",
        "(forall (?o - object) (isClean ?o))",
        "(and)",
    ],
)
def test_a_goal_of_an_unknown_form_is_refused(text):
    tree = game_files.parse_problem(f"(define (:objects) (:init) (:goal {text}))").goal
    with pytest.raises(ValueError, match="its goal"):
        game_files.parse_goal(tree)


# ------------------------------------------------------------------ what is wrong with a file


def spoiled(tmp_path, spoil):
    """The error from reading a game file that ``spoil`` changed."""
    write(tmp_path, "pick", 1)
    (file,) = tmp_path.rglob("game.tw-pddl")
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(ValueError, match="game") as refused:
        game_files.load_game(file.parent)
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: b"", "empty"),
        (lambda data: b"\0" * 4096, "empty"),
        (lambda data: data[: len(data) // 2], "half downloaded"),
        (lambda data: data.replace(b"{", b"[", 1), "half downloaded|not a game"),
        (lambda data: b"<html>not found</html>", "half downloaded"),
        (lambda data: b"\xff\xfe" + data, "half downloaded"),
        (lambda data: b"{}", "missing required field"),
        (lambda data: b'{"grammar": 1, "pddl_problem": ""}', "grammar"),
        (lambda data: data.replace(b"(:init", b"(:start"), "no section"),
        (lambda data: data.replace(b"(:goal", b"(:aim"), "no section"),
        (lambda data: data.replace(b"(atLocation agent1", b"(atPlace agent1"), "the agent's location 0 times"),
        (lambda data: data.replace(b"inReceptacle ?o", b"isSliced ?o"), "its goal"),
        (lambda data: data.replace(b"; the end", b") ; the end"), "parentheses"),
        (lambda data: data.replace(b") ; the end", b""), "parentheses"),
        (lambda data: data.replace(b"(openable ", b"(openable door "), "must have 1 arguments"),
        (lambda data: data.replace(b"Your task is to", b"Do"), "does not say"),
        (lambda data: data.replace(b"action PutObject", b"action Put"), "does not have the command"),
        (lambda data: data.replace(b"put {o} in/on {r}", b"put it down"), "puts things"),
        (lambda data: data.replace(b"{lend.name}", b"{some.name}"), "some.name"),
        (lambda data: data.replace(b"loc_bar_", b"here_"), "does not look like"),
    ],
)
def test_a_damaged_game_file_is_named_with_the_reason(tmp_path, spoil, reason):
    assert re.search(reason, spoiled(tmp_path, spoil))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"traj_data\.json cannot be read: No such file"):
        game_files.load_game(tmp_path)
