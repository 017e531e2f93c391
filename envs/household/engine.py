"""The rules of the household: an action's effect on the state, and its answer.

All functions are pure. The rules are those of ALFWorld's text engine, including its oddities.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from msgspec.structs import replace

from codeplan.envs.household import sentences as say
from codeplan.envs.household.game import Condition, Dialect, Game, HouseholdState
from codeplan.types import Value

ActionOutcome = tuple[HouseholdState, str] | None
"""The state after an action and the answer; None if the action cannot be done."""


class Treatment(Value, frozen=True):
    """A change that an appliance makes to an object: an object with ``trait`` gets ``condition``."""

    condition: Condition
    trait: str
    appliance: str


TREATMENTS: dict[str, Treatment] = {
    "clean": Treatment("clean", "cleanable", "sinkbasin"),
    "heat": Treatment("hot", "heatable", "microwave"),
    "cool": Treatment("cool", "coolable", "fridge"),
}
"""The treatments by verb."""

BLADES = ("knife", "butterknife")
"""Kinds of objects that slice other objects."""

_TRAIT_FOR = {t.condition: t.trait for t in TREATMENTS.values()}
_T = TypeVar("_T")


class ActionRule(Value, frozen=True):
    """The form and effect of an action: ``prefix X`` or ``prefix X separator Y``.

    ``argument_types`` has a letter for each argument: ``o`` for an object, ``r`` for a receptacle.
    """

    prefix: str
    separator: str
    argument_types: str
    apply: Callable[..., ActionOutcome]


def try_action(game: Game, state: HouseholdState, action: str) -> ActionOutcome:
    """Do one action, given by its exact text; surrounding white space does not matter."""
    action = action.strip()
    if action == "look":
        return state, say.describe_surroundings(game, state)
    if action == "inventory":
        return state, say.describe_inventory(game, state)
    if action == "help":
        return (state, say.HELP) if game.dialect.has_help else None
    for rule in rules_by_verb(game.dialect).get(action.partition(" ")[0], ()):
        arguments = _find_arguments(game, rule, action)
        if arguments is not None:
            return rule.apply(game, state, *arguments)
    return None


def is_goal_reached(game: Game, state: HouseholdState) -> bool:
    """Return whether the state meets the game's goal."""
    if game.goal.lamp is not None:
        return _holds_target(game, state) and _lamp_shines_here(game, state, game.goal.lamp)
    return any(
        sum(_meets_goal(game, state, o) for o in contents) >= game.goal.count
        for r, contents in zip(game.receptacles, state.contents, strict=True)
        if r.kind == game.goal.receptacle
    )


# ------------------------------------------------------------------ the goal


def _meets_goal(game: Game, state: HouseholdState, o: int) -> bool:
    condition, it = game.goal.condition, game.objects[o]
    if it.kind != game.goal.object:
        return False
    return condition is None or (_TRAIT_FOR[condition] in it.traits and o in _objects_in(state, condition))


def _objects_in(state: HouseholdState, condition: Condition) -> frozenset[int]:
    return {"clean": state.clean, "hot": state.hot, "cool": state.cool}[condition]


def _holds_target(game: Game, state: HouseholdState) -> bool:
    return state.holding is not None and game.objects[state.holding].kind == game.goal.object


def _lamp_shines_here(game: Game, state: HouseholdState, lamp: str) -> bool:
    here = (o for r in game.receptacles_at(state.location) for o in state.contents[r])
    return any(o in state.lit and game.objects[o].kind == lamp and "toggleable" in game.objects[o].traits for o in here)


# ------------------------------------------------------------------ the actions


def _find_arguments(game: Game, rule: ActionRule, action: str) -> list[int] | None:
    """The indices of the things that an action names; None if it does not have the rule's form or names an unknown
    thing.
    """
    if not action.startswith(rule.prefix):
        return None
    rest = action[len(rule.prefix) :]
    first, separator, second = rest.partition(rule.separator) if rule.separator else (rest, "", "")
    if separator != rule.separator:
        return None
    tables = (game.object_indices if letter == "o" else game.receptacle_indices for letter in rule.argument_types)
    found_or_none = [table.get(name) for table, name in zip(tables, (first, second), strict=False)]
    known = [index for index in found_or_none if index is not None]
    return known if len(known) == len(found_or_none) else None


@cache
def rules_by_verb(dialect: Dialect) -> dict[str, tuple[ActionRule, ...]]:
    """Return the rules of all actions that have arguments, by the action's first word."""
    head, middle = dialect.put_command
    every = (
        ActionRule("go to ", "", "r", _go),
        ActionRule("open ", "", "r", _open),
        ActionRule("close ", "", "r", _close),
        ActionRule("take ", " from ", "or", _take),
        ActionRule(head, middle, "or", _put),
        ActionRule("clean ", " with ", "or", _clean),
        ActionRule("heat ", " with ", "or", _heat),
        ActionRule("cool ", " with ", "or", _cool),
        ActionRule("use ", "", "o", _use),
        ActionRule("slice ", " with ", "oo", _slice),
        ActionRule("examine ", "", "r", _examine_receptacle),
        ActionRule("examine ", "", "o", _examine_object),
    )
    words = dict.fromkeys(rule.prefix.split()[0] for rule in every)
    return {word: tuple(rule for rule in every if rule.prefix.startswith(word + " ")) for word in words}


