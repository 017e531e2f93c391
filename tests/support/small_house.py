"""A small household, made by hand, to say exactly what the rules do."""

from __future__ import annotations

from codeplan.envs.household.engine import act
from codeplan.envs.household.facts import CAN_CONTAIN, HOLDERS, OPENABLE, traits
from codeplan.envs.household.game import PUT, Dialect, Game, Goal, Object, Receptacle, State, numbered
from codeplan.envs.household.text import NOTHING_HAPPENS

FURNITURE = (
    ("countertop", 4),
    ("desk", 9),
    ("fridge", 1),
    ("microwave", 2),
    ("shelf", 9),
    ("sinkbasin", 3),
)
"""Kinds of receptacles and their locations: the desk and the shelf are reached from one."""

THINGS = (
    ("apple", "countertop"),
    ("apple", "fridge"),
    ("desklamp", "desk"),
    ("knife", "countertop"),
    ("mug", "desk"),
    ("mug", "desk"),
)


def house(goal: Goal | None = None, dialect: Dialect = PUT) -> Game:
    """The agent stands at location 7, before nothing; door of fridge and microwave closed."""
    furniture = [kind for kind, _ in FURNITURE]
    receptacles = tuple(
        Receptacle(name, kind, at, kind in OPENABLE)
        for name, (kind, at) in zip(numbered(furniture), FURNITURE, strict=True)
    )
    objects = tuple(
        Object(name, kind, traits(kind), () if kind in HOLDERS else None)
        for name, (kind, _) in zip(numbered(kind for kind, _ in THINGS), THINGS, strict=True)
    )
    contents = tuple(tuple(o for o, (_, home) in enumerate(THINGS) if home == kind) for kind in furniture)
    places = tuple(frozenset({dict(FURNITURE)[home]}) for _, home in THINGS)
    state = State(7, contents, places)
    return Game(receptacles, objects, CAN_CONTAIN, goal or Goal("mug", "shelf"), "put a mug in shelf.", state, dialect)


def after(game: Game, *actions: str) -> State:
    """The state after some actions, each of which must be possible."""
    state = game.start
    for action in actions:
        state, answer = act(game, state, action)
        assert answer != NOTHING_HAPPENS, f"{action!r} cannot be done"
    return state


def answer(game: Game, *actions: str) -> str:
    """What the last of some actions is answered; those before must be possible."""
    return act(game, after(game, *actions[:-1]), actions[-1])[1]
