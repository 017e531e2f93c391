"""ALFWorld's game files as games: what ``game.tw-pddl`` says, or ``initial_state.pddl`` with ``traj_data.json``.

The sentences of the text engine call a thing by its class and a number: the ids of a class are sorted, and numbered
downwards. Lists in its sentences stand in the order of the ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from sys import intern
from typing import Any, TypeVar

import msgspec

from codeplan.envs.alfworld.goals import parse_goal
from codeplan.envs.alfworld.grammar import parse_dialect, parse_goal_text
from codeplan.envs.alfworld.pddl import PDDLProblem, parse_problem
from codeplan.envs.household.game import MOVE_DIALECT, Dialect, Game, HouseholdState, Object, Receptacle, number_names
from codeplan.types.value import Value

GAME_FILE, STATE_FILE, TRAJECTORY_FILE = "game.tw-pddl", "initial_state.pddl", "traj_data.json"
"""The files in a trial's folder: a game, or the two that a game is made of."""

KINDS_BY_TYPE = {
    "pick_and_place_simple": "pick",
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
    "look_at_obj_in_light": "examine",
    "pick_two_obj_and_place": "pick_two",
}
"""The kind of task that each of ALFRED's types is; a type that is missing here is not played, as in ALFWorld."""

_SENTENCES = {
    "pick": "put a {object} in {receptacle}.",
    "clean": "put a clean {object} in {receptacle}.",
    "heat": "put a hot {object} in {receptacle}.",
    "cool": "put a cool {object} in {receptacle}.",
    "examine": "look at {object} under the {lamp}.",
    "pick_two": "put two {object} in {receptacle}.",
}
_TRAITS = ("pickupable", "cleanable", "heatable", "coolable", "toggleable", "sliceable")
_T = TypeVar("_T")


class GameHeader(Value, frozen=True):
    """What is told of a game without reading all of it; ``solvable`` is None where its file does not say."""

    goal_text: str
    solvable: bool | None


class _Head(msgspec.Struct):
    grammar: str
    solvable: bool | None = None


class _File(msgspec.Struct):
    grammar: str
    pddl_problem: str
    walkthrough: list[str] | None = None


class _Parameters(msgspec.Struct):
    object_target: str = ""
    parent_target: str = ""
    toggle_target: str = ""
    object_sliced: bool = False


class _Trajectory(msgspec.Struct):
    task_type: str
    pddl_params: _Parameters


def load_header(trial: Path) -> GameHeader:
    """The head of the game in a trial's folder. Raises ValueError, with file and reason, where it is damaged."""
    file = trial / GAME_FILE
    if not file.is_file():
        return GameHeader(_told(trial / TRAJECTORY_FILE), None)
    found = _decoded(file, _Head)
    return GameHeader(_about(file, lambda: parse_goal_text(found.grammar)), found.solvable)


def load_game(trial: Path) -> Game:
    """The game in a trial's folder. Raises ValueError, with file and reason, where it cannot be played."""
    file = trial / GAME_FILE
    if not file.is_file():
        state, words = trial / STATE_FILE, _told(trial / TRAJECTORY_FILE)
        return _about(state, lambda: _game(parse_problem(_text(state)), words, MOVE_DIALECT, ()))
    found = _decoded(file, _File)
    return _about(file, lambda: parse_game(found.pddl_problem, found.grammar, found.walkthrough or ()))


def parse_game(text: str, grammar: str, walkthrough: Iterable[str] = ()) -> Game:
    """The game of a PDDL problem and a grammar. Raises ValueError, with the reason, where they make none."""
    return _game(parse_problem(text), parse_goal_text(grammar), parse_dialect(grammar), tuple(walkthrough))


# ------------------------------------------------------------------ files


def _about(file: Path, read: Callable[[], _T]) -> _T:
    """What reading gives; its errors name the file."""
    try:
        return read()
    except ValueError as e:
        raise ValueError(f"the game file {file} cannot be played: {e}") from None


def _text(file: Path) -> str:
    return _bytes(file).decode("utf-8", errors="replace")


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as e:
        raise ValueError(f"the game file {file} cannot be read: {e.strerror or e}") from None


