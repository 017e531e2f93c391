"""Reads ALFWorld's data: its folders, splits and games.

A game is in ``game.tw-pddl``, or can be made from ``initial_state.pddl`` and ``traj_data.json``. ALFWorld names an
object by its class and a number: it sorts the ids of a class and numbers them downwards. Its listings are in the order
of the ids. The data is ``json_2.1.1`` (or a later release) / ``valid_unseen``, ``valid_seen`` or ``train`` / a folder
for each task / a folder for each of its trials. A user may name the folder of the data, of a release or of a split.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import count
from pathlib import Path
from sys import intern
from typing import Any, TypeVar

import msgspec

from codeplan.envs.household.game import (
    MOVE_DIALECT,
    Condition,
    Dialect,
    Game,
    HouseholdGoal,
    HouseholdState,
    Object,
    Receptacle,
    number_names,
)
from codeplan.envs.household.generator import GOAL_TEXTS
from codeplan.envs.household.walkthrough import find_walkthrough
from codeplan.errors import UsageError
from codeplan.types import Task, Value
from codeplan.untrusted.values import in_quotes

Expression = str | list["Expression"]
"""A word, or a list of the expressions between two parentheses."""


# ------------------------------------------------------------------ PDDL, as far as ALFWorld's files use it


class PDDLProblem(Value, frozen=True):
    """A problem in lower case: the type of each object, the arguments of all facts by predicate, the goal."""

    types: dict[str, str]
    facts: dict[str, list[tuple[str, ...]]]
    goal: Expression

    def binary_facts(self, predicate: str) -> list[tuple[str, str]]:
        """Return the facts of a two-place predicate. Raises: ValueError if one has another number of arguments."""
        return [(first, second) for first, second in self._of(predicate, 2)]

    def unary_facts(self, predicate: str) -> list[str]:
        """Return the facts of a one-place predicate. Raises: ValueError if one has another number of arguments."""
        return [only for (only,) in self._of(predicate, 1)]

    def _of(self, predicate: str, size: int) -> list[tuple[str, ...]]:
        found = self.facts.get(predicate, [])
        for arguments in found:
            if len(arguments) != size:
                raise ValueError(f"the fact ({' '.join((predicate, *arguments))}) must have {size} arguments")
        return found


def parse_problem(text: str) -> PDDLProblem:
    """Parse a problem. Raises: ValueError, with the reason, if the text is not a problem."""
    plain = re.sub(r";[^\n]*", "", text).lower()
    opening, closing = plain.count("("), plain.count(")")
    if not opening:
        raise ValueError("it is empty")
    if opening != closing:
        raise ValueError(f"it ends early or is damaged: {opening:,} parentheses open and {closing:,} close")
    _, *parts = re.split(r"\(:([a-z-]+)", plain)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    for name in ("objects", "init", "goal"):
        if name not in sections:
            raise ValueError(f"it has no section (:{name} …)")
    return PDDLProblem(
        _parse_types(sections["objects"]), _parse_facts(sections["init"]), _parse_expression(sections["goal"])
    )


def _parse_types(section: str) -> dict[str, str]:
    """``a b - object c - location`` as ``{a: object, b: object, c: location}``."""
    types: dict[str, str] = {}
    waiting: list[str] = []
    words = iter(section.replace(")", " ").split())
    for word in words:
        if word == "-":
            types.update(dict.fromkeys(waiting, next(words, "")))
            waiting = []
        else:
            waiting.append(word)
    return types


def _parse_facts(section: str) -> dict[str, list[tuple[str, ...]]]:
    facts: dict[str, list[tuple[str, ...]]] = {}
    for fact in re.findall(r"\(([^()]*)\)", section):
        predicate, *arguments = fact.split() or [""]
        facts.setdefault(predicate, []).append(tuple(arguments))
    return facts


def _parse_expression(section: str) -> Expression:
    """The first expression of a section, without the closing parentheses that follow it."""
    stack: list[list[Expression]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", section):
        if word == "(":
            stack.append([])
        elif word != ")":
            stack[-1].append(word)
        else:
            done = stack.pop()
            if not stack:
                break
            stack[-1].append(done)
            if len(stack) == 1:
                return done
    raise ValueError("its goal is not an expression")


Fact = tuple[str, ...]
"""A predicate and its arguments. Variables are renamed to ``?1``, ``?2`` and so on, unique in the goal."""


# ------------------------------------------------------------------ goals

_CONDITIONS: dict[str, tuple[Condition, str]] = {
    "isclean": ("clean", "cleanable"),
    "ishot": ("hot", "heatable"),
    "iscool": ("cool", "coolable"),
}
"""The condition and the trait that it needs, by the predicate in a goal."""


def parse_goal(tree: Expression) -> HouseholdGoal:
    """Return the goal of an expression. Raises: ValueError if it has none of ALFWorld's six forms."""
    facts = set(_flatten(tree, {}, count(1)))
    found = _parse_light_goal(facts) if any(f[0] == "holds" for f in facts) else _parse_place_goal(facts)
    if found is None:
        raise ValueError(f"its goal has an unknown form: {_format(tree)[:300]}")
    return found


