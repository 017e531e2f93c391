"""Faults in a household that the robot does not cause: a receptacle closes, an object moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from codeplan.protocols import Environment
from codeplan.types import Observation, Task

if TYPE_CHECKING:
    from codeplan.envs.household.game import Game, HouseholdState
    from codeplan.testing.cases.case_run import PlanRun

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


def actions_at_closable(run: PlanRun, env: Environment) -> Iterator[int]:
    """Yield the actions that need an open receptacle, if it can be closed."""
    if isinstance(env, EditableHousehold):
        closable = {r.name for r in env.game(run.task).receptacles if r.openable}
        for i, event in enumerate(run.action_events):
            found = _TAKE.fullmatch(event.action) or _PUT.fullmatch(event.action)
            if found and found["receptacle"] in closable:
                yield i


def take_actions(run: PlanRun, env: Environment) -> Iterator[int]:
    """Yield the actions that take an object."""
    if isinstance(env, EditableHousehold):
        yield from (i for i, event in enumerate(run.action_events) if _TAKE.fullmatch(event.action))


def later_steps(run: PlanRun, env: Environment) -> Iterator[int]:
    """Yield the steps that the robot can be sent away before: all except the first."""
    if isinstance(env, EditableHousehold):
        yield from dict.fromkeys(run.steps[1:])


def walk_away(run: PlanRun, agent: Any) -> None:
    """Walk to another receptacle that the agent knows."""
    agent.goto(next(place for place in agent.receptacles if place != agent.location))


def fill_hands(run: PlanRun, agent: Any) -> None:
    """Pick up an object here that the plan does not want, if the hand is empty."""
    if agent.holding or not agent.location:
        return
    wanted = {found["object"] for event in run.action_events if (found := _TAKE.fullmatch(event.action))}
    for thing in re.findall(r"\ba ([a-z]+ \d+)", agent.goto(agent.location)):
        if thing not in wanted and agent.take(thing, agent.location).startswith("You pick up"):
            return


def close_receptacle(env: Environment, task: Task, action: str, before: Observation) -> Observation:
    """Close the action's receptacle, and then execute the action."""
    found = _TAKE.fullmatch(action) or _PUT.fullmatch(action)
    if found and isinstance(env, EditableHousehold):
        game, snapshot = env.game(task), env.snapshot()
        r = game.receptacle_indices.get(found["receptacle"])
        _change(env, snapshot, opened=snapshot.state.opened - {r})
    return env.step(action)


def move_object(env: Environment, task: Task, action: str, before: Observation) -> Observation:
    """Move the object to another receptacle before it is taken, and then execute the action."""
    found = _TAKE.fullmatch(action)
    if found and isinstance(env, EditableHousehold):
        game, snapshot = env.game(task), env.snapshot()
        thing, r = game.object_indices.get(found["object"]), game.receptacle_indices.get(found["receptacle"])
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
