"""ALFWorld's game files for tests: written from the household's games, or recorded ones next to the repository."""

from __future__ import annotations

import functools
import json
import tarfile
import tempfile
from pathlib import Path

import pytest

from codeplan.envs.household.game import Game
from codeplan.envs.household.generator import generate_game

FIXTURES = Path(__file__).parents[2] / ".." / "shared" / "fixtures"

TYPES = {
    "pick": "pick_and_place_simple",
    "clean": "pick_clean_then_place_in_recep",
    "heat": "pick_heat_then_place_in_recep",
    "cool": "pick_cool_then_place_in_recep",
    "examine": "look_at_obj_in_light",
    "pick_two": "pick_two_obj_and_place",
}
STATES = {"clean": ("cleanable", "isClean"), "hot": ("heatable", "isHot"), "cool": ("coolable", "isCool")}


@functools.cache
def recorded(dialect: str) -> Path:
    """The folder of the recorded games of a dialect; skips the test if there are none."""
    archive = FIXTURES / "alfworld_games.tar.xz"
    if not archive.exists():
        pytest.skip("no recorded games beside the repository")
    folder = tempfile.TemporaryDirectory(prefix="codeplan-alfworld-")
    _kept.append(folder)
    with tarfile.open(archive) as tar:
        tar.extractall(folder.name, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return Path(folder.name) / dialect


_kept: list[tempfile.TemporaryDirectory[str]] = []


def transcripts() -> list[dict]:
    """The recorded episodes; skips the test if there are none."""
    file = FIXTURES / "alfworld_transcripts.jsonl"
    if not file.exists():
        pytest.skip("no recorded transcripts beside the repository")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


# ------------------------------------------------------------------ files that are written


def write(split: Path, kind: str, seed: int, *, room: int = 10, dialect: str = "put", **fields) -> str:
    """Write the household's game of a kind and a seed into a split's folder; returns its id."""
    game = generate_game(kind, seed)
    goal = game.goal
    name = f"{TYPES[kind]}-{goal.object.title()}-None-{(goal.receptacle or goal.lamp or '').title()}-{room}"
    trial = split / name / f"trial_{seed:05}"
    trial.mkdir(parents=True)
    (trial / "game.tw-pddl").write_text(json.dumps(contents(game, dialect) | fields), encoding="utf-8")
    return f"{name}/{trial.name}"


def contents(game: Game, dialect: str = "put") -> dict:
    """The contents of a game file."""
    return {
        "pddl_domain": "",
        "grammar": grammar(game.goal_text, dialect),
        "pddl_problem": problem(game),
        "solvable": True,
        "walkthrough": list(game.walkthrough),
    }


def grammar(sentence: str, dialect: str) -> str:
    """The part of a grammar that determines the dialect and the goal text."""
    put, putting, at, more = {
        "put": ("put {o} in/on {r}", "You put the {o.name} in/on the {r.name}.", "{lend.name}", ""),
        "move": (
            "move {o} to {r}",
            "You move the {o.name} to the {r.name}.",
            "{r.name}",
            'action help {\n    template :: "help";\n}\n',
        ),
    }[dialect]
    feedback = {
        "task": [{"rhs": f"Your task is to: {sentence}"}],
        "GotoLocation.feedback": [{"rhs": f"You arrive at {at}. #examineReceptacle.feedback#"}],
        "PutObject.feedback": [{"rhs": putting}],
    }
    return f'grammar :: """\n{json.dumps(feedback, indent=4)}\n""";\n\naction PutObject {{\n    template :: "{put}";\n}}\n{more}'


def problem(game: Game) -> str:
    """The game in PDDL. The ids sort in the game's order, so that reading gives the same names."""
    furniture = [_id(r.kind, i) for i, r in enumerate(game.receptacles)]
    things = [_id(o.kind, i) for i, o in enumerate(game.objects)]
    last = max([r.location for r in game.receptacles] + [game.initial_state.location])
    places = {at: f"loc_bar_{last - at:03}" for at in range(1, last + 1)}  # numbers count down
    facts = [f"(atLocation agent1 {places[game.initial_state.location]})", "(= (total-cost) 0)"]
    facts += [f"(canContain {r}Type {o}Type)" for r, o in sorted(game.can_contain)]
    for i, r in enumerate(game.receptacles):
        facts += [
            f"(receptacleType {furniture[i]} {r.kind}Type)",
            f"(receptacleAtLocation {furniture[i]} {places[r.location]})",
        ]
        facts += [f"(openable {furniture[i]})"] if r.openable else []
        facts += [f"(inReceptacle {things[o]} {furniture[i]})" for o in game.initial_state.contents[i]]
    for i, o in enumerate(game.objects):
        facts += [f"(objectType {things[i]} {o.kind}Type)"] + [f"({trait} {things[i]})" for trait in sorted(o.traits)]
        facts += [f"(objectAtLocation {things[i]} {places[at]})" for at in sorted(game.initial_state.places[i])]
        facts += [f"(isReceptacleObject {things[i]})"] if o.inner is not None else []
    facts += [f"(examined {at})" for at in places.values()]
    sorts = (
        [f"{i} - receptacle" for i in furniture]
        + [f"{i} - object" for i in things]
        + [f"{i} - location" for i in places.values()]
    )
    lines = [
        "(define (problem made)",
        "(:domain alfred)",
        "(:objects agent1 - agent",
        *sorts,
        ")",
        "(:init",
        *facts,
        ")",
    ]
    return "\n".join([*lines, f"(:goal {goal(game)})", ") ; the end"])


def _id(kind: str, number: int) -> str:
    return f"{kind.removesuffix('basin')}_bar__plus_{number:04}" + ("_bar_SinkBasin" if kind.endswith("basin") else "")


def goal(game: Game) -> str:
    """The game's goal in PDDL, in the words of ALFRED's goals."""
    g = game.goal
    if g.lamp:
        return (
            f"(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot {g.lamp}Type) "
            "(toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) "
            f"(exists (?o - object ?a - agent) (and (objectType ?o {g.object}Type) (holds ?a ?o))))"
        )
    if g.count == 2:
        there = f"(objectType ?o{{0}} {g.object}Type) (receptacleType ?r {g.receptacle}Type) (inReceptacle ?o{{0}} ?r)"
        second = f"(exists (?o2 - object) (and (not (= ?o1 ?o2)) {there.format(2)}))"
        return f"(and (exists (?r - receptacle) (exists (?o1 - object) (and {there.format(1)} {second}))))"
    trait, state = STATES.get(g.condition or "", ("", ""))
    made = f"({trait} ?o) ({state} ?o)" if trait else ""
    return (
        f"(and (exists (?r - receptacle) (exists (?o - object) (and {made} (objectType ?o {g.object}Type) "
        f"(receptacleType ?r {g.receptacle}Type) (inReceptacle ?o ?r)))))"
    )