def _flatten(tree: Expression, names: dict[str, str], numbers: Iterator[int]) -> Iterator[Fact]:
    """The facts of a conjunction. ``not =`` counts as one predicate, with its arguments sorted."""
    match tree:
        case []:
            return
        case ["and", *parts]:
            for part in parts:
                yield from _flatten(part, names, numbers)
        case ["exists", [*variables], body]:
            inner = {str(v): f"?{next(numbers)}" for v in variables if str(v).startswith("?")}
            yield from _flatten(body, names | inner, numbers)
        case ["not", ["=", str(one), str(other)]]:
            yield ("not=", *sorted((names.get(one, one), names.get(other, other))))
        case [str(predicate), *arguments] if all(isinstance(a, str) for a in arguments):
            if predicate in ("or", "not", "forall", "imply", "="):
                raise ValueError(f"its goal has an unknown part: {_format(tree)[:300]}")
            yield (predicate, *(names.get(str(a), str(a)) for a in arguments))
        case _:
            raise ValueError(f"its goal has an unknown part: {_format(tree)[:300]}")


def _parse_place_goal(facts: set[Fact]) -> HouseholdGoal | None:
    """One or two objects of a type in one receptacle of a type; a single object may need a condition."""
    placed = sorted(f[1:] for f in facts if f[0] == "inreceptacle" and len(f) == 3)
    if len(placed) not in (1, 2) or len({r for _, r in placed}) != 1:
        return None
    objects, receptacle = [o for o, _ in placed], placed[0][1]
    kind, receptacle_kind = _type_of(facts, "objecttype", objects[0]), _type_of(facts, "receptacletype", receptacle)
    conditions = [c for c in _CONDITIONS if (c, objects[0]) in facts]
    if kind is None or receptacle_kind is None or len(conditions) > 1:
        return None
    expected: set[Fact] = {("receptacletype", receptacle, f"{receptacle_kind}type")}
    expected |= {("inreceptacle", o, receptacle) for o in objects} | {("objecttype", o, f"{kind}type") for o in objects}
    if len(objects) == 2:
        expected.add(("not=", *sorted(objects)))
    condition, trait = _CONDITIONS[conditions[0]] if conditions else (None, "")
    if condition:
        expected |= {(conditions[0], objects[0]), (trait, objects[0])}
    return HouseholdGoal(kind, receptacle_kind, condition, len(objects)) if facts == expected else None