def _decoded(file: Path, shape: type[Any]) -> Any:
    data = _bytes(file)
    if not data.strip(b"\0 \t\r\n"):
        raise ValueError(f"the game file {file} is empty: its download was interrupted; fetch it again")
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError as e:
        raise ValueError(f"the game file {file} is no game of ALFWorld: {e}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise ValueError(f"the game file {file} is damaged or half downloaded: {e}; fetch it again") from None


def _told(file: Path) -> str:
    """The goal in words, out of a trajectory's parameters."""
    found: _Trajectory = _decoded(file, _Trajectory)
    kind, of = KINDS_BY_TYPE.get(found.task_type), found.pddl_params
    if kind is None or of.object_sliced:
        raise ValueError(f"the game file {file} is of a type that is not played here: {found.task_type}")
    words = {"object": of.object_target, "receptacle": of.parent_target, "lamp": of.toggle_target}
    return _SENTENCES[kind].format(**{name: word.lower() for name, word in words.items()})


# ------------------------------------------------------------------ the facts


def _game(facts: PDDLProblem, words: str, wording: Dialect, walkthrough: tuple[str, ...]) -> Game:
    ids = {a for arguments in facts.facts.values() for each in arguments for a in each if "_bar_" in a}
    names = _names(ids)
    where = dict(facts.binary_facts("receptacleatlocation"))
    furniture = sorted(i for i in ids if facts.types.get(i) == "receptacle" and i in where)
    things = sorted(i for i in ids if facts.types.get(i) == "object")
    return Game(
        tuple(_receptacles(facts, furniture, names, where)),
        tuple(_objects(facts, things, names)),
        frozenset((_type(r), _type(o)) for r, o in facts.binary_facts("cancontain")),
        parse_goal(facts.goal),
        words,
        _start(facts, furniture, things, names),
        wording,
        walkthrough,
    )


def _names(ids: Iterable[str]) -> dict[str, str]:
    """How the text engine calls each thing, and each place: ``desk 2``, ``loc 17``."""
    ordered = sorted(ids)
    kinds = [i.partition("_bar_")[0] + ("basin" if "basin" in i else "") for i in ordered]
    return dict(zip(ordered, number_names(kinds), strict=True))


def _receptacles(
    facts: PDDLProblem, ids: list[str], names: dict[str, str], where: dict[str, str]
) -> Iterable[Receptacle]:
    kinds, openable = dict(facts.binary_facts("receptacletype")), set(facts.unary_facts("openable"))
    for i in ids:
        yield Receptacle(names[i], _type(kinds.get(i, "")), _place(names, where[i]), i in openable)


def _objects(facts: PDDLProblem, ids: list[str], names: dict[str, str]) -> Iterable[Object]:
    kinds, holders = dict(facts.binary_facts("objecttype")), set(facts.unary_facts("isreceptacleobject"))
    having = {trait: set(facts.unary_facts(trait)) for trait in _TRAITS}
    inner: dict[str, list[str]] = {}
    for thing, holder in sorted(facts.binary_facts("inreceptacleobject")):
        inner.setdefault(holder, []).append(names[thing])
    for i in ids:
        traits = frozenset(trait for trait in _TRAITS if i in having[trait])
        yield Object(names[i], _type(kinds.get(i, "")), traits, tuple(inner.get(i, ())) if i in holders else None)


def _start(facts: PDDLProblem, furniture: list[str], things: list[str], names: dict[str, str]) -> HouseholdState:
    r_at, o_at = ({i: n for n, i in enumerate(ids)} for ids in (furniture, things))
    contents: list[set[int]] = [set() for _ in furniture]
    for o, r in facts.binary_facts("inreceptacle"):
        if o in o_at and r in r_at:
            contents[r_at[r]].add(o_at[o])
    places: list[set[int]] = [set() for _ in things]
    for o, at in facts.binary_facts("objectatlocation"):
        if o in o_at:
            places[o_at[o]].add(_place(names, at))
    agents = facts.binary_facts("atlocation")
    if len(agents) != 1:
        raise ValueError(f"it says {len(agents)} times where the agent is, not once")
    held = [o_at[o] for _, o in facts.binary_facts("holds") if o in o_at]

    def having(predicate: str) -> frozenset[int]:
        return frozenset(o_at[o] for o in facts.unary_facts(predicate) if o in o_at)

    return HouseholdState(
        _place(names, agents[0][1]),
        tuple(tuple(sorted(c)) for c in contents),
        tuple(frozenset(p) for p in places),
        held[0] if held else None,
        frozenset(r_at[r] for r in facts.unary_facts("opened") if r in r_at),
        having("isclean"),
        having("ishot"),
        having("iscool"),
        having("issliced"),
        having("istoggled"),
    )


def _place(names: dict[str, str], location: str) -> int:
    """The number of a place."""
    _, _, number = names.get(location, "").rpartition(" ")
    if not number:
        raise ValueError(f"its place {location!r} has no name like loc_bar_1_bar_2")
    return int(number)


def _type(name: str) -> str:
    return intern(name.removesuffix("type"))