def _go(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    there = game.receptacles[r]
    if there.location == state.location:
        return None
    after = replace(state, location=there.location)
    arrival = game.dialect.arrival_sentence.format(location=there.location, receptacle=there.name)
    return after, f"{arrival} {say.describe_receptacle(game, after, r)}"


def _open(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    if not _at(game, state, r) or not game.receptacles[r].openable or r in state.opened:
        return None
    after = replace(state, opened=state.opened | {r})
    return after, f"You open the {game.receptacles[r].name}. {say.describe_receptacle(game, after, r)}"


def _close(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    if not _at(game, state, r) or not game.receptacles[r].openable or r not in state.opened:
        return None
    return replace(state, opened=state.opened - {r}), f"You close the {game.receptacles[r].name}."


def _take(game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    there = _at(game, state, r) and _reaches_into(game, state, r) and o in state.contents[r]
    if not there or state.holding is not None or "pickupable" not in game.objects[o].traits:
        return None
    after = replace(
        state,
        holding=o,
        contents=_replace_at(state.contents, r, tuple(other for other in state.contents[r] if other != o)),
        places=_replace_at(state.places, o, state.places[o] - {state.location}),
        removed=state.removed | {(o, r)},
    )
    return after, f"You pick up the {game.objects[o].name} from the {game.receptacles[r].name}."


def _put(game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    if state.holding != o or not _at(game, state, r) or not _reaches_into(game, state, r):
        return None
    if (game.receptacles[r].kind, game.objects[o].kind) not in game.can_contain:
        return None
    after = replace(
        state,
        holding=None,
        contents=_replace_at(state.contents, r, tuple(sorted({*state.contents[r], o}))),
        places=_replace_at(state.places, o, state.places[o] | {state.location}),
        removed=state.removed - {(o, r)},
    )
    return after, game.dialect.put_answer.format(object=game.objects[o].name, receptacle=game.receptacles[r].name)


def _clean(game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    return _treat(game, state, "clean", o, r, lambda: replace(state, clean=state.clean | {o}))


def _heat(game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    return _treat(game, state, "heat", o, r, lambda: replace(state, hot=state.hot | {o}, cool=state.cool - {o}))


def _cool(game: Game, state: HouseholdState, o: int, r: int) -> ActionOutcome:
    return _treat(game, state, "cool", o, r, lambda: replace(state, cool=state.cool | {o}, hot=state.hot - {o}))


def _treat(
    game: Game, state: HouseholdState, verb: str, o: int, r: int, change: Callable[[], HouseholdState]
) -> ActionOutcome:
    """Treat an object. The appliance works with its door open or closed."""
    treatment = TREATMENTS[verb]
    fit = treatment.trait in game.objects[o].traits and game.receptacles[r].kind == treatment.appliance
    if not fit or state.holding != o or not _at(game, state, r):
        return None
    return change(), f"You {verb} the {game.objects[o].name} using the {game.receptacles[r].name}."


def _use(game: Game, state: HouseholdState, o: int) -> ActionOutcome:
    """Switch a lamp on. It stays on; using it again gives the same answer."""
    here = any(o in state.contents[r] for r in game.receptacles_at(state.location))
    if not here or "toggleable" not in game.objects[o].traits:
        return None
    return replace(state, lit=state.lit | {o}), f"You turn on the {game.objects[o].name}."


def _slice(game: Game, state: HouseholdState, o: int, knife: int) -> ActionOutcome:
    cut, blade = game.objects[o], game.objects[knife]
    if state.holding != knife or blade.kind not in BLADES or "sliceable" not in cut.traits:
        return None
    if state.location not in state.places[o]:
        return None
    return replace(state, sliced=state.sliced | {o}), f"You sliced the {cut.name} with the {blade.name}."


def _examine_receptacle(game: Game, state: HouseholdState, r: int) -> ActionOutcome:
    return (state, say.describe_receptacle(game, state, r)) if _at(game, state, r) else None


def _examine_object(game: Game, state: HouseholdState, o: int) -> ActionOutcome:
    return (state, say.describe_object(game, state, o)) if state.holding == o else None


def _at(game: Game, state: HouseholdState, r: int) -> bool:
    return game.receptacles[r].location == state.location


def _reaches_into(game: Game, state: HouseholdState, r: int) -> bool:
    return not game.receptacles[r].openable or r in state.opened


def _replace_at(values: tuple[_T, ...], index: int, value: _T) -> tuple[_T, ...]:
    return (*values[:index], value, *values[index + 1 :])