def _parse_light_goal(facts: set[Fact]) -> HouseholdGoal | None:
    """A held object of a type next to a lamp of a type that is switched on."""
    hands = [f[1:] for f in facts if f[0] == "holds" and len(f) == 3]
    lamps = [(f[1], g[2]) for f in facts if f[0] == "istoggled" for g in facts if g[:2] == ("inreceptacle", f[1])]
    if len(hands) != 1 or len(lamps) != 1:
        return None
    (holder, held), (lamp, receptacle) = hands[0], lamps[0]
    kind, lamp_kind = _type_of(facts, "objecttype", held), _type_of(facts, "objecttype", lamp)
    places = [f[2] for f in facts if f[:2] == ("receptacleatlocation", receptacle) and len(f) == 3]
    agents = [f[1] for f in facts if f[0] == "atlocation" and len(f) == 3]
    if kind is None or lamp_kind is None or len(places) != 1 or len(agents) != 1:
        return None
    expected: set[Fact] = {
        ("holds", holder, held),
        ("objecttype", held, f"{kind}type"),
        ("objecttype", lamp, f"{lamp_kind}type"),
        ("toggleable", lamp),
        ("istoggled", lamp),
        ("inreceptacle", lamp, receptacle),
        ("receptacleatlocation", receptacle, places[0]),
        ("atlocation", agents[0], places[0]),
    }
    return HouseholdGoal(kind, lamp=lamp_kind) if facts == expected else None


def _type_of(facts: set[Fact], predicate: str, variable: str) -> str | None:
    """The single type that a variable must have, without the suffix ``type``; None if there is not exactly one."""
    found = [f[2] for f in facts if f[:2] == (predicate, variable) and len(f) == 3]
    return found[0].removesuffix("type") if len(found) == 1 and found[0].endswith("type") else None


def _format(tree: Expression) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_format, tree))})"


# ------------------------------------------------------------------ the grammar of a game file

_STRING = r'"((?:[^"\\]|\\.)*+)"'
_GOAL = '"Your task is to: '
_GOAL_TEXT = re.compile(_GOAL + _STRING.removeprefix('"'))


def parse_goal_text(grammar: str) -> str:
    """Return the goal in words. Raises: ValueError if the grammar does not have it."""
    found = _GOAL_TEXT.match(grammar, max(grammar.find(_GOAL), 0))
    if not found:
        raise ValueError('its grammar does not say "Your task is to: …"')
    words: str = json.loads(f'"{found[1]}"', strict=False)
    return words


def parse_dialect(grammar: str) -> Dialect:
    """Return the file's dialect. Raises: ValueError if the grammar lacks a part of it."""
    command = _find(grammar, rf"action PutObject\s*\{{\s*template\s*::\s*{_STRING}", "the command that puts things")
    head, first, rest = command.partition("{o}")
    middle, second, _ = rest.partition("{r}")
    if not (head.strip() and first and middle.strip() and second):
        raise ValueError(
            f"its command that puts things must name an object and then a receptacle: {in_quotes(command)}"
        )
    putting = _find(grammar, rf'"PutObject\.feedback"\s*:\s*\[\s*\{{\s*"rhs"\s*:\s*{_STRING}', "the answer to putting")
    arriving = _find(grammar, rf'"GotoLocation\.feedback"\s*:\s*\[\s*\{{\s*"rhs"\s*:\s*{_STRING}', "the arrival")
    return Dialect(
        "put" if head.startswith("put") else "move",
        (head, middle),
        _fields(putting, {"{o.name}": "{object}", "{r.name}": "{receptacle}"}),
        _fields(arriving.partition("#")[0].strip(), {"{lend.name}": "loc {location}", "{r.name}": "{receptacle}"}),
        re.search(r"action help\s*\{", grammar) is not None,
    )


def _find(grammar: str, pattern: str, what: str) -> str:
    found = re.search(pattern, grammar)
    if not found:
        raise ValueError(f"its grammar does not have {what}")
    return found[1]


def _fields(text: str, names: dict[str, str]) -> str:
    for theirs, ours in names.items():
        text = text.replace(theirs, ours)
    if left := set(re.findall(r"\{[^{}\n]*\}|[{}]", text)) - {"{object}", "{receptacle}", "{location}"}:
        raise ValueError(f"its grammar has an unknown field: {', '.join(sorted(left))}")
    return text


