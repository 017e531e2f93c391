"""Faults for tests of plans that the robot does not cause: a receptacle closes, an object moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from codeplan.types import Observation, Task

if TYPE_CHECKING:
    from codeplan.envs.household.game import Game, HouseholdState

_TAKE = re.compile(r"take (?P<object>.{1,80}) from (?P<receptacle>.{1,80})")
_PUT = re.compile(r"(?:put|move) (?P<object>.{1,80}) (?:in/on|to) (?P<receptacle>.{1,80})")


@runtime_checkable
class EditableHousehold(Protocol):
    """A household environment that can be restored and changed from outside."""

    def game(self, task: Task) -> Game:
        """Return everything about a task's household."""
        ...

    def snapshot(self) -> Any:
        """Return the episode's state for ``restore``."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Continue from a snapshot of the same task."""
        ...

    def step(self, action: str) -> Observation:
        """Do one action."""
        ...


class HouseholdFault(NamedTuple):
    """One kind of fault: before an action (``act``), or between two steps (``between_steps``).

    ``places`` yields the indices of the actions at which it can happen in a run with these actions, and ``act`` makes
    it happen and does the action. ``between_steps`` acts with the agent, given the actions of the run without the
    fault; it can happen before each step except the first.
    """

    name: str
    description: str
    places: Callable[[EditableHousehold, Task, Sequence[str]], Iterator[int]] | None = None
    act: Callable[[EditableHousehold, Task, str], Observation] | None = None
    between_steps: Callable[[Any, Sequence[str]], None] | None = None


def _actions_at_closable(env: EditableHousehold, task: Task, actions: Sequence[str]) -> Iterator[int]:
    """Yield the actions that need an open receptacle, if it can be closed."""
    closable = {r.name for r in env.game(task).receptacles if r.openable}
    for i, action in enumerate(actions):
        moved = _TAKE.fullmatch(action) or _PUT.fullmatch(action)
        if moved and moved["receptacle"] in closable:
            yield i


def _take_actions(env: EditableHousehold, task: Task, actions: Sequence[str]) -> Iterator[int]:
    """Yield the actions that take an object."""
    yield from (i for i, action in enumerate(actions) if _TAKE.fullmatch(action))


def _walk_away(agent: Any, actions: Sequence[str]) -> None:
    """Walk to another receptacle that the agent knows."""
    agent.goto(next(place for place in agent.receptacles if place != agent.location))


def _fill_hands(agent: Any, actions: Sequence[str]) -> None:
    """Pick up an object here that the plan does not want, if the hand is empty."""
    if agent.holding or not agent.location:
        return
    wanted = {taken["object"] for action in actions if (taken := _TAKE.fullmatch(action))}
    for thing in re.findall(r"\ba ([a-z]+ \d+)", agent.goto(agent.location)):
        if thing not in wanted and agent.take(thing, agent.location).startswith("You pick up"):
            return


def _close_receptacle(env: EditableHousehold, task: Task, action: str) -> Observation:
    """Close the action's receptacle, and then execute the action."""
    if moved := _TAKE.fullmatch(action) or _PUT.fullmatch(action):
        game, snapshot = env.game(task), env.snapshot()
        r = game.receptacle_indices.get(moved["receptacle"])
        _change(env, snapshot, opened=snapshot.state.opened - {r})
    return env.step(action)


def _move_object(env: EditableHousehold, task: Task, action: str) -> Observation:
    """Move the object to another receptacle before it is taken, and then execute the action."""
    if taken := _TAKE.fullmatch(action):
        game, snapshot = env.game(task), env.snapshot()
        thing, r = game.object_indices.get(taken["object"]), game.receptacle_indices.get(taken["receptacle"])
        if thing is not None and r is not None and thing in snapshot.state.contents[r]:
            _change(env, snapshot, **_changed_fields(game, snapshot.state, thing, r))
    return env.step(action)


def _changed_fields(game: Game, state: HouseholdState, thing: int, source: int) -> dict[str, Any]:
    """Return the changed fields of a state in which a thing moves to a receptacle elsewhere."""
    here = game.receptacles[source].location
    target = next(r for r, place in enumerate(game.receptacles) if place.location != here)
    contents = [tuple(o for o in inside if o != thing) for inside in state.contents]
    contents[target] = tuple(sorted((*contents[target], thing)))
    places = list(state.places)
    places[thing] = frozenset({game.receptacles[target].location})
    return {"contents": tuple(contents), "places": tuple(places)}


def _change(env: EditableHousehold, snapshot: Any, **parts: Any) -> None:
    state = msgspec.structs.replace(snapshot.state, **parts)
    env.restore(msgspec.structs.replace(snapshot, state=state))


HOUSEHOLD_FAULTS = (
    HouseholdFault("closed", "a receptacle closes before an action", _actions_at_closable, _close_receptacle),
    HouseholdFault("moved", "an object moves before it is taken", _take_actions, _move_object),
    HouseholdFault("elsewhere", "the robot walks elsewhere before a resumption", between_steps=_walk_away),
    HouseholdFault("hands-full", "the robot picks up something else before a resumption", between_steps=_fill_hands),
)
"""All faults of households."""
