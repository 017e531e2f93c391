"""Reads a PDDL goal as one of the forms that the household's rules know, and refuses any other form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from codeplan.envs.alfworld.pddl import Expression
from codeplan.envs.household.game import Condition, HouseholdGoal

Fact = tuple[str, ...]
"""A predicate and its arguments. Variables are renamed to ``?1``, ``?2`` and so on, unique in the goal."""

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
    kind, receptacle_kind = _type(facts, "objecttype", objects[0]), _type(facts, "receptacletype", receptacle)
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
    kind, lamp_kind = _type(facts, "objecttype", held), _type(facts, "objecttype", lamp)
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


def _type(facts: set[Fact], predicate: str, variable: str) -> str | None:
    """The single type that a variable must have, without the suffix ``type``; None if there is not exactly one."""
    found = [f[2] for f in facts if f[:2] == (predicate, variable) and len(f) == 3]
    return found[0].removesuffix("type") if len(found) == 1 and found[0].endswith("type") else None


def _format(tree: Expression) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_format, tree))})"