GAME_FILE, STATE_FILE, TRAJECTORY_FILE = "game.tw-pddl", "initial_state.pddl", "traj_data.json"
"""The files of a trial: a game, or the two files that a game can be made from."""


# ------------------------------------------------------------------ games

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


# ------------------------------------------------------------------ the data's splits

SPLIT_SIZES = {"valid_unseen": 134, "valid_seen": 140, "train": 3553}
"""The splits of ALFWorld's data and their numbers of games."""

DOWNLOAD_INSTRUCTIONS = (
    "run: pip install alfworld && alfworld-download; it stores the data in ~/.cache/alfworld or $ALFWORLD_DATA, where "
    "codeplan finds it; give any other folder with --data FOLDER, in Python with data=FOLDER"
)

_DEFAULT = Path("~/.cache/alfworld")
_TASK = re.compile(r"([a-z_]+)-[^-]+-[^-]*-[^-]*-(\d+)")
"""A task's folder: type, object, movable receptacle, receptacle, room number."""

_UNSEEN_ROOMS = {"10", "219", "308", "424"}
"""The rooms of valid_unseen. No other split has them."""


class ALFWorldData:
    """A folder of ALFWorld's data, read on demand and never written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def splits(self) -> dict[str, list[Path]]:
        """The folders of each split's trials, in order of their ids; the usual splits come first.

        Raises: UsageError if the folder does not exist or has no games.
        """
        if not self.folder.is_dir():
            raise UsageError(f"there is no folder {self.folder} with ALFWorld's data; {DOWNLOAD_INSTRUCTIONS}")
        found = {name: trials for name, folder in self._folders() if (trials := _playable(folder))}
        if not found:
            raise UsageError(
                f"there are no games of ALFWorld in {self.folder}; name a folder that contains json_2.1.1, "
                f"valid_unseen, or the tasks' folders; to get the data, {DOWNLOAD_INSTRUCTIONS}"
            )
        return {name: found[name] for name in sorted(found, key=lambda n: (*SPLIT_SIZES, n).index(n))}

    def tasks(self, split: str) -> list[Task]:
        """Return the games of a split that ALFWorld plays. A damaged game is among them, without its goal."""
        return [task for trial in self.splits.get(split, []) if (task := _task(trial, split))]

    def trial_folder(self, id: str) -> Path:
        """Return the folder of a task's trial, solvable or not. Raises: UsageError if there is none."""
        if not re.fullmatch(r"[^/\\\0]+/[^/\\\0]+", id) or ".." in id:
            raise self._unknown(id)
        for trial in (folder / id for _, folder in self._folders()):
            if (trial / GAME_FILE).exists() or ((trial / STATE_FILE).exists() and (trial / TRAJECTORY_FILE).exists()):
                return trial
        raise self._unknown(id)

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each damaged file, which names it. Reads every file."""
        for trials in self.splits.values():
            for trial in trials:
                try:
                    load_game(trial)
                except ValueError as e:
                    yield str(e)
        for _, folder in self._folders():
            for trial in _trials(folder):
                if not (trial / GAME_FILE).exists() and not (trial / STATE_FILE).exists():
                    has = (
                        f"only {TRAJECTORY_FILE}"
                        if (trial / TRAJECTORY_FILE).exists()
                        else "none of the files of a game"
                    )
                    yield f"the folder {trial} is half downloaded: it has {has}; run alfworld-download again"

    def notes(self) -> list[str]:
        """Return lines on the data: its folder, and how each split compares with the complete data."""
        lines = [f"data    {self.folder}"]
        for name in self.splits:
            there, whole = len(self.tasks(name)), SPLIT_SIZES.get(name)
            left = len(self.splits[name]) - there
            of = f" of the {whole:,} games of the complete data" if whole else " games"
            skipped = f"; {left:,} more are left out: they are not known to be solvable" if left else ""
            lines.append(f"{name}  {there:,}{of}{skipped}")
        return lines

    def _folders(self) -> Iterator[tuple[str, Path]]:
        """The splits' names and folders. If several releases have a split, the latest one with games counts."""
        if _holds_tasks(self.folder):
            yield _split_name(self.folder), self.folder
            return
        seen: set[str] = set()
        for holder in (self.folder, *sorted(self.folder.glob("json_*"), reverse=True)):
            for folder in sorted(holder.iterdir()) if holder.is_dir() else []:
                if folder.name not in seen and _holds_tasks(folder):
                    if any((trial / GAME_FILE).exists() for trial in _trials(folder)):
                        seen.add(folder.name)
                    yield folder.name, folder

    def _unknown(self, id: str) -> UsageError:
        example = next(iter(self.splits.values()))[0]
        return UsageError(
            f"there is no game {in_quotes(id, 200)} of ALFWorld in {self.folder}; an id names the folders of task "
            f"and trial, as in {_id(example)}"
        )


