"""Finds which actions can be done in a state by trying every action that names something near."""

from __future__ import annotations

from collections.abc import Iterator

from codeplan.envs.household.engine import TREATMENTS, try_action
from codeplan.envs.household.game import Game, HouseholdState


def admissible_actions(game: Game, state: HouseholdState) -> tuple[str, ...]:
    """Return every action that can be done in this state, sorted."""
    return tuple(sorted(a for a in set(_candidates(game, state)) if try_action(game, state, a) is not None))


def _candidates(game: Game, state: HouseholdState) -> Iterator[str]:
    """A superset of the admissible actions."""
    yield from ("look", "inventory", "help")
    held = None if state.holding is None else game.objects[state.holding].name
    for r in game.receptacles:
        yield f"go to {r.name}"
    for i in game.receptacles_at(state.location):
        yield from _candidates_at(game, state, i, held)
    if held is not None:
        yield f"examine {held}"
        yield from (f"slice {o.name} with {held}" for o in game.objects if "sliceable" in o.traits)


def _candidates_at(game: Game, state: HouseholdState, r: int, held: str | None) -> Iterator[str]:
    name = game.receptacles[r].name
    yield from (f"{verb} {name}" for verb in ("open", "close", "examine"))
    for o in state.contents[r]:
        yield f"take {game.objects[o].name} from {name}"
        yield f"use {game.objects[o].name}"
    if held is not None:
        prefix, separator = game.dialect.put_command
        yield f"{prefix}{held}{separator}{name}"
        yield from (f"{verb} {held} with {name}" for verb in TREATMENTS)
