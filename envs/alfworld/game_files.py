"""Reads games from ALFWorld's files: ``game.tw-pddl``, or ``initial_state.pddl`` with ``traj_data.json``.

ALFWorld names an object by its class and a number: it sorts the ids of a class and numbers them downwards. Its
listings are in the order of the ids.
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
from codeplan.envs.household.generator import GOAL_TEXTS
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

GAME_FILE, STATE_FILE, TRAJECTORY_FILE = "game.tw-pddl", "initial_state.pddl", "traj_data.json"
"""The files of a trial: a game, or the two files that a game can be made from."""

KINDS_BY_TYPE = {
    "pick_and_place_simple": "pick",
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
    "look_at_obj_in_light": "examine",
    "pick_two_obj_and_place": "pick_two",
}
"""The kind of task of each of ALFRED's types. ALFWorld does not play other types."""

_TRAITS = ("pickupable", "cleanable", "heatable", "coolable", "toggleable", "sliceable")
_T = TypeVar("_T")


class GameHeader(Value, frozen=True):
    """The parts of a game that are cheap to read; ``solvable`` is None if the file does not say."""

    goal_text: str
    solvable: bool | None


class _HeaderFields(msgspec.Struct):
    grammar: str
    solvable: bool | None = None


class _GameFields(msgspec.Struct):
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
    """Return the header of a trial's game. Raises: ValueError, with file and reason, if the file is damaged."""
    file = trial / GAME_FILE
    if not file.is_file():
        return GameHeader(_goal_from_trajectory(trial / TRAJECTORY_FILE), None)
    found = _decode(file, _HeaderFields)
    return GameHeader(_name_file_in_errors(file, lambda: parse_goal_text(found.grammar)), found.solvable)


def load_game(trial: Path) -> Game:
    """Return the game of a trial. Raises: ValueError, with file and reason, if it cannot be played."""
    file = trial / GAME_FILE
    if not file.is_file():
        state_file, goal_text = trial / STATE_FILE, _goal_from_trajectory(trial / TRAJECTORY_FILE)
        text = _read(state_file).decode("utf-8", errors="replace")
        return _name_file_in_errors(state_file, lambda: _build_game(parse_problem(text), goal_text, MOVE_DIALECT, ()))
    found = _decode(file, _GameFields)
    return _name_file_in_errors(file, lambda: parse_game(found.pddl_problem, found.grammar, found.walkthrough or ()))


def parse_game(text: str, grammar: str, walkthrough: Iterable[str] = ()) -> Game:
    """Return the game of a PDDL problem and a grammar. Raises: ValueError, with the reason, if they do not make a
    game.
    """
    return _build_game(parse_problem(text), parse_goal_text(grammar), parse_dialect(grammar), tuple(walkthrough))


# ------------------------------------------------------------------ files


def _name_file_in_errors(file: Path, read: Callable[[], _T]) -> _T:
    """Call ``read``; if it fails, name the file in the error."""
    try:
        return read()
    except ValueError as e:
        raise ValueError(f"the game file {file} cannot be played: {e}") from None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as e:
        raise ValueError(f"the game file {file} cannot be read: {e.strerror or e}") from None