def find_data(data: str | None) -> ALFWorldData:
    """Return the data in the folder ``data``, otherwise in $ALFWORLD_DATA or in ALFWorld's default folder.

    Raises: UsageError, which says how to get the data, if no folder is named and the default folder is empty.
    """
    named = data or os.environ.get("ALFWORLD_DATA")
    if named:
        return ALFWorldData(Path(os.path.expandvars(named)).expanduser())
    default = _DEFAULT.expanduser()
    if not default.is_dir() or not any(default.iterdir()):
        raise UsageError(f"there is no data of ALFWorld here; {DOWNLOAD_INSTRUCTIONS}")
    return ALFWorldData(default)


# ------------------------------------------------------------------ folders


def _holds_tasks(folder: Path) -> bool:
    return folder.is_dir() and any(_TASK.fullmatch(entry.name) for entry in folder.iterdir())


def _split_name(folder: Path) -> str:
    """The split that a folder of tasks is: by its name, otherwise by its tasks' rooms."""
    name = folder.resolve().name
    if name in SPLIT_SIZES:
        return name
    rooms = {found[2] for entry in folder.iterdir() if (found := _TASK.fullmatch(entry.name))}
    return "valid_unseen" if rooms <= _UNSEEN_ROOMS else name


def _trials(folder: Path) -> Iterator[Path]:
    """The trials of a split whose task types ALFWorld plays."""
    for task in sorted(folder.iterdir()):
        found = _TASK.fullmatch(task.name)
        if found and found[1] in KINDS_BY_TYPE and "Sliced" not in task.name:
            yield from sorted(entry for entry in task.iterdir() if entry.is_dir() and "Sliced" not in entry.name)


def _playable(folder: Path) -> list[Path]:
    """The trials with a game file; if there are none, those with the two files that a game can be made from."""
    trials = list(_trials(folder))
    made = [trial for trial in trials if (trial / GAME_FILE).exists()]
    return made or [trial for trial in trials if (trial / STATE_FILE).exists() and (trial / TRAJECTORY_FILE).exists()]


def _id(trial: Path) -> str:
    return f"{trial.parent.name}/{trial.name}"


def _task(trial: Path, split: str) -> Task | None:
    """The task of a trial; None if ALFWorld does not play it."""
    found = _TASK.fullmatch(trial.parent.name)
    kind = KINDS_BY_TYPE[found[1]] if found else ""
    try:
        head = load_header(trial)
        solvable = head.solvable if (trial / GAME_FILE).exists() else _can_be_won(trial)
    except ValueError:
        return Task(_id(trial), "alfworld", kind, "", 0, split)  # reset reports the damage
    return Task(_id(trial), "alfworld", kind, head.goal_text, 0, split) if solvable else None


def _can_be_won(trial: Path) -> bool:
    try:
        return bool(find_walkthrough(load_game(trial)))
    except ValueError:
        return False
