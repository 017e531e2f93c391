"""A small household in which tests of the rules can state every answer."""

from __future__ import annotations

from codeplan.envs.household.engine import NOTHING_HAPPENS, try_action
from codeplan.envs.household.game import (
    PUT_DIALECT,
    Dialect,
    Game,
    HouseholdGoal,
    HouseholdState,
    Object,
    Receptacle,
    number_names,
)
from codeplan.envs.household.rooms import CAN_CONTAIN, CONTAINER_OBJECTS, OPENABLE, traits_of_kind

FURNITURE = (("countertop", 4), ("desk", 9), ("fridge", 1), ("microwave", 2), ("shelf", 9), ("sinkbasin", 3))
"""Kinds of receptacles and their locations: the desk and the shelf are reached from one."""

THINGS = (
    ("apple", "countertop"),
    ("apple", "fridge"),
    ("desklamp", "desk"),
    ("knife", "countertop"),
    ("mug", "desk"),
    ("mug", "desk"),
)


def house(goal: HouseholdGoal | None = None, dialect: Dialect = PUT_DIALECT) -> Game:
    """The agent stands at location 7, where there is no receptacle; the fridge and the microwave are closed."""
    furniture = [kind for kind, _ in FURNITURE]
    receptacles = tuple(
        Receptacle(name, kind, at, kind in OPENABLE)
        for name, (kind, at) in zip(number_names(furniture), FURNITURE, strict=True)
    )
    objects = tuple(
        Object(name, kind, traits_of_kind(kind), () if kind in CONTAINER_OBJECTS else None)
        for name, (kind, _) in zip(number_names(kind for kind, _ in THINGS), THINGS, strict=True)
    )
    contents = tuple(tuple(o for o, (_, home) in enumerate(THINGS) if home == kind) for kind in furniture)
    places = tuple(frozenset({dict(FURNITURE)[home]}) for _, home in THINGS)
    state = HouseholdState(7, contents, places)
    return Game(
        receptacles, objects, CAN_CONTAIN, goal or HouseholdGoal("mug", "shelf"), "put a mug in shelf.", state, dialect
    )


def after(game: Game, *actions: str) -> HouseholdState:
    """The state after some actions, all of which must be possible."""
    state = game.initial_state
    for action in actions:
        outcome = try_action(game, state, action)
        assert outcome is not None, f"{action!r} cannot be done"
        state = outcome[0]
    return state


def apply_action(game: Game, state: HouseholdState, action: str) -> tuple[HouseholdState, str]:
    """The state after an action and the environment's answer."""
    return try_action(game, state, action) or (state, NOTHING_HAPPENS)


def answer(game: Game, *actions: str) -> str:
    """The answer to the last action; the actions before it must be possible."""
    return apply_action(game, after(game, *actions[:-1]), actions[-1])[1]