def _decode(file: Path, shape: type[Any]) -> Any:
    data = _read(file)
    if not data.strip(b"\0 \t\r\n"):
        raise ValueError(f"the game file {file} is empty: its download was interrupted; download it again")
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError as e:
        raise ValueError(f"the game file {file} is not a game of ALFWorld: {e}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise ValueError(f"the game file {file} is damaged or half downloaded: {e}; download it again") from None


def _goal_from_trajectory(file: Path) -> str:
    """The goal in words, from a trajectory's parameters."""
    found: _Trajectory = _decode(file, _Trajectory)
    kind, of = KINDS_BY_TYPE.get(found.task_type), found.pddl_params
    if kind is None or of.object_sliced:
        raise ValueError(f"the game file {file} has a task type that codeplan does not play: {found.task_type}")
    words = {"object": of.object_target, "receptacle": of.parent_target, "lamp": of.toggle_target}
    return GOAL_TEXTS[kind][0].format(**{name: word.lower() for name, word in words.items()})


# ------------------------------------------------------------------ from facts to a game


def _build_game(problem: PDDLProblem, goal_text: str, dialect: Dialect, walkthrough: tuple[str, ...]) -> Game:
    ids = {a for arguments in problem.facts.values() for each in arguments for a in each if "_bar_" in a}
    names = _name_ids(ids)
    location_of = dict(problem.binary_facts("receptacleatlocation"))
    furniture = sorted(i for i in ids if problem.types.get(i) == "receptacle" and i in location_of)
    objects = sorted(i for i in ids if problem.types.get(i) == "object")
    return Game(
        tuple(_receptacles(problem, furniture, names, location_of)),
        tuple(_objects(problem, objects, names)),
        frozenset((_type(r), _type(o)) for r, o in problem.binary_facts("cancontain")),
        parse_goal(problem.goal),
        goal_text,
        _state(problem, furniture, objects, names),
        dialect,
        walkthrough,
    )


def _name_ids(ids: Iterable[str]) -> dict[str, str]:
    """The engine's name of each id: ``desk 2``, ``loc 17``."""
    ordered = sorted(ids)
    kinds = [i.partition("_bar_")[0] + ("basin" if "basin" in i else "") for i in ordered]
    return dict(zip(ordered, number_names(kinds), strict=True))


def _receptacles(
    problem: PDDLProblem, ids: list[str], names: dict[str, str], location_of: dict[str, str]
) -> Iterable[Receptacle]:
    kinds, openable = dict(problem.binary_facts("receptacletype")), set(problem.unary_facts("openable"))
    for i in ids:
        yield Receptacle(names[i], _type(kinds.get(i, "")), _location_number(names, location_of[i]), i in openable)


def _objects(problem: PDDLProblem, ids: list[str], names: dict[str, str]) -> Iterable[Object]:
    kinds, holders = dict(problem.binary_facts("objecttype")), set(problem.unary_facts("isreceptacleobject"))
    with_trait = {trait: set(problem.unary_facts(trait)) for trait in _TRAITS}
    inner: dict[str, list[str]] = {}
    for inside, holder in sorted(problem.binary_facts("inreceptacleobject")):
        inner.setdefault(holder, []).append(names[inside])
    for i in ids:
        traits = frozenset(trait for trait in _TRAITS if i in with_trait[trait])
        yield Object(names[i], _type(kinds.get(i, "")), traits, tuple(inner.get(i, ())) if i in holders else None)


def _state(problem: PDDLProblem, furniture: list[str], objects: list[str], names: dict[str, str]) -> HouseholdState:
    r_at, o_at = ({i: n for n, i in enumerate(ids)} for ids in (furniture, objects))
    contents: list[set[int]] = [set() for _ in furniture]
    for o, r in problem.binary_facts("inreceptacle"):
        if o in o_at and r in r_at:
            contents[r_at[r]].add(o_at[o])
    places: list[set[int]] = [set() for _ in objects]
    for o, at in problem.binary_facts("objectatlocation"):
        if o in o_at:
            places[o_at[o]].add(_location_number(names, at))
    agents = problem.binary_facts("atlocation")
    if len(agents) != 1:
        raise ValueError(f"it states the agent's location {len(agents)} times, not once")
    held = [o_at[o] for _, o in problem.binary_facts("holds") if o in o_at]

    def having(predicate: str) -> frozenset[int]:
        return frozenset(o_at[o] for o in problem.unary_facts(predicate) if o in o_at)

    return HouseholdState(
        _location_number(names, agents[0][1]),
        tuple(tuple(sorted(c)) for c in contents),
        tuple(frozenset(p) for p in places),
        held[0] if held else None,
        frozenset(r_at[r] for r in problem.unary_facts("opened") if r in r_at),
        having("isclean"),
        having("ishot"),
        having("iscool"),
        having("issliced"),
        having("istoggled"),
    )


def _location_number(names: dict[str, str], location: str) -> int:
    """The number of a location."""
    _, _, number = names.get(location, "").rpartition(" ")
    if not number:
        raise ValueError(f"its location {in_quotes(location)} does not look like loc_bar_1_bar_2")
    return int(number)


def _type(name: str) -> str:
    return intern(name.removesuffix("type"))
